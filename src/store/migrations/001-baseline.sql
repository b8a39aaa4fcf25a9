-- The state of leadsync. Later migrations only add, so that the version before can come back (docs/upgrade.md).

create table connections (
  -- Empty: all of them, which have a heartbeat of their own.
  connection text primary key,
  -- When a worker syncs it, when it comes due after noted_at, and when a worker last had it in its configuration.
  pattern text,
  time_zone text,
  next_run_at timestamptz,
  noted_at timestamptz,
  -- Since when it is this schedule, and which one was due then and had not begun. Null: it is the first one.
  scheduled_at timestamptz,
  owed_at timestamptz,
  -- All schedules that workers ever had, in the order in which one first had each, with when each worker last said so (epoch ms):
  -- the last one that a worker has now is right.
  schedules jsonb not null default '[]',
  -- Paused by a person, until leadsync resume; null: not paused.
  paused_at timestamptz,
  -- Since when it is checked for alerts: before its first success the age counts from then.
  watched_since timestamptz,
  -- The run after which all its reminders were last planned, and a hash of the rules: nothing has changed since.
  planned_run bigint,
  planned_rules text,
  -- The run for which the heartbeat address was last called with success; the last call; and since when calls fail, and why.
  heartbeat_run bigint,
  heartbeat_at timestamptz,
  failing_since timestamptz,
  fault text,
  -- What is being written into a table by row number, and what stood there: each kept until it is known where it arrived.
  unsettled_writes bytea[] not null default '{}'
);
comment on table connections is
  'What is remembered of a connection as a whole.';

create table places (
  id uuid default gen_random_uuid() primary key,
  connection text not null,
  -- What identifies it under any name; the address is its name for people.
  identity text not null,
  address text not null,
  service text,
  -- A hash of the address and the key of the service: ids that count mean the same lead there alone.
  account text,
  -- The baselines of the current place have the name of the connection as their key, those of a former one NAME#ID.
  is_current boolean not null default false,
  -- A sync that was no part of a reviewed plan has passed the guard here.
  is_synced boolean not null default false,
  seen_at timestamptz not null default now(),
  -- When it took the place of another, or was left for another.
  switched_at timestamptz,
  unique (connection, identity)
);
comment on table places is
  'Where a connection keeps its leads in step, or did: a file, a tab, a portal, a table.';
create unique index places_current on places (connection) where is_current;

create table runs (
  id bigint generated always as identity primary key,
  connection text not null,
  -- edit: it carries out requested edits alone.
  mode text not null check (mode in ('sync', 'plan', 'edit')),
  status text not null default 'running' check (status in ('running', 'succeeded', 'partial', 'stopped', 'failed')),
  phase text not null default 'pull' check (phase in ('pull', 'read', 'plan', 'push-leads', 'push-rows', 'receipt', 'finish')),
  -- A run scans again when it has to find out what became of a create.
  round int not null default 1,
  base_url text not null,
  -- Of the settings that decide: a run is not resumed under other ones.
  settings_hash text not null,
  allow text[] not null default '{}',
  cursor text,
  scan_started_at timestamptz not null default now(),
  -- The scan was restarted, met an id twice or an unusable item: what it did not show may exist.
  scan_incomplete boolean not null default false,
  scan_restarted boolean not null default false,
  pages int not null default 0,
  pulled int not null default 0,
  target_rows int not null default 0,
  -- It did not read the table, which was as an earlier run had read it then.
  table_read_at timestamptz,
  -- Failures in a row without any progress.
  attempts int not null default 0,
  -- The last of them, and since when.
  fault jsonb,
  paused_at timestamptz,
  waited_ms bigint not null default 0,
  lead_requests bigint not null default 0,
  target_requests bigint not null default 0,
  problems jsonb not null default '[]',
  refusals jsonb not null default '[]',
  -- As it was printed, in its order.
  report json,
  created_at timestamptz not null default now(),
  progress_at timestamptz not null default now(),
  finished_at timestamptz,
  -- Names the lines of a reviewed plan that it may carry out, and all but they are left out.
  approval uuid,
  -- {planId: the run of the plan, lines: […]}; kept until they are carried out by it, or by the next run of the same approval.
  approved json,
  -- The run that this one puts back.
  undo_of bigint,
  -- Records on either side, and those that differ and are left so by the settings or for want of proof.
  records int not null default 0,
  left_alone int not null default 0,
  paused_rows int not null default 0,
  -- Roughly, of the staged leads: a service that never comes to an end must not fill the disk.
  pulled_bytes bigint not null default 0,
  -- How often pairs had moved when the scan was begun (see place_notes): a resumed scan knows that they are as they were.
  moves bigint,
  -- Compared and equal; waiting for a create that is not settled; written and read again as written.
  compared_equal int not null default 0,
  waiting int not null default 0,
  rows_read_equal int not null default 0,
  -- The place that the run has found, and the key of its baselines; null: the name of its connection.
  place uuid references places on delete set null,
  baseline text,
  -- The mark found in the table: null when none was looked for, empty when there was none.
  mark text,
  page_size int
);
comment on table runs is
  'A scan, plan and push of one connection. At most one of a connection and mode is open at a time.';
