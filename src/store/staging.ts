import type pg from 'pg';
import { shortHash } from '../lead/fingerprint.ts';
import type { Cell, Cells, Values } from '../lead/value.ts';
import type { FieldMemo } from '../merge/merge-field.ts';
import type { AbsenceProof } from './pairs.ts';
import { streamRows } from './stream-rows.ts';

type Queryable = pg.Pool | pg.PoolClient;

export interface StagedLead {
  readonly leadId: string;
  readonly cells: Cells;
  /** Null when a cell is unreadable. */
  readonly hash: string | null;
}

export interface StagedRow {
  readonly row: number;
  readonly leadId: string | null;
  readonly cells: Cells;
  readonly hash: string | null;
  readonly rowKey: string;
  /** What the status column shows; null when there is none. */
  readonly status: string | null;
}

/** What a staged record takes beside its JSON: places in indexes, and what Postgres keeps of a row. */
const bytesBeside = 250;

/** What records take while they are compared, roughly: counted, so that a side without an end does not fill the disk. */
const bytesOf = (json: string, records: readonly unknown[]): number =>
  Buffer.byteLength(json) + bytesBeside * records.length;

/** Stages leads; the last sight of an id wins. `repeated`: how many of them were staged before. */
export async function stageLeads(
  db: Queryable,
  runId: number,
  leads: readonly StagedLead[],
): Promise<{ readonly repeated: number; readonly bytes: number }> {
  // One text: arrays of texts take several times as long to write and to read.
  const json = JSON.stringify(leads);
  const { rows } = await db.query<{ repeated: boolean }>(
    `insert into staged_leads (run_id, lead_id, cells, hash)
     select $1, * from json_to_recordset($2::json) as l ("leadId" text, cells jsonb, hash text)
     on conflict (run_id, lead_id) do update set cells = excluded.cells, hash = excluded.hash
     returning (xmax <> 0) as repeated`,
    [runId, json],
  );
  return { repeated: rows.filter((row) => row.repeated).length, bytes: bytesOf(json, leads) };
}

/** Remembers that the scan uses these cursors. False when it used one of them before. */
export async function useCursors(db: Queryable, runId: number, cursors: readonly string[]): Promise<boolean> {
  const { rowCount } = await db.query(
    `insert into scan_cursors (run_id, cursor) select $1, unnest($2::text[]) on conflict do nothing`,
    // An index takes no text of more than some 2,700 bytes.
    [runId, cursors.map(shortHash)],
  );
  return rowCount === cursors.length;
}

/** How many cursors this scan has used. */
export async function countCursors(db: Queryable, runId: number): Promise<number> {
  const { rows } = await db.query<{ count: number }>(
    `select count(*)::int as count from scan_cursors where run_id = $1`,
    [runId],
  );
  return rows[0]?.count ?? 0;
}

export async function clearStagedRows(db: Queryable, runId: number): Promise<void> {
  await db.query(`delete from staged_rows where run_id = $1`, [runId]);
}

/** Stages a batch of rows; `from` is the ordinal of the first one. Returns the bytes that they take, roughly. */
export async function stageRows(
  db: Queryable,
  runId: number,
  from: number,
  rows: readonly StagedRow[],
): Promise<number> {
  const json = JSON.stringify(rows);
  await db.query(
    `insert into staged_rows (run_id, ordinal, row_number, lead_id, cells, hash, row_key, status)
     select $1, $2 + nth - 1, "row", "leadId", cells, hash, "rowKey", status
     from rows from (json_to_recordset($3::json)
       as ("row" bigint, "leadId" text, cells jsonb, hash text, "rowKey" text, status text)) with ordinality
       as r ("row", "leadId", cells, hash, "rowKey", status, nth)`,
    [runId, from, json],
  );
  return bytesOf(json, rows);
}

/** Below it Postgres joins fast in any way; above, its planner has to know what there is. */
const manyRecords = 5_000;

