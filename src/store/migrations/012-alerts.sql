-- Since when a connection is looked at for alerts: before its first success the age counts from then.
create table watched (
  connection text primary key,
  since timestamptz not null
);

-- A problem that an operator is told of, from when it was first seen until it has stayed away.
create table alerts (
  id bigint generated always as identity primary key,
  connection text not null,
  kind text not null,
  -- It was told that it is so bad; worse is told again.
  level int not null,
  -- Codes, counts and moments; no values of leads.
  detail jsonb not null,
  raised_at timestamptz not null,
  -- Not seen any more since then; null while it is there.
  cleared_at timestamptz,
  over_at timestamptz
);
create unique index alerts_one_open on alerts (connection, kind) where over_at is null;

-- What is owed to each channel: the webhook, or one address. Written with the change that it tells of.
create table tellings (
  id bigint generated always as identity primary key,
  alert_id bigint not null references alerts on delete cascade,
  event text not null check (event in ('raised', 'grown', 'over')),
  level int not null,
  channel text not null,
  created_at timestamptz not null,
  attempts int not null default 0,
  -- Also for how long whoever has claimed it may be at it.
  next_try_at timestamptz not null,
  ended_at timestamptz,
  -- Of the last try; with ended_at: it was given up.
  fault text,
  unique (alert_id, event, level, channel)
);
create index tellings_open on tellings (next_try_at) where ended_at is null;

-- The heartbeat of a connection, or of all (''): for which run it was called last, and since when that fails.
create table pulses (
  unit text primary key,
  run_id bigint,
  attempted_at timestamptz not null,
  failing_since timestamptz,
  fault text
);

create index reminders_troubled on reminders (connection, updated_at) where state in ('failed', 'missed');
