-- The lines of a reviewed plan that a run may carry out. One batch for each `apply`.
create table approvals (
  batch uuid not null,
  -- The line's id in the plan file.
  line text not null,
  connection text not null,
  -- The plan's own run.
  plan_id bigint not null,
  precondition text not null,
  kind text not null,
  lead_id text,
  row_number int,
  created_at timestamptz not null default now(),
  primary key (batch, line)
);

alter table runs
  add approval uuid,
  -- The run that this one puts back.
  add undo_of bigint,
  -- Records on either side, and those that differ and are left so by the settings or for want of proof.
  add records int not null default 0,
  add left_alone int not null default 0,
  drop constraint runs_phase_check,
  add constraint runs_phase_check check (phase in ('pull', 'read', 'plan', 'push-leads', 'push-rows', 'receipt', 'finish'));

alter table actions
  -- A hash of what the plan saw, by which a reviewed line is recognised.
  add precondition text not null default '',
  -- What reading it again showed. Null: not read yet, or for a row: as it was written.
  add receipt text check (receipt in ('equal', 'changed', 'unexplained')),
  drop constraint actions_state_check,
  -- left-out: no line of the reviewed plan.
  add constraint actions_state_check check (state in ('planned', 'left-out', 'proven', 'done', 'put-off', 'held'));
create index actions_by_precondition on actions (precondition) where state = 'done';
create index actions_by_lead on actions (lead_id, run_id);
create index history_by_run on history (run_id);
