import type pg from 'pg';
import type { AuditConditions, AuditedAction, AuditedRecord } from '../core/audit/audit.ts';
import type { Cells, Values } from '../core/lead/value.ts';
import type { Changes } from '../core/merge/action.ts';
import { oneOf, type Queryable } from './database.ts';
import { isUnsettled } from './intents.ts';
import { streamRows } from './stream-rows.ts';
import type { RoundRef, Run, RunRef } from './runs.ts';

type StoredAction = Omit<AuditedAction, 'to'> & { readonly changes: Changes };

interface StoredRecord extends Omit<AuditedRecord, 'actions' | 'held' | 'moved' | 'lead' | 'cells'> {
  /** Null: as in the baseline. */
  readonly lead: Cells | null;
  readonly cells: Cells | null;
  readonly isLeadMissed: boolean;
  readonly isRowMissed: boolean;
  readonly actions: readonly StoredAction[] | null;
  readonly held: readonly string[] | null;
  readonly moved: readonly string[];
}

const actionsWhere = (condition: string): string =>
  `json_agg(json_build_object('kind', kind, 'state', state, 'reason', reason, 'changes', changes,
     'expect', case when kind = 'link' then expect else '{}' end, 'isDoubted', coalesce(receipt <> 'equal', false)) order by id) as actions
   from actions where run_id = $1 and round = $2 and ${condition}`;

/**
 * Streams what the last round of a run left: first leads of which a side is not as in the baseline, or of which the run
 * decided something, then rows without an id, and new leads whose rows were not written. Nothing of records in step.
 */
export async function* auditRecords(
  pool: pg.Pool,
  run: RunRef & RoundRef & Pick<Run, 'mode'>,
): AsyncIterable<AuditedRecord> {
  // A plan stores no conflicts: those that are there are of the last sync.
  const values = [run.id, run.round, run.connection, run.mode !== 'plan'];
  const ofLeads = streamRows<StoredRecord>(
    pool,
    // Each record is looked up by its own: see `differences`.
    `select w.lead_id as "leadId", coalesce(t.row_number, p.row_number) as row, p.base, l.cells as lead, t.cells,
       coalesce(m.lead, p.lead_id is null) as "isLeadMissed", coalesce(m.row, p.lead_id is null) as "isRowMissed", a.actions,
       (select json_agg(field) from held where $4 and kind = 'conflict' and connection = $3 and lead_id = w.lead_id and content_hash not like 'duplicate:%') as held,
       array(select field from earlier_values where connection = $3 and lead_id = w.lead_id
         and at >= (select scan_started_at from runs where id = $1) and hash is distinct from value_hash(p.base->>field)) as moved,
       coalesce(p.lead_absences >= 2, false) as "isLeadGone", p.lead_deleted_at is not null as "isDeletionDone", false as "isApart"
     from (
       select lead_id from staged_leads where run_id = $1
       union select lead_id from staged_rows where run_id = $1 and lead_id is not null and not duplicate and cells is not null
       union select lead_id from absent_pairs where run_id = $1
       union select lead_id from actions where run_id = $1 and round = $2 and lead_id is not null and kind not in ('hold', 'create-lead')) w
     left join lateral (select * from staged_leads where run_id = $1 and lead_id = w.lead_id limit 1) l on true
     left join lateral (
       select * from staged_rows where run_id = $1 and lead_id = w.lead_id and not duplicate and cells is not null limit 1) t on true
     left join lateral (select * from absent_pairs where run_id = $1 and lead_id = w.lead_id limit 1) m on true
     left join lateral (select * from pairs where connection = $3 and lead_id = w.lead_id limit 1) p on true
     cross join lateral (select ${actionsWhere(`lead_id = w.lead_id and kind <> 'create-lead'`)}) a
     where (l.hash = t.hash) is not true or a.actions is not null`,
    values,
  );
  for await (const stored of ofLeads) yield asAudited(stored);
  const ofRows = streamRows<StoredRecord>(
    pool,
    // Each table is read once: neither actions nor conflicts can be looked up by a row.
    `with acts as materialized (
       select row_number, ${actionsWhere(`row_number is not null and (lead_id is null or kind in ('hold', 'link', 'create-lead'))`)} group by 1),
     held as materialized (
       select row_number, lead_id, split_part(content_hash, '#', 1) as content, field from held
       where $4 and kind = 'conflict' and connection = $3),
     held_there as materialized (
       select row_number, array_agg(field) as fields from held where row_number is not null group by 1),
     held_alike as materialized (select content, array_agg(field) as fields from held where lead_id = '' group by 1)
     select null as "leadId", r.row_number as row, null as base, null as lead, r.cells, true as "isLeadMissed", false as "isRowMissed",
       a.actions, t.fields || c.fields as held,
       array[]::text[] as moved, false as "isLeadGone", false as "isDeletionDone", r.apart as "isApart"
     from staged_rows r left join acts a on a.row_number = r.row_number left join held_there t on t.row_number = r.row_number
     left join held_alike c on c.content = r.content_hash
     where r.run_id = $1 and (r.lead_id is null or r.duplicate) order by r.ordinal`,
    values,
  );
  for await (const stored of ofRows) yield asAudited(stored);
  const ofPages = streamRows<StoredRecord>(
    pool,
    `select e.line->>0 as "leadId", null::bigint as row, null as base, e.line->1 as lead, null as cells,
       false as "isLeadMissed", true as "isRowMissed",
       json_build_array(json_build_object('kind', 'create-row', 'state', 'planned', 'reason', 'new-lead', 'changes', '{}'::json,
         'expect', '{}'::json, 'isDoubted', false)) as actions,
       null as held, array[]::text[] as moved, false as "isLeadGone", false as "isDeletionDone", false as "isApart"
     from scan_pages p cross join lateral json_array_elements(p.body::json) with ordinality e (line, nth)
     where p.run_id = $1 and p.settled < p.leads and (p.round is null or p.round = $2 and $3) and e.nth > p.settled and json_typeof(e.line) = 'array'`,
    [run.id, run.round, run.mode !== 'plan'],
  );
  for await (const stored of ofPages) yield asAudited(stored);
}

