import { hashContent, hasUnreadable, readableFingerprint } from '../core/lead/content-hash.ts';
import type { FieldMapping } from '../core/lead/mapping.ts';
import { batchesBySize } from '../core/lead/text-size.ts';
import type { IdSet } from '../core/lead/id-set.ts';
import { type Cells, isUnreadable, type Value, type Values } from '../core/lead/value.ts';
import { showsBase } from '../core/merge/difference.ts';
import { type Queryable, rowsOf } from './database.ts';
import { asServiceSpells, storeSpellings } from './lead-spellings.ts';
import { type SeenPairs, storeSeen } from './seen-pairs.ts';
import { type PageLine, storePage } from './scan-pages.ts';
import type { RunMode } from './runs.ts';
import { meetSealed, seal } from './seals.ts';

interface RunRef {
  readonly id: number;
  readonly connection: string;
  /** Only a sync makes seals: nothing else moves pairs meanwhile. */
  readonly mode: RunMode;
}

export interface ScannedLead {
  readonly leadId: string;
  /** All that its cells are made of. */
  readonly shown: string;
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

/** What is known of a lead id. */
interface Known {
  /** Null: it is no pair. */
  readonly pairId: number | null;
  /** The baseline; null, too, where more is to be decided than values: a side was missed before, or the lead was deleted. */
  readonly settled: Values | null;
  /** Where its row stood last. */
  readonly row: number | null;
}

/** What is known of some lead ids, in the same order. `limit`: so that each is found by the index, and not all pairs are read. */
async function lookUp(
  db: Queryable,
  connection: string,
  leadIds: readonly string[],
): Promise<readonly Known[]> {
  if (leadIds.length === 0) return [];
  return rowsOf(
    db,
    `select p.id as "pairId", p.row_number as row,
       case when p.lead_deleted_at is null and p.lead_absences = 0 and p.row_absences = 0 then p.base end as settled
     from unnest($2::text[]) with ordinality as r (lead_id, nth)
     left join lateral (select * from pairs where connection = $1 and lead_id = r.lead_id limit 1) p on true order by nth`,
    [connection, leadIds],
  );
}

/**
 * Stages leads, each once: whole when they moved since both sides last agreed, else only as met; together in a page when they are
 * new and `newIds`, what is new in this scan, is given. The last sight of an id wins. `isKnown`: false when the connection has
 * no pairs, so that nothing is looked up. `repeated`: how many of them the scan had seen before. When it throws, `met` and `newIds`
 * may have some of them already.
 */
export async function stageLeads(
  db: Queryable,
  run: RunRef,
  leads: readonly ScannedLead[],
  fields: readonly FieldMapping[],
  met: SeenPairs,
  newIds: IdSet | null = null,
  isKnown = true,
): Promise<{ readonly repeated: readonly string[]; readonly bytes: number }> {
  const settings = isKnown ? JSON.stringify(fields) : null;
  const batch = await meetSealed(db, run, 'lead', leads, settings, met);
  const known = await lookUp(db, run.connection, isKnown ? batch.open.map(({ leadId }) => leadId) : []);
  await storeSpellings(
    db,
    run.connection,
    leads.map(({ leadId }) => leadId),
  );
  const newlyMet: number[] = [];
  const pairs = new Set<string>();
  const repeatedPairs = new Set<string>();
  const repeatedNew = new Set<string>();
  const page: PageLine[] = [];
  const asBefore = new Map<ScannedLead, number>();
  const moved = batch.open.filter((lead, nth) => {
    const { leadId, cells } = lead;
    const { pairId, settled } = known[nth] ?? noPair;
    if (pairId === null) {
      if (newIds?.mayHave(leadId) === true) repeatedNew.add(leadId);
      newIds?.add(leadId);
      const isPaged = newIds !== null && !repeatedNew.has(leadId) && isReadable(cells);
      if (isPaged) page.push([leadId, cells]);
      return !isPaged;
    }
    if (met.add(pairId)) newlyMet.push(pairId);
    else repeatedPairs.add(leadId);
    pairs.add(leadId);
    if (repeatedPairs.has(leadId) || !showsBase(cells, settled)) return true;
    asBefore.set(lead, pairId);
    return false;
  });
  if (run.mode === 'sync') await seal(db, run.connection, 'lead', batch, asBefore, met);
  const movedPairs = moved.filter(({ leadId }) => !repeatedPairs.has(leadId) && pairs.has(leadId)).length;
  const unmoved = newlyMet.length - movedPairs;
  let pageBytes = 0;
  for (const lines of batchesBySize(page, () => page.length))
    pageBytes += bytesOf(await storePage(db, run.id, lines), lines);
  if (moved.length === 0) {
    await storeSeen(db, run.id, 'lead', newlyMet, unmoved);
    return { repeated: [], bytes: pageBytes };
  }
  const { rows, bytes } = await insertStaged(db, run.id, moved, fields);
  // Met as in the baseline the first time, and staged now.
  const stagedAfterAll = rows.filter((row) => !row.repeated && repeatedPairs.has(row.leadId)).length;
  await storeSeen(db, run.id, 'lead', newlyMet, unmoved - stagedAfterAll);
  const isRepeated = (leadId: string): boolean => repeatedPairs.has(leadId) || repeatedNew.has(leadId);
  const repeated = rows.filter((row) => row.repeated || isRepeated(row.leadId));
  return { repeated: repeated.map(({ leadId }) => leadId), bytes: bytes + pageBytes };
}

function isReadable(cells: Cells): cells is Readonly<Record<string, Value>> {
  for (const field in cells) if (isUnreadable(cells[field])) return false;
  return true;
}

/** Stages leads whole, each in place of an earlier sight (`repeated`); with `isEarlier` a later one stays. */
export async function insertStaged(
  db: Queryable,
  runId: number,
  leads: readonly Omit<ScannedLead, 'shown'>[],
  fields: readonly FieldMapping[],
  isEarlier = false,
): Promise<{
  readonly rows: readonly { readonly leadId: string; readonly repeated: boolean }[];
  readonly bytes: number;
}> {
  const staged = leads.map(({ leadId, cells }) => ({
    leadId,
    cells: JSON.stringify(cells),
    hash: readableFingerprint(cells, fields),
  }));
  // One text: arrays of texts take several times as long to write and to read, objects within it a fourth longer.
  const json = JSON.stringify(staged);
  const { rows } = await db.query<{ leadId: string; repeated: boolean }>(
    `insert into staged_leads (run_id, lead_id, cells, hash)
     select $1, "leadId", cells::jsonb, hash from json_to_recordset($2::json) as l ("leadId" text, cells text, hash text)
     on conflict (run_id, lead_id) do ${isEarlier ? 'nothing' : 'update set cells = excluded.cells, hash = excluded.hash'}
     returning lead_id as "leadId", (xmax <> 0) as repeated`,
    [runId, json],
  );
  return { rows, bytes: bytesOf(json, staged) };
}

/** How the rows of a target are staged. */
export interface RowStaging {
  readonly fields: readonly FieldMapping[];
  /** A field without a column is in no row: then rows are not as in the baseline, whatever they show. */
  readonly isWhole: boolean;
  /** What the status column shows of an ordinary row; null: there is no status column. */
  readonly usualStatus: string | null;
  /** Whether an id says by itself whose row it is; else the service spells some otherwise, and learns more of them. */
  readonly isSealable: boolean;
}

/**
 * Stages a batch of rows: whole when they moved since both sides last agreed, only their place and status when these are
 * other ones, else as met. `bytes` that they take, roughly; `left`: those of which no seal speaks.
 */
export async function stageRows(
  db: Queryable,
  run: RunRef,
  read: readonly ScannedRow[],
  { fields, isWhole, usualStatus, isSealable }: RowStaging,
  met: SeenPairs,
): Promise<{ readonly bytes: number; readonly left: readonly ScannedRow[] }> {
  const ids = read.flatMap(({ leadId }) => leadId ?? []);
  const settings =
    isSealable && new Set(ids).size === ids.length ? JSON.stringify([fields, isWhole, usualStatus]) : null;
  const sealable = read.map((row) => ({
    row,
    leadId: row.leadId,
    shown: JSON.stringify([row.leadId, row.row, row.status, row.cells]),
  }));
  const batch = await meetSealed(db, run, 'row', sealable, settings, met);
  const spelled = await asServiceSpells(
    db,
    run.connection,
    batch.open.flatMap(({ leadId }) => leadId ?? []),
  );
  const rows = batch.open.map(({ row }) => ({
    ...row,
    leadId: row.leadId && (spelled.get(row.leadId) ?? row.leadId),
  }));
  const named = rows.flatMap(({ leadId }) => leadId ?? []);
  const known = (await lookUp(db, run.connection, named)).values();
  const newlyMet: number[] = [];
  let unmoved = 0;
  const usual = new Map<(typeof sealable)[number], number>();
  const staged = rows.flatMap((row, nth): readonly StagedRow[] => {
    const { pairId, settled, row: place } = (row.leadId === null ? null : known.next().value) ?? noPair;
    const duplicate = pairId !== null && !met.add(pairId);
    if (pairId !== null && !duplicate) newlyMet.push(pairId);
    const isShown = isWhole && fields.every(({ field }) => field in row.cells);
    const asBefore = isShown && !duplicate && showsBase(row.cells, settled);
    if (asBefore) unmoved += 1;
    if (asBefore && place === row.row && row.status === usualStatus) {
      const one = batch.open[nth];
      if (one !== undefined && pairId !== null) usual.set(one, pairId);
      return [];
    }
    const at = { ...row, duplicate };
    if (asBefore) return [{ ...at, cells: null, hash: null, contentHash: '' }];
    const contentHash = hashContent(row.cells, fields);
    return [{ ...at, hash: hasUnreadable(row.cells, fields) ? null : contentHash, contentHash }];
  });
  await storeSeen(db, run.id, 'row', newlyMet, unmoved);
  const unsealed =
    run.mode === 'sync' ? await seal(db, run.connection, 'row', batch, usual, met) : batch.open;
  const left = unsealed.map(({ row }) => row);
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

interface StagedRow extends Omit<ScannedRow, 'cells'> {
  /** Null: as in the baseline. */
  readonly cells: Cells | null;
  /** Null when a cell is unreadable, and without cells. */
  readonly hash: string | null;
  readonly contentHash: string;
  readonly duplicate: boolean;
}

const noPair: Known = { pairId: null, settled: null, row: null };

/** Flags every row whose id an earlier row has, of ids that are no pair. Called once, after all rows are staged. */
export async function flagDuplicateRows(db: Queryable, runId: number): Promise<void> {
  await db.query(
    `update staged_rows r set duplicate = true
     from (select lead_id, min(ordinal) as first from staged_rows
           where run_id = $1 and lead_id is not null group by lead_id having count(*) > 1) d
     where r.run_id = $1 and r.lead_id = d.lead_id and r.ordinal > d.first`,
    [runId],
  );
}
