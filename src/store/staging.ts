import { hashContent, hasUnreadable, readableFingerprint } from '../core/lead/content-hash.ts';
import type { FieldMapping } from '../core/lead/mapping.ts';
import { batchesBySize } from '../core/lead/text-size.ts';
import { type Cells, isUnreadable, type Value } from '../core/lead/value.ts';
import type { LiveScan, RowSight } from '../core/merge/live-scan.ts';
import type { MergedPlace } from '../core/lead/table-pieces.ts';
import { columnOf, type Queryable } from './database.ts';
import { loadSpellings, spelled, storeSpellings } from './lead-spellings.ts';
import type { RunRef } from './runs.ts';
import { type PageLine, storePage } from './scan-pages.ts';

export interface ScannedLead {
  readonly leadId: string;
  readonly cells: Cells;
}

export interface ScannedRow {
  /** Its place among all that were read. */
  readonly ordinal: number;
  readonly row: number;
  readonly leadId: string | null;
  /** As in TargetRow; the id is null then. */
  readonly unreadableId?: string;
  /** It has no id and stands apart from the table: no lead is made of it. */
  readonly apart?: boolean;
  /** As in TargetRow. */
  readonly idClosed?: string;
  readonly cells: Cells;
  /** What the status column shows; null when there is none. */
  readonly status: string | null;
}

/** What a staged record takes beside its JSON: places in indexes, and what Postgres keeps of a row. */
const bytesBeside = 250;

/** What records take while they are compared, roughly: counted, so that a side without an end does not fill the disk. */
const bytesOf = (json: string, records: readonly unknown[]): number =>
  Buffer.byteLength(json) + bytesBeside * records.length;

/**
 * Stages leads, each once: whole when they moved since both sides last agreed, else only as met; together in a page when they are
 * new and `areNewPaged`. The last sight of an id wins. `repeated`: those of them that the scan had seen before. When it throws,
 * `scan` may have some of them already.
 */
export async function stageLeads(
  db: Queryable,
  run: RunRef,
  leads: readonly ScannedLead[],
  scan: LiveScan,
  areNewPaged = false,
): Promise<{ readonly repeated: readonly string[]; readonly bytes: number }> {
  await storeSpellings(
    db,
    run.connection,
    leads.map(({ leadId }) => leadId),
  );
  const repeated: string[] = [];
  const page: PageLine[] = [];
  const moved = leads.filter(({ leadId, cells }) => {
    const sight = scan.seeLead(leadId, cells);
    if (sight === 'again') repeated.push(leadId);
    const isPaged = areNewPaged && sight === 'new' && isReadable(cells);
    if (isPaged) page.push([leadId, cells]);
    return !isPaged && sight !== 'as-base';
  });
  let bytes = 0;
  for (const lines of batchesBySize(page, () => page.length))
    bytes += bytesOf(await storePage(db, run.id, lines), lines);
  if (moved.length > 0) bytes += await insertStaged(db, run.id, moved, scan.base.fields);
  return { repeated, bytes };
}

function isReadable(cells: Cells): cells is Readonly<Record<string, Value>> {
  for (const field in cells) if (isUnreadable(cells[field])) return false;
  return true;
}

/** Stages leads whole, each in place of an earlier sight; with `isEarlier` a later one stays. Returns the bytes that they take. */
export async function insertStaged(
  db: Queryable,
  runId: number,
  leads: readonly ScannedLead[],
  fields: readonly FieldMapping[],
  isEarlier = false,
): Promise<number> {
  const staged = leads.map(({ leadId, cells }) => ({
    leadId,
    cells: JSON.stringify(cells),
    hash: readableFingerprint(cells, fields),
  }));
  // One text: arrays of texts take several times as long to write and to read, objects within it a fourth longer.
  const json = JSON.stringify(staged);
  await db.query(
    `insert into staged_leads (run_id, lead_id, cells, hash)
     select $1, "leadId", cells::jsonb, hash from json_to_recordset($2::json) as l ("leadId" text, cells text, hash text)
     on conflict (run_id, lead_id) do ${isEarlier ? 'nothing' : 'update set cells = excluded.cells, hash = excluded.hash'}`,
    [runId, json],
  );
  return bytesOf(json, staged);
}

/** How the rows of a target are staged. */
export interface RowStaging {
  /** A field without a column is in no row: then rows are not as in the baseline, whatever they show. */
  readonly isWhole: boolean;
  /** What the status column shows of an ordinary row; null: there is no status column. */
  readonly usualStatus: string | null;
  /** Whether the service spells any id otherwise than it is compared. */
  readonly isSpelled: boolean;
}

/** A row that is staged; `duplicate`: an earlier one has its id. */
export interface LeftRow extends ScannedRow {
  readonly duplicate: boolean;
}

