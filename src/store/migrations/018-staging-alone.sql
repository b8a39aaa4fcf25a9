-- What is staged is deleted when its run ends, before a run may be: looking each row's run up is a fourth of what a row costs.
alter table staged_leads drop constraint staged_leads_run_id_fkey;
alter table staged_rows drop constraint staged_rows_run_id_fkey;
