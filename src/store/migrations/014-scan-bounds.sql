-- Of the leads staged by the current scan, roughly: a service that never comes to an end must not fill the disk.
alter table runs add column pulled_bytes bigint not null default 0;