create index runs_by_connection on runs (connection, id desc);
create unique index runs_one_open on runs (connection, mode) where (finished_at is null);

create table leases (
  name text primary key,
  token uuid not null,
  holder text not null,
  backend_pid int not null,
  expires_at timestamptz not null
);
comment on table leases is
  'The process that works on a connection (and mode) now. A process that lost its token writes nothing more.';
create index leases_token on leases (token);

create table services (
  -- A hash of an address and a key.
  scope text primary key,
  -- No request may leave before.
  not_before timestamptz,
  -- What the client has learned of the rate that the service allows; null: nothing.
  pace jsonb,
  -- The page size of the settings that the service rejected, and what it takes instead; 0: without limit.
  page_size int,
  takes int,
  page_learned_at timestamptz,
  -- When a reply to a write last differed from what was read afterwards.
  doubted_at timestamptz
);
comment on table services is
  'What is known of a service by its replies.';

create table run_sights (
  id bigint generated always as identity primary key,
  run_id bigint not null,
  -- A checkpoint of the leads has the next four, until the plan is stored.
  -- The pairs that showed their baselines: the first id of a row of them, and how many they are, again and again.
  as_base bigint[],
  -- Hashes of the cursors that were used: one that comes again would be an endless loop.
  cursors text[],
  -- [[lead id, {field: value}]…]: the other leads, and those that were read by their ids, as they were then.
  listed text,
  -- What the service answered about leads that it was asked for by their ids.
  asked json,
  -- What both sides showed of some leads, where a side is not as in the baseline.
  leads json,
  -- The first and the last of their ids.
  first_lead text collate "C",
  last_lead text collate "C",
  -- The same of rows that no lead id names.
  rows json,
  -- Rows whose status cells may need a change, as the scan found them; without cells: as in the baseline.
  statuses json
);
comment on table run_sights is
  'What the scan of a run has seen, many records in one row. Its checkpoints, so that a killed one goes on from there; with the'
  ' plan what differs: status cells are written by it, and at its end the run compares it with what it did.';
create index run_sights_by_run on run_sights (run_id);

create table pairs (
  connection text not null,
  -- As the service spells it.
  lead_id text not null,
  -- How it is compared, where that is not the same.
  lead_key text,
  -- Null while the sides were never in step.
  base jsonb,
  lead_absences int not null default 0,
  row_absences int not null default 0,
  absence_run bigint,
  -- When the side that was missed last was first missed.
  absent_since timestamptz,
  lead_deleted_at timestamptz,
  -- Since when complete scans with leads.query do not show the lead; null: the last one showed it.
  outside_since timestamptz,
  -- Since when the row was paused whenever it was read; null: it was not the last time.
  paused_since timestamptz,
  first_seen_at timestamptz not null default now(),
  -- Where the row was when the target was last read; null: not there, or not read since it was made.
  row_number bigint,
  id bigint generated always as identity,
  primary key (connection, lead_id)
);
comment on table pairs is
  'Every lead that was ever seen, with its baseline: the value on which both sides last agreed, field by field.';

