-- A scan keeps whole records only of what moved since both sides last agreed; of all other pairs, that they were met.
alter table pairs add column id bigint generated always as identity;

-- The pairs that the leads or the rows of a scan belong to, each once.
create table met_pairs (
  run_id bigint not null,
  side text not null check (side in ('lead', 'row')),
  pair_ids bigint[] not null
);
create index met_pairs_by_run on met_pairs (run_id, side);

-- The pairs of which a scan did not show the lead, the row, or both.
create table missed_pairs (
  run_id bigint not null,
  lead_id text not null,
  lead boolean not null,
  row boolean not null,
  primary key (run_id, lead_id)
);

-- Null: as in the baseline; the row only stands elsewhere, or its status says something.
alter table staged_rows alter column cells drop not null;

-- What both sides show in the scan of a run, until its writes move the baselines.
create view scanned_leads as
  select run_id, lead_id, cells from staged_leads
  union all
  select r.id, p.lead_id, p.base from runs r join pairs p on p.connection = r.connection
  where not exists (select from staged_leads where run_id = r.id and lead_id = p.lead_id)
    and not exists (select from missed_pairs where run_id = r.id and lead_id = p.lead_id and lead);

create view scanned_rows as
  select s.run_id, s.lead_id, coalesce(s.cells, p.base) as cells, s.row_number from staged_rows s
  join runs r on r.id = s.run_id left join pairs p on p.connection = r.connection and p.lead_id = s.lead_id
  where not s.duplicate
  union all
  select r.id, p.lead_id, p.base, p.row_number from runs r join pairs p on p.connection = r.connection
  where not exists (select from staged_rows where run_id = r.id and lead_id = p.lead_id and not duplicate)
    and not exists (select from missed_pairs where run_id = r.id and lead_id = p.lead_id and row);

-- Of a scan under way it is not known what it has met: it begins anew.
delete from staged_leads using runs where runs.id = run_id and phase in ('pull', 'read', 'plan');
delete from staged_rows using runs where runs.id = run_id and phase in ('pull', 'read', 'plan');
delete from scan_cursors using runs where runs.id = run_id and phase in ('pull', 'read', 'plan');
update runs set phase = 'pull', cursor = null, pulled = 0, pulled_bytes = 0, scan_started_at = now(), scan_torn = false,
  scan_restarted = false where finished_at is null and phase in ('pull', 'read', 'plan');