function asAudited({ lead, cells, isLeadMissed, isRowMissed, ...stored }: StoredRecord): AuditedRecord {
  const actions = (stored.actions ?? []).map(({ changes, ...action }) => ({
    ...action,
    to: written(changes),
  }));
  const moved = new Set(stored.moved);
  // A new lead that was stored with others: its row was to show what it shows.
  const paged = stored.base === null ? actions.find(({ kind }) => kind === 'create-row')?.to : undefined;
  const asAgreed = asBefore(stored.base, moved);
  return {
    ...stored,
    actions,
    moved,
    held: new Set(stored.held),
    lead: lead ?? (isLeadMissed ? (paged ?? null) : asAgreed),
    cells: cells ?? (isRowMissed ? null : asAgreed),
  };
}

function written(changes: Changes): Cells {
  return Object.fromEntries(Object.entries(changes).map(([field, { to }]) => [field, to]));
}

/** A side that showed its baseline when it was read: where that has moved since, it shows something that is not known any more. */
function asBefore(base: Values | null, moved: ReadonlySet<string>): Cells | null {
  if (base === null || moved.size === 0) return base;
  const before = { unreadable: '(what both sides agreed on before)' };
  return Object.fromEntries(
    Object.entries(base).map(([field, value]) => [field, moved.has(field) ? before : value]),
  );
}

/** Of the conditions of a run what is stored of it and its connection. */
export function auditedConditions(
  db: Queryable,
  run: RunRef & RoundRef,
): Promise<
  Pick<AuditConditions, 'holdsNew' | 'holdsStrays' | 'holdsMatches' | 'holdsOldRows' | 'isInDoubt'>
> {
  return oneOf(
    db,
    `select exists (select from actions where connection = $3 and ${isUnsettled}) as "isInDoubt",
       coalesce(bool_or(reason in ('row.id-unreadable', 'row.id-lost', 'row.id-moved', 'row.orphan', 'lead.unasked', 'row.duplicate-id')), false) as "holdsStrays",
       coalesce(bool_or(reason = 'row.column-missing'), false) as "holdsNew",
       coalesce(bool_or(reason like 'match.%'), false) as "holdsMatches", coalesce(bool_or(reason = 'row.put-back'), false) as "holdsOldRows"
     from actions where run_id = $1 and round = $2 and kind = 'hold'`,
    [run.id, run.round, run.connection],
  );
}
