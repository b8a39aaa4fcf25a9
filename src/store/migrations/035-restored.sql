-- Baselines that came out of a backup, by their key, and when that was made: what was agreed on since is not known.
create table if not exists restored (
  connection text primary key,
  backed_up_at timestamptz not null
);
-- When this state came out of a backup: mails that were due before may have left already. Null: it did not.
alter table keeper add column if not exists restored_at timestamptz;
