-- A create is asked for by its action, and is kept as long as that.
create index intents_by_action on intents (action_id);
