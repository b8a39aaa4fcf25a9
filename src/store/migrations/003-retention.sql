-- What is to be pruned is looked for every day, also when there is nothing.
create index history_by_age on history (connection, at);
