-- What a receipt adds up of the records of which nothing is planned. Of the pairs that a scan met on a side, as many as it
-- did not stage: they show the baseline there.
alter table met_pairs add column unmoved integer not null default 0;
update met_pairs set unmoved = cardinality(pair_ids);
insert into met_pairs (run_id, side, pair_ids, unmoved)
select s.run_id, 'lead', '{}', -count(*) from staged_leads s join runs r on r.id = s.run_id
join pairs p on p.connection = r.connection and p.lead_id = s.lead_id group by 1;
insert into met_pairs (run_id, side, pair_ids, unmoved)
select s.run_id, 'row', '{}', -count(*) from staged_rows s join runs r on r.id = s.run_id
join pairs p on p.connection = r.connection and p.lead_id = s.lead_id
where s.cells is not null and not s.duplicate group by 1;

-- Records that were compared and are equal; that wait for a create which is not settled; rows that were written and all of
-- them read again as they were written.
alter table runs add column compared_equal integer not null default 0;
alter table runs add column waiting integer not null default 0;
alter table runs add column rows_read_equal integer not null default 0;
-- A run that was planned without them has no receipt.
update runs set records = 0 where finished_at is null;
