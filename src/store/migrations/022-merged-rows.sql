-- A row that a person merged into another is not gone: which one stayed ("row"), and what to tell of it ("message").
alter table missed_pairs add column merged jsonb;
