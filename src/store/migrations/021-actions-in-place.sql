-- An action is written again when it is settled. Postgres does that in its place, without a look at any index, where there
-- is room beside it and no index tells of what changes.
alter table actions set (fillfactor = 50);
drop index actions_to_do;
drop index actions_by_precondition;
create index actions_by_precondition on actions (precondition) where kind = 'create-lead';
-- Actions are deleted with their run, and none is added to a run that is over: to look up the run of each is a fourth of
-- what storing it costs.
alter table actions drop constraint actions_run_id_fkey;
