-- The new leads of a scan, many in one row, of which nothing else is known. With a round: what the plan makes new rows of, a line
-- for each lead, and of those that are settled the history.
create table if not exists scan_pages (
  id bigint generated always as identity primary key,
  run_id bigint not null,
  -- The round that makes rows of them; null: it is not planned yet.
  round int,
  -- How many there are; lines that have an action of their own since count, too.
  leads int not null,
  -- [[lead id, {field: value}]…]; null instead of a line that has an action of its own.
  body text not null,
  -- So many of the first are written; of so many a write was begun.
  settled int not null default 0,
  begun int not null default 0,
  -- So many of those that are settled have an action of their own.
  taken int not null default 0,
  done_at timestamptz,
  -- The rows were read again as they were written.
  seen boolean not null default false
);
create index if not exists scan_pages_of_run on scan_pages (run_id, id);

-- Their ids come after those of all actions, in the order of the pages, and are exact as numbers of 53 bits.
create or replace view new_row_lines as
  select 4503599627370496 + p.id * 1048576 + e.nth as id, p.run_id, p.round, e.line->>0 as lead_id,
    (select json_object_agg(c.key, json_build_object('from', null, 'to', c.value)) from json_each(e.line->1) c) as changes,
    case when e.nth <= p.settled then 'done' else 'planned' end as state, case when e.nth <= p.settled then p.done_at end as done_at,
    (e.nth <= p.begun)::int as tries, p.id as page, p.body, p.begun > p.settled as is_begun, p.leads > p.settled as is_open
  from scan_pages p cross join lateral json_array_elements(p.body::json) with ordinality e (line, nth)
  where p.round is not null and json_typeof(e.line) = 'array';

create or replace view new_row_counts as
  select run_id, round, 'done' as state, settled - taken as count, seen from scan_pages where round is not null and settled > taken
  union all
  select run_id, round, 'planned', leads - settled, false from scan_pages where round is not null and leads > settled;
