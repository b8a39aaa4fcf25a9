-- What the status column shows; null when the table has none.
alter table staged_rows add column status text;
