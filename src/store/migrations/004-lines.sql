-- The line of a reviewed plan that an action carries out: the plan's run and the line's id, "7/41".
alter table actions add column plan_line text;
create index actions_by_plan_line on actions (plan_line) where plan_line is not null;