create index pairs_outside on pairs (connection) where (outside_since is not null);
create index pairs_paused on pairs (connection) where (paused_since is not null);
create index pairs_spelled on pairs (connection, lead_key) where (lead_key is not null);

create table earlier_values (
  connection text not null,
  lead_id text not null,
  field text not null,
  run_id bigint not null,
  -- See valueHash in src/core/lead/content-hash.ts.
  hash text not null,
  -- That side showed the new value already when the run read it: the run did not change it there.
  lead_had boolean not null,
  row_had boolean not null,
  at timestamptz not null default now()
);
comment on table earlier_values is
  'The values that a baseline has left behind, as hashes: an older copy of a side is recognised by them.';
create index earlier_values_by_lead on earlier_values (connection, lead_id);
create index earlier_values_by_run on earlier_values (connection, run_id);

create table place_notes (
  connection text primary key,
  -- By field the column of the target in which it was kept at the last sync.
  columns jsonb,
  -- The contents of the rows directly below the range of the table that were there before leadsync: they are no leads.
  below text[],
  -- Its baselines came out of a backup: what was agreed on since is not known.
  backed_up_at timestamptz,
  -- The marks that runs have put into the table, or were about to, and those of others that were accepted: the last 50,
  -- the newest first. written: it is known to have arrived.
  marks jsonb not null default '[]',
  -- How often its pairs have moved: in what a scan compares of them.
  moves bigint not null default 0,
  -- The table as it was when it was last read: by which tag of its content it is recognised, how often pairs had moved, what it showed, and when.
  read_tag text,
  read_moves bigint,
  read_shown json,
  read_at timestamptz
);
comment on table place_notes is
  'What is remembered of a place beside its pairs.';

create table actions (
  id bigint generated always as identity primary key,
  run_id bigint not null,
  round int not null,
  kind text not null,
  lead_id text,
  row_number bigint,
  content_hash text not null default '',
  -- json, not jsonb: people read the fields in the order of the mapping.
  changes json not null default '{}',
  expect jsonb not null default '{}',
  reason text not null,
  message text,
  -- Of a link: the create that it finishes.
  intent_id bigint,
  -- proven: the service answered 404 for the lead, the row may be marked or removed. left-out: no line of the
  -- reviewed plan.
  state text not null default 'planned' check (state in ('planned', 'left-out', 'proven', 'done', 'deferred', 'held')),
  attempts int not null default 0,
  outcome_code text,
  outcome_message text,
  done_at timestamptz,
  -- A hash of what the plan saw, by which a reviewed line is recognised.
  fingerprint text not null default '',
  -- What reading it again showed. Null: not read yet, or for a row: as it was written.
  receipt text check (receipt in ('equal', 'changed', 'unexplained')),
  -- The line of a reviewed plan that it carries out: the run of the plan, and the id of the line in its file.
  plan_id bigint,
  plan_line text,
  -- The reply to the write showed the whole lead with what had been sent in it.
  shown boolean,
  -- What it overwrites, stored before the write leaves, and again with its outcome: as changes. Null: nothing.
  written json,
  written_at timestamptz,
  -- Null: lead_id. Of a create, the lead that it made or wrote into.
  written_to text,
  -- By field of the value of the row, where the write is the end of a conflict; null of jsonb: the place does not know.
  authors jsonb,
  -- Of a create that was begun, committed before the request leaves; it outlives the run, and while it is in doubt or created
  -- the retention. From then on lead_id is the lead that it made, and expect what its row shows.
  intent text check (intent in ('in-doubt', 'created', 'linked', 'abandoned')),
  -- The key of the baselines of its place; null: no create, or not begun.
  connection text,
  -- The service said that it made the lead, but not which one it is.
  answered boolean,
  scans_without_it real,
  attempted_at timestamptz,
  -- A hash of what the new lead had in fields that are not mapped. Null: not seen.
  unmapped_hash text,
  -- [[lead id, {field: value}]…]: new leads of which nothing else is known, whose rows are made together; null instead of a
  -- line that has an action of its own. And of how many leads it is, without these.
  body json,
  leads int not null default 1
) with (fillfactor = 50);
comment on table actions is
  'The lines of a plan, their attempts, their outcomes, and both sides as they were before: nothing that a person typed is'
  ' ever in one place only. Without a foreign key, and with room beside each: an outcome is written in place.';
