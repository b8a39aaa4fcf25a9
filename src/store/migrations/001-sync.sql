-- A run: one scan, plan and push of one connection. At most one of a connection and mode is open at a time.
create table runs (
  id bigint generated always as identity primary key,
  connection text not null,
  mode text not null check (mode in ('sync', 'plan')),
  status text not null default 'running' check (status in ('running', 'succeeded', 'partial', 'stopped', 'failed')),
  phase text not null default 'pull' check (phase in ('pull', 'read', 'plan', 'push-leads', 'push-rows', 'finish')),
  -- A run scans again when it has to find out what became of a create.
  round int not null default 1,
  base_url text not null,
  -- Of the settings that decide; a run is not resumed under other ones.
  settings_hash text not null,
  allow text[] not null default '{}',
  cursor text,
  -- When the first page of the current round was asked for.
  scan_started_at timestamptz not null default now(),
  send_limit boolean not null default true,
  -- The scan was restarted, met an id twice or an unusable item: what it did not show may exist.
  scan_torn boolean not null default false,
  scan_restarted boolean not null default false,
  pages int not null default 0,
  pulled int not null default 0,
  target_rows int not null default 0,
  -- Failures in a row without any progress.
  tries int not null default 0,
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
  finished_at timestamptz
);
create unique index runs_one_open on runs (connection, mode) where finished_at is null;
create index runs_by_connection on runs (connection, id desc);

-- Who works on a connection (and mode) now. Whoever lost the token writes nothing more.
create table leases (
  name text primary key,
  token uuid not null,
  holder text not null,
  backend_pid int not null,
  backend_start timestamptz not null,
  expires_at timestamptz not null
);

-- The moment before which no request may leave, for each key at each service.
create table throttles (
  scope text primary key,
  not_before timestamptz not null
);

-- Cursors that the current scan has used: a cursor that comes again would be an endless loop.
create table scan_cursors (
  run_id bigint not null references runs on delete cascade,
  cursor text not null,
  primary key (run_id, cursor)
);

create table staged_leads (
  run_id bigint not null references runs on delete cascade,
  lead_id text not null,
  cells jsonb not null,
  -- Null when a cell is unreadable.
  hash text,
  primary key (run_id, lead_id)
);

create table staged_rows (
  run_id bigint not null references runs on delete cascade,
  ordinal int not null,
  row_number int not null,
  lead_id text,
  cells jsonb not null,
  hash text,
  row_key text not null,
  duplicate boolean not null default false,
  primary key (run_id, ordinal)
);
create index staged_rows_by_lead on staged_rows (run_id, lead_id);

-- Every lead that was ever seen; base is the value both sides last agreed on, field by field, null while never in step.
create table pairs (
  connection text not null,
  lead_id text not null,
  base jsonb,
  lead_absences int not null default 0,
  row_absences int not null default 0,
  absence_run bigint,
  lead_deleted_at timestamptz,
  first_seen_at timestamptz not null default now(),
  primary key (connection, lead_id)
);

create table actions (
  id bigint generated always as identity primary key,
  run_id bigint not null references runs on delete cascade,
  round int not null,
  kind text not null,
  lead_id text,
  row_number int,
  row_key text not null default '',
  -- json, not jsonb: people read the fields in the order of the mapping.
  changes json not null default '{}',
  expect jsonb not null default '{}',
  reason text not null,
  message text,
  intent_id bigint,
  -- proven: the service answered 404 for the lead, the row may be marked or removed.
  state text not null default 'planned' check (state in ('planned', 'proven', 'done', 'put-off', 'held')),
  tries int not null default 0,
  outcome_code text,
  outcome_message text,
  done_at timestamptz
);
create index actions_by_run on actions (run_id, round, state, kind);

-- A create that was begun: committed before the request leaves.
create table intents (
  id bigint generated always as identity primary key,
  connection text not null,
  action_id bigint not null,
  row_key text not null,
  row_cells jsonb not null,
  content jsonb not null,
  state text not null default 'in-doubt' check (state in ('in-doubt', 'created', 'linked', 'abandoned')),
  lead_id text,
  -- The service said that it made the lead, but not which one it is.
  answered boolean not null default false,
  scans_without_it real not null default 0,
  attempted_at timestamptz not null default now()
);
create index intents_open on intents (connection) where state in ('in-doubt', 'created');

create table held (
  id bigint generated always as identity primary key,
  connection text not null,
  lead_id text not null default '',
  row_key text not null default '',
  field text not null default '',
  row_number int,
  code text not null,
  message text not null,
  base jsonb,
  lead_value jsonb,
  row_value jsonb,
  resolution text check (resolution in ('lead', 'target')),
  last_run bigint not null,
  last_round int not null,
  since timestamptz not null default now(),
  unique (connection, lead_id, row_key, field)
);

-- What was written, with both sides as they were before: nothing that a person typed is ever only in one place.
create table history (
  id bigint generated always as identity primary key,
  connection text not null,
  run_id bigint not null,
  lead_id text not null,
  field text not null,
  side text not null check (side in ('lead', 'row')),
  base jsonb,
  before jsonb,
  after jsonb,
  rule text not null,
  at timestamptz not null default now()
);
create index history_by_lead on history (connection, lead_id, field, id desc);

create table reminders (
  id bigint generated always as identity primary key,
  connection text not null,
  lead_id text not null,
  due_at timestamptz not null,
  recipient text not null,
  state text not null default 'scheduled' check (state in ('scheduled', 'sending', 'sent', 'cancelled', 'missed', 'failed')),
  note text,
  updated_at timestamptz not null default now(),
  unique (connection, lead_id, due_at, recipient)
);
create index reminders_open on reminders (connection, due_at) where state = 'scheduled';
