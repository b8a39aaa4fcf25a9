-- After which run, and by which rules, the reminders of a connection were planned last: without another nothing has changed.
create table if not exists planned (
  connection text primary key,
  seen text not null
);
-- Leads that are to be planned again all the same.
create index if not exists follow_ups_unseen on follow_ups (connection) where seen = '';

-- When a worker last had the connection in its configuration.
alter table schedules add column if not exists noted_at timestamptz not null default now();
