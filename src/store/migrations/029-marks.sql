-- Which state this is, made once: another database is another keeper of the tables that it keeps.
create table keeper (
  is_one boolean primary key default true check (is_one),
  id uuid not null default gen_random_uuid()
);
-- The marks that runs have put into a table, or were about to, and those of others that were accepted: the last 50.
create table marks (
  connection text not null,
  run_id bigint not null,
  nonce text not null,
  -- Whether it is known to have arrived.
  written boolean not null default false,
  primary key (connection, nonce)
);
create index marks_of_run on marks (run_id);
-- What was found in the table: null when nothing was looked for, empty when there was none.
alter table runs add column mark text;
