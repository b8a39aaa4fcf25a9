-- With the state in it Postgres took it for the way to a few actions, of which a large run has all.
drop index actions_by_run;
create index actions_by_run on actions (run_id, round, id);
drop index actions_to_do;
create index actions_to_do on actions (run_id, round, id) where state in ('planned', 'proven');