create index actions_begun on actions (connection, intent, content_hash) where (connection is not null);
create index actions_by_lead on actions (lead_id, run_id);
create index actions_by_plan_line on actions (plan_id, plan_line) where (plan_line is not null);
create index actions_by_fingerprint on actions (fingerprint) where (kind = 'create-lead');
create index actions_by_run on actions (run_id, round, id);
create index actions_of_many on actions (run_id, id) where (body is not null);
create index actions_written_to on actions (written_to) where (written_to is not null);

create table held (
  id bigint generated always as identity primary key,
  connection text not null,
  -- conflict: what differs. match: a row and a lead that may be one, as the last sync found them. decision: of a person,
  -- kept as long as the history.
  -- refused: what the service made no lead of, by a hash of what was sent; it is sent again only when a person decides so.
  -- undone: what an undo took a row or a lead from, and what it showed then; nothing is made of it until it shows
  -- something else. edit: what a person changes by the link in a mail or in their calendar, until a run has carried it out.
  -- calendar: a person is asked why the entries of a calendar have gone.
  kind text not null
    check (kind in ('conflict', 'match', 'decision', 'refused', 'undone', 'edit', 'calendar')),
  -- Empty for a row without id, which is recognised by all that it shows; in a match both are there.
  lead_id text not null default '',
  content_hash text not null default '',
  -- Empty: the whole record.
  field text not null default '',
  row_number bigint,
  -- Of an edit: why it is held, or open still. Of a decision the message: why it was not carried out.
  code text,
  message text,
  -- As the run showed it: what is held may be no pair.
  company text,
  -- Of an edit what the person saw, and as the value of the row what it is to be; as that of the lead what it showed instead.
  base jsonb,
  -- Of a match all that both show; of a decision what the person saw.
  lead_value jsonb,
  row_value jsonb,
  -- Who changed the value of the row, as the place reported; null of jsonb: it does not know.
  author jsonb,
  -- lead or target; of a calendar restore or deleted; of a decision any answer.
  resolution text,
  -- The name of a user of the command line, or the status page, which knows no names.
  decided_by text,
  decided_at timestamptz,
  -- Of a match: proposed, ambiguous, accepted, rejected, undone. Of an edit: open, applied, unchanged (the lead showed the
  -- value already), superseded; conflict and failed: a person has to look at it.
  state text,
  -- How a match is recognised by what both show in the fields of matchBy. Null: whatever the lead shows.
  lead_mark text,
  row_mark text,
  score double precision,
  -- The last sync that looked found both as they are here.
  current boolean,
  last_run bigint,
  last_round int,
  -- Complete scans of different runs in a row in which what an undo took was not seen as it was.
  missed int not null default 0,
  -- Of a match and a refused create: when it was found last.
  since timestamptz not null default now(),
  -- Of an edit: link or calendar, and the address of the person; of a calendar whose it is.
  source text,
  requested_by text,
  -- Of the run last_run, which carries it out or did.
  action_id bigint,
  -- When a run last ended without carrying it out; null: none did.
  tried_at timestamptz,
  settled_at timestamptz,
  -- The reminders of the lead were planned by it.
  planned boolean not null default false
);
comment on table held is
  'What waits for a person, or for a correction, and what people have decided.';
