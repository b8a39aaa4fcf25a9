-- What the id cell of a row shows that is no id and cannot be written over; there is no lead id then.
alter table staged_rows add column unreadable_id text;

-- Why no id can be written into the empty id cell of a row.
alter table staged_rows add column id_closed text;

-- The row was missed, but one that is there may be it: that it was missed counts for nothing.
alter table missed_pairs add column undecided boolean not null default false;

-- Ids of leads that the service spells otherwise than they are compared.
create table lead_spellings (
  connection text not null,
  lead_key text not null,
  lead_id text not null,
  primary key (connection, lead_key)
);
insert into lead_spellings (connection, lead_key, lead_id)
select distinct on (connection, lower(lead_id)) connection, lower(lead_id), lead_id from pairs
where lead_id ~* '^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$' and lead_id <> lower(lead_id);
