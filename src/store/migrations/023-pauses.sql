-- Connections that a person has stopped until `leadsync resume`.
create table pauses (
  connection text primary key,
  since timestamptz not null default now()
);
-- A service is asked again after a day, however long it asked to wait.
update throttles set not_before = least(not_before, now() + interval '1 day');
