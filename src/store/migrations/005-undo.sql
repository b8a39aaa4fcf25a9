alter table intents
  -- A hash of what the made lead had in fields that are not mapped, as the receipt saw it. Null: not seen.
  add column others text;
create index intents_by_lead on intents (lead_id) where lead_id is not null;
