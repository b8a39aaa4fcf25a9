-- What is being written into a table by row number, and what stood there: kept until somebody has looked where it arrived.
create table unsettled_writes (
  id bigint generated always as identity primary key,
  connection text not null,
  note bytea not null
);
create index unsettled_writes_of on unsettled_writes (connection);
