-- Rows and leads that may be one, as the last sync found them, and what people have decided on them. Row and lead are known
-- again by what they show in the fields that they are recognised by (their marks), the row first by all that it shows
-- (row_key). lead_mark null: whatever the lead shows. state: proposed, ambiguous, accepted, rejected, undone.
create table matches (
  id bigint generated always as identity primary key,
  connection text not null,
  lead_id text not null,
  row_key text not null,
  lead_mark text,
  row_mark text not null,
  row_number bigint,
  lead jsonb not null,
  "row" jsonb not null,
  score double precision not null,
  why text not null,
  state text not null,
  -- The last sync that looked found both as they are here.
  current boolean not null default true,
  seen_at timestamptz not null default now(),
  unique (connection, lead_id, row_key)
);
