-- The reply to the write showed the whole lead with what had been sent in it.
alter table actions add column if not exists shown boolean;

-- Services whose replies to a write were not what was read afterwards; scope: an address and a key, as of throttles.
create table if not exists doubted_replies (
  scope text primary key,
  learned_at timestamptz not null default now()
);
