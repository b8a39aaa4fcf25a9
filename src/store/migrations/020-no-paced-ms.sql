-- How long a run waited for the pace is kept by nobody: its forecast asks the Leads client.
alter table runs drop column paced_ms;