/** Whether Postgres needs statistics of so many new records. */
export function isMany(records: number): boolean {
  return records >= manyRecords;
}

/**
 * Tells the planner what a large run has staged. Of a new run it knows nothing otherwise, takes it for one record, and
 * compares each row with each lead. Not within a transaction: two runs would wait for each other.
 */
export async function analyzeStaged(pool: pg.Pool): Promise<void> {
  await pool.query(`analyze staged_leads (run_id, lead_id), staged_rows (run_id, lead_id, duplicate)`);
}

/** The same for what a large plan has stored. */
export async function analyzePlanned(pool: pg.Pool): Promise<void> {
  await pool.query(`analyze pairs (connection, lead_id), actions (id, run_id, round, kind, state, lead_id)`);
}

/** Flags every row whose id an earlier row has. Called once, after all rows are staged. */
export async function flagDuplicateRows(db: Queryable, runId: number): Promise<void> {
  await db.query(
    `update staged_rows r set duplicate = true
     from (select lead_id, min(ordinal) as first from staged_rows
           where run_id = $1 and lead_id is not null group by lead_id having count(*) > 1) d
     where r.run_id = $1 and r.lead_id = d.lead_id and r.ordinal > d.first`,
    [runId],
  );
}

/** What a field of a lead was held for, with the values both sides showed then. */
interface HeldMemo extends FieldMemo {
  readonly lead: Cell;
  readonly row: Cell;
}

/** A lead id on which the two sides do not show the same. */
export interface Difference {
  readonly leadId: string;
  readonly base: Values | null;
  readonly lead: Cells | null;
  readonly row: Cells | null;
  readonly rowNumber: number | null;
  readonly leadAbsences: number;
  readonly rowAbsences: number;
  readonly deletionDone: boolean;
  readonly memo: Readonly<Record<string, HeldMemo>> | null;
}

/**
 * Streams every lead id that needs a decision, in the order of the ids; a pair whose two sides show the same needs
 * none. Absences count this run's scan where it is proof.
 */
export async function* differences(
  pool: pg.Pool,
  run: { readonly id: number; readonly connection: string },
  isProof: AbsenceProof,
): AsyncIterable<Difference> {
  // The ids first, and each record looked up by its own: joins of whole records take several times as long. The limits
  // keep Postgres, which cannot know that few differ, from making such joins of the lookups.
  yield* streamRows<Difference>(
    pool,
    `select w.lead_id as "leadId", p.base, l.cells as lead, t.cells as row, t.row_number as "rowNumber",
       case when l.lead_id is not null then 0
         else coalesce(p.lead_absences, 0) + ($3 and p.absence_run is distinct from $1)::int end as "leadAbsences",
       case when t.lead_id is not null then 0
         else coalesce(p.row_absences, 0) + ($4 and p.absence_run is distinct from $1)::int end as "rowAbsences",
       p.lead_deleted_at is not null as "deletionDone", h.memo
     from (
       select lead_id from (select lead_id, hash from staged_leads where run_id = $1) l
         full join (select lead_id, hash from staged_rows where run_id = $1 and lead_id is not null and not duplicate) t
         using (lead_id) where l.hash is null or t.hash is null or l.hash <> t.hash
       union all
       select lead_id from pairs p where connection = $2
         and not exists (select from staged_leads where run_id = $1 and lead_id = p.lead_id)
         and not exists (select from staged_rows where run_id = $1 and lead_id = p.lead_id)) w
     left join lateral (select * from staged_leads where run_id = $1 and lead_id = w.lead_id limit 1) l on true
     left join lateral (
       select * from staged_rows where run_id = $1 and lead_id = w.lead_id and not duplicate limit 1) t on true
     left join lateral (select * from pairs where connection = $2 and lead_id = w.lead_id limit 1) p on true
     left join (select lead_id, jsonb_object_agg(field, jsonb_build_object('resolution', resolution,
         'refused', code = 'lead.field-refused', 'lead', lead_value, 'row', row_value)) as memo
       from held where connection = $2 and field <> '' group by lead_id) h on h.lead_id = w.lead_id
     order by w.lead_id`,
    [run.id, run.connection, isProof.leads, isProof.rows],
  );
}

