import type pg from 'pg';
import type { Value, Values } from '../core/lead/value.ts';
import { columnOf, countOf, mapOf, oneOf, type Queryable } from './database.ts';
import type { RunRef } from './runs.ts';

/** Whether a record that a side did not show may be gone. */
export interface AbsenceProof {
  readonly leads: boolean;
  readonly rows: boolean;
  /** Of a lead that a scan did not show, and that is gone by its id as well. */
  readonly answers: boolean;
  /** Of a row whose lead the scan did not show either: a lead outside of a filter may come back. */
  readonly rowsAlone: boolean;
}

const known = `from pairs where connection = $1 and base is not null and lead_deleted_at is null`;

/** How many pairs were ever in step: what the guard measures against. */
export function countKnownPairs(db: Queryable, connection: string): Promise<number> {
  return countOf(db, known, [connection]);
}

/** How many leads are known, and how many of them the scan did not show. */
export function countUnlisted(
  db: Queryable,
  run: RunRef,
): Promise<{ readonly known: number; readonly unlisted: number }> {
  return oneOf(
    db,
    `select (select count(*)::int from pairs where connection = $2 and lead_deleted_at is null) as known, count(*)::int as unlisted
     from absent_pairs m join pairs p on p.connection = $2 and p.lead_id = m.lead_id
     where m.run_id = $1 and m.lead and p.lead_deleted_at is null`,
    [run.id, run.connection],
  );
}

/** Some known leads from anywhere among all; of a run (`runId`) that its scan did not show. */
export function someKnown(
  db: Queryable,
  connection: string,
  count: number,
  runId: number | null = null,
): Promise<readonly string[]> {
  return columnOf(
    db,
    `select lead_id from pairs p where connection = $1 and lead_deleted_at is null
       and ($3::bigint is null or exists (select from absent_pairs where run_id = $3 and lead_id = p.lead_id and lead))
     order by lead_absences, hashtext(lead_id), lead_id limit $2`,
    [connection, count, runId],
  );
}

/** How many leads are known. */
export function countKnownLeads(db: Queryable, connection: string): Promise<number> {
  return countOf(db, 'from pairs where connection = $1 and lead_deleted_at is null', [connection]);
}

/** Whether any pair was ever in step. */
export async function wasEverInStep(db: Queryable, connection: string): Promise<boolean> {
  return (await db.query(`select ${known} limit 1`, [connection])).rowCount === 1;
}

/**
 * Stores what the scan alone proves. Equal sides become the baseline, in every field with a column. Every lead of the scan
 * is known from now on, except those that a create in doubt may have made (`unsettled`). An absent id is counted once per
 * run, on each side only where absence is proof and its row not undecided; with a filter, of a row only while the list shows its lead. Rows get their current number: of a merged row
 * that of the remaining one, which counts as present; an absent row keeps its last. Returns the number of pairs stored.
 */
