-- What an undo took a row or a lead from (lead_id: empty for a row without id) and what it showed then: none is made of it
-- again until it shows something else, also when a scan misses it or a column. cells null: known by its key alone.
create table undone (
  connection text not null,
  lead_id text not null,
  row_key text not null,
  cells jsonb,
  -- Complete scans of different runs, one after the other, in which it was not seen as it was.
  missed integer not null default 0,
  last_run bigint,
  primary key (connection, lead_id, row_key)
);
insert into undone (connection, lead_id, row_key)
select distinct connection, lead_id, split_part(row_key, '#', 1) from held
where code in ('row.undone', 'lead.undone') and resolution is null;
