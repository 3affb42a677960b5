-- Keys of operators and their programs. A key is shown once; here is its SHA-256.
-- Locks: none that matter, the table is new.

create table api_keys (
  key_id uuid not null,
  name text not null,
  secret_sha256 bytea not null,
  scopes text[] not null,
  created_at timestamptz not null default now(),
  expires_at timestamptz,
  revoked_at timestamptz,
  -- To the minute.
  last_used_at timestamptz,
  constraint api_keys_pkey primary key (key_id),
  constraint api_keys_secret_is_unique unique (secret_sha256)
) with (fillfactor = 50);

-- The service checks keys and notes their use; keys are made and revoked by the owner.
grant select on api_keys to jejak_service;
grant update (last_used_at) on api_keys to jejak_service;
