-- Services that reject the parameter `limit` with this number of leads on a page; scope: an address and a key, as of throttles.
create table if not exists page_limits (
  scope text primary key,
  page_size integer not null,
  learned_at timestamptz not null default now()
);
