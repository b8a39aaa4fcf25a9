-- Where a connection keeps its leads in step, or did: a file, a tab, a portal, a table.
create table places (
  id uuid primary key default gen_random_uuid(),
  connection text not null,
  -- What tells it from all others, whatever it is called.
  identity text not null,
  -- As people call it.
  address text not null,
  -- Whose leads are there.
  service text,
  -- The one whose baselines have the connection's own name as their key; those of a former one have NAME#ID.
  is_current boolean not null default false,
  seen_at timestamptz not null default now(),
  -- When it took another's place, or was left for another. Null: neither.
  switched_at timestamptz,
  unique (connection, identity)
);
create unique index places_current on places (connection) where is_current;

-- The place that a run has found; the key of its baselines, null: the name of its connection.
alter table runs add column place uuid, add column baseline text;

create or replace view scanned_leads as
  select run_id, lead_id, cells from staged_leads
  union all
  select r.id, p.lead_id, p.base from runs r join pairs p on p.connection = coalesce(r.baseline, r.connection)
  where not exists (select from staged_leads where run_id = r.id and lead_id = p.lead_id)
    and not exists (select from missed_pairs where run_id = r.id and lead_id = p.lead_id and lead);

create or replace view scanned_rows as
  select s.run_id, s.lead_id, coalesce(s.cells, p.base) as cells, s.row_number from staged_rows s
  join runs r on r.id = s.run_id
  left join pairs p on p.connection = coalesce(r.baseline, r.connection) and p.lead_id = s.lead_id
  where not s.duplicate
  union all
  select r.id, p.lead_id, p.base, p.row_number from runs r
  join pairs p on p.connection = coalesce(r.baseline, r.connection)
  where not exists (select from staged_rows where run_id = r.id and lead_id = p.lead_id and not duplicate)
    and not exists (select from missed_pairs where run_id = r.id and lead_id = p.lead_id and row);