create unique index held_once on held (connection, lead_id, kind, content_hash, field) where (kind not in ('decision', 'edit', 'calendar'));
create index held_of_lead on held (connection, lead_id, id) where (kind in ('decision', 'edit'));
create index held_edits on held (connection) where (kind = 'edit' and (state in ('open', 'conflict', 'failed') or not planned));
create unique index held_calendar on held (connection, requested_by) where (kind = 'calendar');
create index held_by_action on held (action_id) where (action_id is not null);

create table keeper (
  is_one boolean default true primary key check (is_one),
  id uuid not null default gen_random_uuid(),
  -- When this state came out of a backup: mails that were due before may have left already.
  restored_at timestamptz,
  -- Signs the links in mails: 244 random bits.
  link_key bytea not null default decode(replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''), 'hex'),
  -- Which installation works with this database, and when one of its workers last said so.
  claim jsonb,
  claimed_at timestamptz,
  -- Since when, and in which file, this state has gone to another database: nothing works with what stays.
  moved jsonb,
  -- When it was last written here to see whether the database takes writes.
  written_at timestamptz,
  -- Logins of the status page that somebody has ended, with when each would have ended by itself (epoch s): a copy of their
  -- cookie is worth nothing.
  ended_logins jsonb not null default '{}',
  -- By recipient, in lower case, a part of the address of the calendar feed: whoever has it reads the feed.
  feeds jsonb not null default '{}'
);
comment on table keeper is
  'The identity of this state: another database is another keeper of the tables that it keeps. What it has once.';

-- The minute in which people see a moment: what differs within it is no other date.
create function shown_minute(moment timestamptz) returns timestamptz language sql immutable strict parallel safe as $$
  select date_bin(interval '1 minute', moment, timestamptz '1970-01-01 00:00:00+00')
$$;

create table follow_ups (
  connection text not null,
  lead_id text not null,
  -- Whose lead it is, for all connections: an address, or a hash of address and key (src/reminders/plan/plan-reminders.ts).
  service text,
  -- A hash of the due moment, the cells that decide and the settings: another one is planned anew. Null: nothing
  -- is due.
  seen text,
  -- Null: no reminder.
  due_at timestamptz,
  recipients text[] not null default '{}',
  -- Goes up with each date that was moved, cleared or set again: the SEQUENCE of calendar entries (RFC 5545,
  -- 3.8.7.4).
  sequence int not null default 0,
  -- When the sequence went up.
  changed_at timestamptz not null default now(),
  -- Planned from what the service showed when a mail was to leave: holds until the next sync.
  is_read boolean not null default false,
  primary key (connection, lead_id)
);
comment on table follow_ups is
  'What was last planned for a lead.';
create index follow_ups_due on follow_ups (connection, due_at) where (due_at is not null);
create index follow_ups_unseen on follow_ups (connection) where (seen = '');