export async function adoptScan(
  db: Queryable,
  run: RunRef,
  isProof: AbsenceProof,
  unsettled: readonly string[],
): Promise<number> {
  const scope = [run.id, run.connection];
  // After `forget` the planner believes the table is empty, and would scan all new pairs for each row.
  await db.query('set local enable_seqscan = off');
  // Looked up first: an insert that conflicts costs several times as much, and in most nights all would.
  const inStep = await db.query(
    `insert into pairs (connection, lead_id, base, row_number)
     select $2, l.lead_id, t.cells, t.row_number
     from staged_leads l join staged_rows t on t.run_id = $1 and t.lead_id = l.lead_id and not t.duplicate
     left join pairs p on p.connection = $2 and p.lead_id = l.lead_id
     where l.run_id = $1 and l.hash = t.hash
       and (p.base is null or not p.base @> t.cells or p.lead_deleted_at is not null)
     on conflict (connection, lead_id) do update set base = coalesce(pairs.base, '{}') || excluded.base, lead_deleted_at = null`,
    scope,
  );
  await db.query('set local enable_seqscan = on');
  const others = await db.query(
    `insert into pairs (connection, lead_id, row_absences, absence_run, row_number)
     select $2, l.lead_id, case when t.lead_id is null then $4::int else 0 end, $1, t.row_number
     from staged_leads l left join staged_rows t on t.run_id = $1 and t.lead_id = l.lead_id and not t.duplicate
     left join pairs p on p.connection = $2 and p.lead_id = l.lead_id
     where l.run_id = $1 and l.lead_id <> all($3) and (p.lead_id is null or p.lead_deleted_at is not null)
     on conflict (connection, lead_id) do update set lead_deleted_at = null`,
    [...scope, unsettled, isProof.rows ? 1 : 0],
  );
  await db.query(
    `update pairs p set
       lead_absences = case when seen.lead then 0 else p.lead_absences + greatest($3::int, $5::int * seen.is_gone) * seen.first_look end,
       row_absences = case when seen.row then 0 when seen.undecided or not ($6 or seen.lead) then p.row_absences
         else p.row_absences + $4::int * seen.first_look end,
       absence_run = $1, row_number = seen.row_number
     from (select p.lead_id, m.lead is not true as lead, m.row is not true or m.merged is not null as row,
             (p.absence_run is distinct from $1)::int as first_look,
             coalesce(m.undecided, false) as undecided, (coalesce(q.answer, '') = 'gone')::int as is_gone,
             coalesce((m.merged->>'row')::bigint, t.row_number, p.row_number) as row_number
           from (select lead_id from staged_leads where run_id = $1
                 union select lead_id from staged_rows where run_id = $1 and lead_id is not null and not duplicate
                 union select lead_id from absent_pairs where run_id = $1) ids
           join pairs p on p.connection = $2 and p.lead_id = ids.lead_id
           left join staged_leads l on l.run_id = $1 and l.lead_id = ids.lead_id
           left join staged_rows t on t.run_id = $1 and t.lead_id = ids.lead_id and not t.duplicate
           left join absent_pairs m on m.run_id = $1 and m.lead_id = ids.lead_id
           left join asked_leads q on q.run_id = $1 and q.lead_id = ids.lead_id
           where m.lead_id is not null and p.absence_run is distinct from $1
             or l.lead_id is not null and p.lead_absences > 0 or t.lead_id is not null and p.row_absences > 0
             or t.row_number is distinct from p.row_number and t.lead_id is not null) seen
     where p.connection = $2 and p.lead_id = seen.lead_id`,
    [...scope, isProof.leads ? 1 : 0, isProof.rows ? 1 : 0, isProof.answers ? 1 : 0, isProof.rowsAlone],
  );
  return (inStep.rowCount ?? 0) + (others.rowCount ?? 0);
}

/**
 * Notes which leads are outside of the filter: those that a complete scan lacks, also when they were read by their ids; back is
 * what the list shows. Called when the scan is adopted. Without a filter none is.
 */
export async function noteOutside(
  db: Queryable,
  run: RunRef,
  { isFiltered, isComplete }: { readonly isFiltered: boolean; readonly isComplete: boolean },
): Promise<void> {
  const unlisted = `(select lead_id from absent_pairs where run_id = $1 and lead
    union select lead_id from asked_leads where run_id = $1)`;
  const scope = [run.id, run.connection];
  await db.query(
    `update pairs set outside_since = null where connection = $2 and outside_since is not null
       and not ($3 and lead_id in ${unlisted})`,
    [...scope, isFiltered],
  );
  if (!isFiltered || !isComplete) return;
  await db.query(
    `update pairs set outside_since = now() where connection = $2 and outside_since is null and lead_id in ${unlisted}`,
    scope,
  );
}

/** Whether a lead is outside of the filter. */
export async function isOutside(db: Queryable, connection: string, leadId: string): Promise<boolean> {
  const text = `from pairs where connection = $1 and lead_id = $2 and outside_since is not null`;
  return (await countOf(db, text, [connection, leadId])) > 0;
}

/** How many leads with a row are outside of the filter. */
export function countOutside(db: Queryable, connection: string): Promise<number> {
  return countOf(
    db,
    `from pairs where connection = $1 and outside_since is not null and base is not null and lead_deleted_at is null
       and row_absences = 0`,
    [connection],
  );
}

