-- How many leads a service is asked for on a page, where it takes fewer than the settings ask for; 0: without `limit`.
alter table page_limits add column if not exists takes integer not null default 0;
-- The same for the scan of a run; null: as the settings say.
alter table runs add column if not exists page_size integer;
