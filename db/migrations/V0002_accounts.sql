-- What stands beside the log: the current-user read model, and the secrets and claims that must
-- never be part of an immutable record. Each is changed in the transaction of its event.
-- Locks: none that matter, the tables are new.

-- The inline projection: the state commands decide on and fetches answer with. Rows are changed in
-- place within their page (HOT), so pages keep room.
create table current_users (
  user_id uuid not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  -- Heads of the two streams.
  version integer not null,
  access_version integer not null,
  -- 1 active, 2 suspended, 3 erased.
  status smallint not null,
  -- The answer of a fetch, ready-made, but for version and times.
  document bytea not null,
  constraint current_users_pkey primary key (user_id)
) with (fillfactor = 70);

-- The present password of a user, and nothing of any former one.
create table credentials (
  user_id uuid not null,
  -- Argon2id, as a PHC string.
  password_hash text not null,
  -- SHA-256 of that string, which the log holds too.
  commitment bytea not null,
  changed_at timestamptz not null,
  constraint credentials_pkey primary key (user_id)
);

create table sessions (
  session_id uuid not null,
  user_id uuid not null,
  token_sha256 bytea not null,
  created_at timestamptz not null,
  last_used_at timestamptz not null,
  -- The end that no use postpones.
  expires_at timestamptz not null,
  address text,
  agent text,
  constraint sessions_pkey primary key (session_id),
  constraint sessions_token_is_unique unique (token_sha256)
) with (fillfactor = 90);
create index sessions_by_user on sessions (user_id, session_id);

-- One account for each address, by its normalised form.
create table email_claims (
  email text not null,
  user_id uuid not null,
  constraint email_claims_pkey primary key (email)
);

-- Answers to requests that carried an Idempotency-Key, sealed under that key: without it they
-- can't be read.
create table command_receipts (
  receipt_key bytea not null,
  request_sha256 bytea not null,
  answer bytea not null,
  created_at timestamptz not null,
  constraint command_receipts_pkey primary key (receipt_key)
);
create index command_receipts_by_age on command_receipts (created_at);
