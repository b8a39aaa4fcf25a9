-- What a scan found unmoved once and need not look up again: a stretch of the leads or rows of a side, by what it shows and
-- under which settings. As long as none of its pairs is in moved, whoever shows the same shows these baselines.
create table if not exists seals (
  id bigint generated always as identity primary key,
  connection text not null,
  side text not null,
  digest bytea not null,
  -- The pairs that show their baselines.
  pair_ids bigint[] not null,
  -- The places of the other records in the stretch, from 0 on: they are looked at each time.
  others integer[] not null,
  unique (connection, side, digest)
);

-- Pairs that have changed since seals were made, in what those of a side speak of.
create table if not exists moved (
  connection text not null,
  side text not null,
  pair_id bigint not null,
  primary key (connection, side, pair_id)
);

-- A trigger, so that whatever changes a pair breaks its seals.
create or replace function note_moved() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' then
    insert into leadsync.moved (connection, side, pair_id)
    select o.connection, side, o.id from old_pairs o cross join (values ('lead'), ('row')) sides (side)
    where exists (select from leadsync.seals s where s.connection = o.connection and s.side = sides.side)
    on conflict do nothing;
  else
    insert into leadsync.moved (connection, side, pair_id)
    select n.connection, side, n.id from new_pairs n join old_pairs o on o.id = n.id
    cross join (values ('lead'), ('row')) sides (side)
    where ((o.base, o.lead_deleted_at, o.lead_absences, o.row_absences)
        is distinct from (n.base, n.lead_deleted_at, n.lead_absences, n.row_absences)
        or side = 'row' and o.row_number is distinct from n.row_number)
      and exists (select from leadsync.seals s where s.connection = n.connection and s.side = sides.side)
    on conflict do nothing;
  end if;
  return null;
end
$$;

create or replace trigger note_moved after update on pairs
referencing old table as old_pairs new table as new_pairs for each statement execute function note_moved();
create or replace trigger note_deleted after delete on pairs
referencing old table as old_pairs for each statement execute function note_moved();

-- The table of a connection as it was read last: what it showed, by what digest it is known again.
create table if not exists table_reads (
  connection text primary key,
  digest text not null,
  shown json not null,
  -- The seals of all rows but the others in it.
  seal_ids bigint[] not null
);
