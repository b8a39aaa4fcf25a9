-- What the Leads client has learned of the rate that the service allows, in the time of the database. Only the client
-- reads it; null: nothing.
alter table throttles add column pace jsonb;
