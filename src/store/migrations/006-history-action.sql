-- A run that tries again in another round may write to a field of a lead twice: each write has a line of its own.
alter table history add column action_id bigint;
