-- In which column of the target each field was kept when it was last synced.
create table mapped_columns (
  connection text not null,
  field text not null,
  column_name text not null,
  primary key (connection, field)
);
