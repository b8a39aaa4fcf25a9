-- What the Leads client has learned of the rate that the service allows, in the time of the database. Only the client
-- reads it; null: nothing.
alter table throttles add column pace jsonb;
-- What of the time of a run was spent waiting for it.
alter table runs add column paced_ms bigint not null default 0;
