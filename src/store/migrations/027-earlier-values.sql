-- What both sides had agreed on in a field before they agreed on something else, by which an older copy of a side is
-- recognised: as a hash, since nobody reads it. lead_had, row_had: that side showed the new value already when the run read
-- it, so what the run wrote did not change it there.
create table earlier_values (
  connection text not null,
  lead_id text not null,
  field text not null,
  run_id bigint not null,
  hash bigint not null,
  lead_had boolean not null,
  row_had boolean not null,
  at timestamptz not null default now()
);
create index earlier_values_by_lead on earlier_values (connection, lead_id);
create index earlier_values_by_run on earlier_values (connection, run_id);

-- Of the form in which two values are compared (src/core/lead/value.ts, canonical): an empty text is none.
create function value_hash(value text) returns bigint language sql stable parallel safe as $$
  select hashtextextended(case when getdatabaseencoding() = 'UTF8' then normalize(lines, nfc) else lines end, 0)
  from (select replace(replace(coalesce(value, ''), E'\r\n', E'\n'), E'\r', E'\n')) as l (lines)
$$;

-- A trigger, so that whatever moves a baseline keeps what it leaves behind.
create function keep_earlier_values() returns trigger language plpgsql as $$
declare
  run bigint;
  lead_shown jsonb;
  row_shown jsonb;
begin
  select id into run from leadsync.runs where connection = new.connection and mode = 'sync' order by id desc limit 1;
  select cells into lead_shown from leadsync.staged_leads where run_id = run and lead_id = new.lead_id;
  select cells into row_shown from leadsync.staged_rows where run_id = run and lead_id = new.lead_id and not duplicate limit 1;
  insert into leadsync.earlier_values (connection, lead_id, field, run_id, hash, lead_had, row_had)
  select new.connection, new.lead_id, field, coalesce(run, 0), leadsync.value_hash(value),
    coalesce(lead_shown ? field and leadsync.value_hash(lead_shown->>field) = moved, false),
    coalesce(row_shown ? field and leadsync.value_hash(row_shown->>field) = moved, false)
  from jsonb_each_text(old.base) as o (field, value)
  cross join lateral (select leadsync.value_hash(new.base->>field) as moved) n
  where value is distinct from new.base->>field;
  return null;
end
$$;

create trigger keep_earlier_values after update of base on pairs for each row
when (old.base is not null and old.base is distinct from new.base) execute function keep_earlier_values();
