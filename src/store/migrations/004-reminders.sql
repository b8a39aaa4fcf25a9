-- What was planned last for a lead. A lead of which nothing was planned has no row, or one without what was seen.
create table follow_ups (
  connection text not null,
  lead_id text not null,
  -- A hash of the due moment, the cells that decide and the settings: planned anew when it is another one. Null: nothing is due.
  seen text,
  -- Null: nobody is reminded.
  due_at timestamptz,
  recipients text[] not null default '{}',
  -- Goes up with each date that was moved, cleared or set again: the SEQUENCE of calendar entries (RFC 5545, 3.8.7.4).
  sequence int not null default 0,
  primary key (connection, lead_id)
);
create index follow_ups_due on follow_ups (connection, due_at) where due_at is not null;

alter table reminders
  -- How long before the due moment, as in the settings.
  add offset_text text not null default '0m',
  add send_at timestamptz,
  add sequence int not null default 0,
  add attempts int not null default 0,
  -- How often it was begun again though nobody knew whether the mail had left.
  add doubts int not null default 0,
  -- Goes up each time it is scheduled anew, so that a job of before is not taken for the one of now.
  add round int not null default 0;
update reminders set send_at = due_at;
-- Addresses are compared without case.
update reminders m set recipient = lower(recipient) where recipient <> lower(recipient) and not exists (
  select from reminders o where o.connection = m.connection and o.lead_id = m.lead_id and o.due_at = m.due_at
    and o.id <> m.id and lower(o.recipient) = lower(m.recipient));
alter table reminders
  alter send_at set not null,
  drop constraint reminders_connection_lead_id_due_at_recipient_key,
  add unique (connection, lead_id, due_at, offset_text, recipient);
drop index reminders_open;
create index reminders_open on reminders (connection, send_at) where state in ('scheduled', 'sending');

create table digests (
  id bigint generated always as identity primary key,
  connection text not null,
  recipient text not null,
  -- The day in the recipients' time zone.
  local_date date not null,
  send_at timestamptz not null,
  -- skipped: nothing was due.
  state text not null default 'scheduled' check (state in ('scheduled', 'sending', 'sent', 'skipped', 'missed', 'failed')),
  attempts int not null default 0,
  doubts int not null default 0,
  note text,
  updated_at timestamptz not null default now(),
  unique (connection, recipient, local_date)
);
create index digests_open on digests (connection, send_at) where state in ('scheduled', 'sending');

