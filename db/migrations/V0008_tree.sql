-- The tree over the log (RFC 6962), as tiles (C2SP tlog-tiles), and what was signed of it.
--
-- The tree is made of the log and could be made again; what was signed can't be taken back, which
-- is why the service may add to these tables and not change them.
-- Locks: none that matter, the tables are new.

-- The keys that the log is or was signed with, in their order; the last one is in use. Another one
-- begins where an operator had to begin anew, since what the one before had signed was lost.
create table log_origins (
  origin integer not null,
  -- The public key, in the form name+id+key; its name is the origin that checkpoints tell.
  verifier_key text not null,
  begun_at timestamptz not null,
  constraint log_origins_pkey primary key (origin),
  constraint log_origins_key_is_unique unique (verifier_key)
);

-- Full tiles alone: they never change.
create table tree_tiles (
  level smallint not null,
  index bigint not null,
  -- 256 hashes of 32 bytes.
  hashes bytea not null,
  constraint tree_tiles_pkey primary key (level, index),
  constraint tree_tiles_are_full check (octet_length(hashes) = 8192)
);
-- Hashes can't be made smaller.
alter table tree_tiles alter column hashes set storage external;

-- The tiles that are not full yet, one for each level: the right edge of the tree.
create table tree_edge (
  level smallint not null,
  hashes bytea not null,
  constraint tree_edge_pkey primary key (level),
  constraint tree_edge_is_not_full check (octet_length(hashes) < 8192)
);
alter table tree_edge alter column hashes set storage external;

-- All that was signed.
create table checkpoints (
  origin integer not null,
  -- How many events it speaks for: those at the positions up to this one.
  size bigint not null,
  root bytea not null,
  -- The signed note, as it is published.
  note text not null,
  signed_at timestamptz not null,
  constraint checkpoints_pkey primary key (origin, size),
  constraint checkpoints_origin_exists foreign key (origin) references log_origins
);

-- The one row whose lock says who works on the tree.
create table notary (
  singleton boolean not null default true,
  -- How many leaves tiles and edge have.
  size bigint not null default 0,
  constraint notary_pkey primary key (singleton),
  constraint notary_has_one_row check (singleton)
) with (fillfactor = 50);
insert into notary default values;

grant select, insert on log_origins, tree_tiles, checkpoints to jejak_service;
grant select, insert, update on tree_edge to jejak_service;
grant select, update on notary to jejak_service;
