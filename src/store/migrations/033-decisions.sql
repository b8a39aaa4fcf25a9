-- What people have decided, and when: on what is held (choice: lead or target; field empty: the whole record) and on matches
-- (choice: accepted or rejected), with both values as they were seen. Kept as long as the history.
create table if not exists decisions (
  id bigint generated always as identity primary key,
  connection text not null,
  -- Empty for a row without id.
  lead_id text not null,
  field text not null,
  choice text not null,
  lead_value jsonb,
  row_value jsonb,
  -- The name of a user of the command line, or the status page, which knows no names.
  decided_by text not null,
  at timestamptz not null default now(),
  held_id bigint,
  match_id bigint
);
create index if not exists decisions_of_lead on decisions (connection, lead_id);
create index if not exists decisions_of_held on decisions (held_id);
create index if not exists decisions_of_match on decisions (match_id);
