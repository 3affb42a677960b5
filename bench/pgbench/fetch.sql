-- One fetch: the same join by token as the service's, one statement for one request.
\set n random(100000000000000001, 100000000000000000 + :users)
select s.session_id, s.expires_at, s.last_used_at < statement_timestamp() - interval '1 hour',
       u.user_id, u.version, u.access_version, u.document, u.created_at, u.updated_at
  from sessions s
  join current_users u on u.user_id = s.user_id
 where s.token_sha256 = sha256(('jjs_AAAAAAAAAAAAAAAAAAAAAAAAA' || :n)::bytea)
   and s.expires_at > statement_timestamp()
   and s.last_used_at > statement_timestamp() - interval '30 days';
