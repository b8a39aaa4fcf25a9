-- The lease (its token) of the process that carries out an action: several may share the pushes of one run.
alter table actions add column claimed_by uuid;
-- A lease that changes hands waits for transactions of its holder, which a renewal does not: see assertHeld.
create unique index leases_token on leases (token);
create index actions_to_do on actions (run_id, round, id) where state = 'planned';

-- Who asks a service that limits its requests, by key; nothing that a crash of the database has to leave behind.
create unlogged table service_turns (
  scope text primary key,
  token uuid not null,
  backend_pid int not null,
  backend_start timestamptz not null,
  expires_at timestamptz not null
);