/** Runs a statement on the pairs of some leads, unless there are none. */
async function changePairs(
  db: Queryable,
  connection: string,
  leadIds: readonly string[],
  statement: string,
  and = '',
): Promise<void> {
  if (leadIds.length === 0) return;
  await db.query(`${statement} where connection = $1 and lead_id = any($2) ${and}`, [connection, leadIds]);
}

/** The rows of these leads were just written: what scans before did not see of them says nothing of a deletion. */
export function rowsPresent(db: Queryable, connection: string, leadIds: readonly string[]): Promise<void> {
  return changePairs(db, connection, leadIds, 'update pairs set row_absences = 0', 'and row_absences > 0');
}

/** The last row numbers of leads, by lead id; without leads that never had a row. */
export function placesOf(
  db: Queryable,
  connection: string,
  leadIds: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  return valuesOf(db, connection, leadIds, 'row_number');
}

/** Stores the row numbers of leads. */
export async function noteRows(
  db: Queryable,
  connection: string,
  rows: readonly { readonly leadId: string; readonly row: number }[],
): Promise<void> {
  if (rows.length === 0) return;
  await db.query(
    `update pairs p set row_number = n."row" from json_to_recordset($2::json) as n ("leadId" text, "row" bigint)
     where p.connection = $1 and p.lead_id = n."leadId" and p.row_number is distinct from n."row"`,
    [connection, JSON.stringify(rows)],
  );
}

/**
 * Moves baselines: only to values that both sides were seen to show. `row`: the number of a row that was just written, which
 * ends its absence.
 */
export async function advanceBaselines(
  db: Queryable,
  connection: string,
  moves: readonly { readonly leadId: string; readonly values: Values; readonly row?: number | undefined }[],
): Promise<void> {
  if (moves.length === 0) return;
  const byLead = new Map<string, (typeof moves)[number]>();
  for (const move of moves) {
    const before = byLead.get(move.leadId);
    if (before === undefined) byLead.set(move.leadId, move);
    else {
      const values = { ...before.values, ...move.values };
      byLead.set(move.leadId, { ...move, values, row: move.row ?? before.row });
    }
  }
  const rows = [...byLead.values()].map((move) => ({ ...move, values: JSON.stringify(move.values) }));
  await db.query(
    `insert into pairs (connection, lead_id, base, row_number)
     select $1, "leadId", "values"::jsonb, "row"
     from json_to_recordset($2::json) as m ("leadId" text, "values" text, "row" bigint)
     on conflict (connection, lead_id) do update set base = coalesce(pairs.base, '{}') || excluded.base,
       row_number = coalesce(excluded.row_number, pairs.row_number),
       row_absences = case when excluded.row_number is null then pairs.row_absences else 0 end`,
    [connection, JSON.stringify(rows)],
  );
}

/** What a plan moves without any action. `values` null: the pair is forgotten. */
export interface PlannedMove {
  readonly leadId: string;
  readonly values: Values | null;
}

/**
 * Keeps what a plan moves until it is known whether it may: within the transaction, and in the database, since it may be
 * all pairs.
 */
export async function keepMoves(db: pg.PoolClient, moves: readonly PlannedMove[]): Promise<void> {
  await db.query(
    `create temp table if not exists planned_moves (lead_id text, "values" jsonb) on commit drop`,
  );
  const rows = moves.map(({ leadId, values }) => ({ leadId, values: values && JSON.stringify(values) }));
  await db.query(
    `insert into planned_moves select "leadId", "values"::jsonb
     from json_to_recordset($1::json) as m ("leadId" text, "values" text)`,
    [JSON.stringify(rows)],
  );
}

/** Carries out what was kept; at most one move of a lead. */
export async function makeKeptMoves(db: pg.PoolClient, connection: string): Promise<void> {
  await db.query(
    `insert into pairs (connection, lead_id, base)
     select $1, lead_id, "values" from planned_moves where "values" is not null
     on conflict (connection, lead_id) do update set base = coalesce(pairs.base, '{}') || excluded.base`,
    [connection],
  );
  await db.query(
    `delete from pairs p using planned_moves m where p.connection = $1 and p.lead_id = m.lead_id and m."values" is null`,
    [connection],
  );
}

