-- Who changed a value of the table, as its place told when a run first met it in a conflict; the last one of each field.
create table value_authors (
  connection text not null,
  lead_id text not null,
  field text not null,
  value_hash bigint not null,
  -- null of jsonb: the place does not know.
  author jsonb not null,
  seen_at timestamptz not null default now(),
  primary key (connection, lead_id, field)
);

-- Of the row's value, where the line is the end of a conflict.
alter table history add column author jsonb;
