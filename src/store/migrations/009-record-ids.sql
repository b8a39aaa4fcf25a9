-- The row of a CRM is named by its record id, which may be above 2^31.
alter table staged_rows alter column row_number type bigint;
alter table actions alter column row_number type bigint;
alter table held alter column row_number type bigint;
alter table approvals alter column row_number type bigint;
alter table pairs alter column row_number type bigint;