/** A row that no lead id names. `refused`: why the service did not take exactly this content before. */
type LooseRow = Omit<StagedRow, 'status'> & { readonly duplicate: boolean; readonly refused: string | null };

/** Rows that no lead id names: those without an id and those whose id an earlier row has, in the target's order. */
export async function* looseRows(
  pool: pg.Pool,
  run: { readonly id: number; readonly connection: string },
): AsyncIterable<LooseRow> {
  yield* streamRows<LooseRow>(
    pool,
    `select r.row_number as row, r.lead_id as "leadId", r.cells, r.hash, r.row_key as "rowKey", duplicate, h.message as refused
     from staged_rows r
     left join held h on h.connection = $2 and h.row_key = r.row_key and h.lead_id = '' and h.code = 'lead.create-refused'
     where r.run_id = $1 and (r.lead_id is null or duplicate) order by ordinal`,
    [run.id, run.connection],
  );
}

/** Leads of the scan that were never seen in an earlier run: those that a lost create may have made. */
export async function unknownLeads(
  db: Queryable,
  run: { readonly id: number; readonly connection: string },
): Promise<readonly { readonly id: string; readonly cells: Cells }[]> {
  const { rows } = await db.query<{ id: string; cells: Cells }>(
    `select l.lead_id as id, l.cells from staged_leads l
     left join pairs p on p.connection = $2 and p.lead_id = l.lead_id
     where l.run_id = $1 and p.lead_id is null order by l.lead_id`,
    [run.id, run.connection],
  );
  return rows;
}

/** The staged cells of some leads. */
export async function stagedLeadCells(
  db: Queryable,
  runId: number,
  leadIds: readonly string[],
): Promise<ReadonlyMap<string, Cells>> {
  const { rows } = await db.query<{ id: string; cells: Cells }>(
    `select lead_id as id, cells from staged_leads where run_id = $1 and lead_id = any($2)`,
    [runId, leadIds],
  );
  return new Map(rows.map((row) => [row.id, row.cells]));
}

/** How many records are on either side: leads, and rows that belong to none of them; a row with an id that is there already is none. */
export async function countRecords(db: Queryable, runId: number): Promise<number> {
  const { rows } = await db.query<{ count: number }>(
    // Not as rows without a lead: of a new run the planner knows nothing, and compares each row with each lead.
    `select (count(*) + (select count(*) from staged_rows where run_id = $1 and not duplicate and lead_id is null))::int as count
     from (select lead_id from staged_leads where run_id = $1
           union select lead_id from staged_rows where run_id = $1 and not duplicate and lead_id is not null) as ids`,
    [runId],
  );
  return rows[0]?.count ?? 0;
}

/** Those of these leads whose id stands in a row. */
export async function idsInRows(
  db: Queryable,
  runId: number,
  leadIds: readonly string[],
): Promise<ReadonlySet<string>> {
  const { rows } = await db.query<{ leadId: string }>(
    `select lead_id as "leadId" from staged_rows where run_id = $1 and lead_id = any($2)`,
    [runId, leadIds],
  );
  return new Set(rows.map(({ leadId }) => leadId));
}

/** All rows without an id, in the target's order. Asked only while a create is unfinished. */
export async function looseStagedRows(
  db: Queryable,
  runId: number,
): Promise<readonly { readonly row: number; readonly rowKey: string; readonly cells: Cells }[]> {
  const { rows } = await db.query<{ row: number; rowKey: string; cells: Cells }>(
    `select row_number as row, row_key as "rowKey", cells from staged_rows where run_id = $1 and lead_id is null order by ordinal`,
    [runId],
  );
  return rows;
}