/** Puts the baseline of some fields back to what it was: `undefined` when the two sides were never in step in it. */
export async function restoreBase(
  db: Queryable,
  connection: string,
  leadId: string,
  values: Readonly<Record<string, Value | undefined>>,
): Promise<void> {
  if (Object.keys(values).length === 0) return;
  await db.query(
    `update pairs set base = (base - $3::text[]) || $4::jsonb where connection = $1 and lead_id = $2 and base is not null`,
    [connection, leadId, Object.keys(values), JSON.stringify(values)],
  );
}

/** Forgets the baselines of some leads: they are leads that never had a row, or rows that never had a lead. */
export function clearBaselines(db: Queryable, connection: string, leadIds: readonly string[]): Promise<void> {
  return changePairs(db, connection, leadIds, 'update pairs set base = null');
}

/** Remembers that a lead's deletion was carried out on the row. */
export function markLeadDeleted(
  db: Queryable,
  connection: string,
  leadIds: readonly string[],
): Promise<void> {
  return changePairs(db, connection, leadIds, 'update pairs set lead_deleted_at = now()');
}

/** Drops pairs that are gone on both sides; what they were stays in the history. */
export function forgetPairs(db: Queryable, connection: string, leadIds: readonly string[]): Promise<void> {
  return changePairs(db, connection, leadIds, 'delete from pairs');
}

/** Every pair is a first sight again. */
export async function forgetAllPairs(db: Queryable, connection: string): Promise<void> {
  await db.query('delete from pairs where connection = $1', [connection]);
  await db.query('delete from restored where connection = $1', [connection]);
}

/** A column or expression of the pairs of some leads, by lead id; without nulls. */
async function valuesOf<T>(
  db: Queryable,
  connection: string,
  leadIds: readonly string[],
  column: string,
): Promise<ReadonlyMap<string, T>> {
  if (leadIds.length === 0) return new Map();
  return mapOf(
    db,
    `select lead_id as id, ${column} as value from pairs
     where connection = $1 and lead_id = any($2) and ${column} is not null`,
    [connection, leadIds],
  );
}

/** The baselines of some leads. */
export function basesOf(
  db: Queryable,
  connection: string,
  leadIds: readonly string[],
): Promise<ReadonlyMap<string, Values>> {
  return valuesOf(db, connection, leadIds, 'base');
}

/** What the companies of some leads are called: as both sides last agreed on it, else as a match of it shows. */
export function companiesOf(
  db: Queryable,
  connection: string,
  leadIds: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  if (leadIds.length === 0) return Promise.resolve(new Map());
  return mapOf(
    db,
    `select w.id, coalesce(p.base->>'companyName', m.name) as value from unnest($2::text[]) as w (id)
     left join pairs p on p.connection = $1 and p.lead_id = w.id
     left join lateral (select o.lead->>'companyName' as name from matches o
       where o.connection = $1 and o.lead_id = w.id order by o.current desc, o.id desc limit 1) m on true
     where coalesce(p.base->>'companyName', m.name) is not null`,
    [connection, leadIds],
  );
}

/** Those of these leads that are pairs. */
export async function knownOf(
  db: Queryable,
  connection: string,
  leadIds: readonly string[],
): Promise<ReadonlySet<string>> {
  return new Set((await valuesOf(db, connection, leadIds, 'lead_id')).keys());
}

/** Leads that were found to be deleted in the service and whose rows are still there: not missed, nor taken away. */
export function listDeleted(db: Queryable, connection: string): Promise<readonly string[]> {
  return columnOf(
    db,
    `select lead_id as id from pairs p where connection = $1 and lead_deleted_at is not null and row_absences = 0
       and (select a.kind from actions a join runs r on r.id = a.run_id
            where r.connection = $1 and a.lead_id = p.lead_id and a.state = 'done' and a.kind in ('create-row', 'remove-row') and a.done_at >= p.first_seen_at
            order by a.id desc limit 1) is distinct from 'remove-row'
     order by lead_id`,
    [connection],
  );
}
