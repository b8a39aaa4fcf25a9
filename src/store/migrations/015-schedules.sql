-- When a worker will sync each connection, as it has told the queues: those may be away, and are slow to ask.
create table schedules (
  connection text primary key,
  pattern text not null,
  time_zone text not null
);