create table mails (
  id bigint generated always as identity primary key,
  -- Of a digest, which is about all connections, the one that sends it.
  connection text not null,
  -- moved, cancel: of the calendar entry that an earlier mail about the lead brought. digest: what is due on a day.
  kind text not null default 'reminder' check (kind in ('reminder', 'moved', 'cancel', 'digest')),
  recipient text not null,
  -- Null of a digest.
  lead_id text,
  -- As in follow_ups.
  service text,
  due_at timestamptz,
  -- Of a reminder, how long before the due moment, as in the settings; else empty.
  offset_text text not null default '',
  -- Of moved and cancel, the sequence of the change that they are about: each change has its own; else 0.
  change int not null default 0,
  -- The SEQUENCE of its calendar entry.
  sequence int not null default 0,
  -- Of a digest, in the time zone of the recipient; else null.
  local_date date,
  send_at timestamptz not null,
  -- skipped: a digest without anything due, a reminder that the digest of the same minute made superfluous.
  state text not null default 'scheduled'
    check (state in ('scheduled', 'sending', 'sent', 'cancelled', 'skipped', 'missed', 'failed')),
  note text,
  updated_at timestamptz not null default now(),
  attempts int not null default 0,
  -- How often it was begun again although the mail may have left.
  resends int not null default 0,
  -- After an attempt that failed: not before this moment.
  try_at timestamptz,
  -- When a worker first took it up: so long it waits for a service that is away.
  taken_at timestamptz,
  -- The Date of the mail, also of one that is sent again.
  first_tried_at timestamptz,
  -- How often the mail server left open whether it had taken the mail; a process that ended meanwhile is not counted.
  unknown_outcomes int not null default 0,
  -- The lease of the process that has taken it up; nobody else touches it as long as that lives.
  sender uuid,
  check ((kind = 'digest') = (lead_id is null) and (kind = 'digest') = (due_at is null)
    and (kind = 'digest') = (local_date is not null))
);
comment on table mails is
  'Mails that are due to one recipient, were sent, or were given up.';
create unique index mails_of_lead on mails (connection, lead_id, shown_minute(due_at), kind, offset_text, change, recipient)
  where (kind <> 'digest');
create index mails_about on mails (lead_id, recipient) where (kind = 'reminder');
-- Of all connections one sends it.
create unique index mails_told on mails (lead_id, shown_minute(due_at), recipient, offset_text, service)
  where (kind = 'reminder' and state in ('sending', 'sent', 'failed'));
create unique index mails_of_day on mails (recipient, local_date) where (kind = 'digest');
create index mails_open on mails (connection, send_at) where (state in ('scheduled', 'sending'));
create index mails_troubled on mails (connection, updated_at) where (state in ('failed', 'missed'));

create table calendars (
  connection text not null,
  recipient text not null,
  -- The calendar that the entries are in.
  url text not null,
  seen_at timestamptz,
  -- What went wrong the last time, and when it is tried again.
  code text,
  note text,
  not_before timestamptz,
  primary key (connection, recipient)
);
comment on table calendars is
  'The calendars that follow-ups are put into, one for each recipient.';

create table calendar_entries (
  connection text not null,
  recipient text not null,
  lead_id text not null,
  component text not null check (component in ('event', 'task')),
  -- The last part of its address.
  name text not null,
  uid text not null,
  -- Null: not known.
  etag text,
  -- The date that leadsync wrote last, or that was agreed on since; and one whose write may or may not have arrived.
  due timestamptz not null,
  writing timestamptz,
  -- The calendar has shown it, or confirmed it.
  is_there boolean not null default false,
  -- A person took it out of the way, so that it is put back only with another date.
  ended text check (ended in ('deleted', 'completed')),
  -- What the person made of it, of held.
  edit_id bigint,
  -- What the calendar showed last: the date, or why it has none that is clear.
  shown jsonb not null default '{"kind": "missing"}',
  -- The texts that leadsync wrote last, and a hash of what they were made of.
  written jsonb,
  made_of text,
  -- Why the server took no write of it.
  note text,
  primary key (connection, recipient, lead_id, component)
);
comment on table calendar_entries is
  'The entries of follow-ups in calendars, as leadsync wrote them and as the calendar shows them.';

create table alerts (
  id bigint generated always as identity primary key,
  connection text not null,
  kind text not null,
  -- The severity that was last reported; a worse one is reported again.
  level int not null,
  -- Codes, counts and moments; no values of leads.
  detail jsonb not null,
  raised_at timestamptz not null,
  -- Not seen any more since then; null while it is there.
  cleared_at timestamptz,
  over_at timestamptz,
  -- What has still to be told, and to whom: the webhook, or one address. In its order; written with the change that it is about.
  owed jsonb not null default '[]'
);
comment on table alerts is
  'A problem, from when it was first seen until it has stayed away, and who has to be told.';
create unique index alerts_one_open on alerts (connection, kind) where (over_at is null);

