-- A row without id that stands apart from the table: no lead is made of it, but it may be one that has lost its id.
alter table staged_rows add column apart boolean not null default false;