/**
 * Stages a batch of rows: whole when they moved since both sides last agreed, only their place and status when these are
 * other ones, else as met. `bytes` that they take, roughly; `left`: those that are staged.
 */
export async function stageRows(
  db: Queryable,
  run: RunRef,
  read: readonly ScannedRow[],
  { isWhole, usualStatus, isSpelled }: RowStaging,
  scan: LiveScan,
): Promise<{ readonly bytes: number; readonly left: readonly LeftRow[] }> {
  const { fields } = scan.base;
  const left: LeftRow[] = [];
  const ids = isSpelled ? read.flatMap(({ leadId }) => leadId ?? []) : [];
  const spellings = await loadSpellings(db, run.connection, ids);
  const seen = read.map((row) => {
    const leadId = row.leadId && spelled(spellings, row.leadId);
    const hasAll = isWhole && fields.every(({ field }) => field in row.cells);
    return { row, leadId, sight: leadId === null ? noPair : scan.seeRow(leadId, row.cells, hasAll) };
  });
  const isGuess = ({ leadId, sight }: (typeof seen)[number]): boolean =>
    leadId !== null && sight.duplicate && scan.base.find(leadId) < 0;
  const met = await stagedIds(
    db,
    run.id,
    seen.filter(isGuess).flatMap(({ leadId }) => leadId ?? []),
  );
  const staged = seen.flatMap((one): readonly StagedRow[] => {
    const { row, leadId, sight } = one;
    const { isAsBase, place } = sight;
    const duplicate = isGuess(one) ? met.has(leadId ?? '') : sight.duplicate;
    if (leadId !== null) met.add(leadId);
    if (isAsBase && place === row.row && row.status === usualStatus) return [];
    left.push({ ...row, duplicate });
    const at = { ...row, leadId, duplicate };
    if (isAsBase) return [{ ...at, cells: null, hash: null, contentHash: '' }];
    const contentHash = hashContent(row.cells, fields);
    return [{ ...at, hash: hasUnreadable(row.cells, fields) ? null : contentHash, contentHash }];
  });
  if (staged.length === 0) return { bytes: 0, left };
  const json = JSON.stringify(
    staged.map((row) => ({ ...row, cells: row.cells && JSON.stringify(row.cells) })),
  );
  await db.query(
    `insert into staged_rows (run_id, ordinal, row_number, lead_id, unreadable_id, id_closed, cells, hash, content_hash, status, duplicate, apart)
     select $1, ordinal, "row", "leadId", "unreadableId", "idClosed", cells::jsonb, hash, "contentHash", status, duplicate, coalesce(apart, false)
     from json_to_recordset($2::json) as r (ordinal int, "row" bigint, "leadId" text, "unreadableId" text, "idClosed" text, cells text,
       hash text, "contentHash" text, status text, duplicate boolean, apart boolean)`,
    [run.id, json],
  );
  return { bytes: bytesOf(json, staged), left };
}

/** Those of these ids under which rows are staged. */
async function stagedIds(db: Queryable, runId: number, leadIds: readonly string[]): Promise<Set<string>> {
  if (leadIds.length === 0) return new Set();
  const text = `select distinct lead_id from staged_rows where run_id = $1 and lead_id = any($2)`;
  return new Set(await columnOf<string>(db, text, [runId, leadIds]));
}

interface StagedRow extends Omit<ScannedRow, 'cells'> {
  /** Null: as in the baseline. */
  readonly cells: Cells | null;
  /** Null when a cell is unreadable, and without cells. */
  readonly hash: string | null;
  readonly contentHash: string;
  readonly duplicate: boolean;
}

const noPair: RowSight = { isAsBase: false, duplicate: false, place: null };

/** Pairs stored together. */
const absentTogether = 5_000;

/**
 * Stores which pairs a complete scan has not met on one side or on both. Called once, after all rows are staged. `merged`: by where
 * they stood, rows that were merged into others: these are not gone.
 */
export async function storeAbsent(
  db: Queryable,
  runId: number,
  scan: LiveScan,
  merged: ReadonlyMap<number, MergedPlace>,
): Promise<void> {
  let some: object[] = [];
  const store = async (): Promise<void> => {
    await db.query(
      `insert into absent_pairs (run_id, lead_id, lead, "row", merged)
       select $1, a.* from json_to_recordset($2::json) as a ("leadId" text, lead boolean, "row" boolean, merged jsonb)`,
      [runId, JSON.stringify(some)],
    );
    some = [];
  };
  for (const { place, ...pair } of scan.absent()) {
    const into = pair.row && place !== null ? merged.get(place) : undefined;
    some.push({ ...pair, merged: into && { row: into.row, message: into.message } });
    if (some.length === absentTogether) await store();
  }
  if (some.length > 0) await store();
}
