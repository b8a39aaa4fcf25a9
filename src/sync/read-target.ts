import { shortHash } from '../lead/fingerprint.ts';
import { idKey, isLeadId } from '../lead/lead.ts';
import { type Cell, isUnreadable, storable } from '../lead/value.ts';
import { inStep } from '../merge/row-status.ts';
import { respellRows } from '../store/lead-spellings.ts';
import { MetPairs, noteMerged, noteMissed } from '../store/met-pairs.ts';
import { type Run, updateRun } from '../store/runs.ts';
import {
  analyzeStaged,
  clearStagedRows,
  countStaged,
  flagDuplicateRows,
  isMany,
  type RowStaging,
  type ScannedRow,
  stageRows,
} from '../store/staging.ts';
import type { TargetRow, TargetSnapshot } from '../targets/target.ts';
import { holding, type StepContext } from './context.ts';
import { readAhead } from './read-ahead.ts';
import { endless, usualScanBounds } from './scan-bounds.ts';

/** Batches of rows that are stored together; as many are read meanwhile. */
const batchesTogether = 2;

/** The rows of a target that are staged, and what is missing in it. */
export interface StagedTable {
  readonly rows: number;
  readonly missing: TargetSnapshot['missing'];
  readonly merged?: TargetSnapshot['merged'];
}

/** Reads the whole target and compares it with what was pulled. A plan does not create a target that is missing. */
export async function readTarget(context: StepContext, run: Run): Promise<Run> {
  return finishReading(context, run, await stageTable(context, run, run.mode === 'sync'));
}

/** Reads the whole target and stages what moved in it. Throws what the target throws, and `target.endless`. */
export async function stageTable(context: StepContext, run: Run, create: boolean): Promise<StagedTable> {
  const { target, connection, scanBounds = usualScanBounds } = context;
  await holding(context, (db) => clearStagedRows(db, run.id), 'repeatable');
  const snapshot = await target.open({ create, purpose: `${run.id} ${run.round}` }, context.stop);
  const staging: RowStaging = {
    fields: connection.fields,
    isWhole: snapshot.missing.length === 0,
    usualStatus: connection.target.statusColumn === undefined ? null : inStep,
  };
  const met = new MetPairs();
  let count = 0;
  let bytes = 0;
  for await (const batches of readAhead(snapshot.rows, batchesTogether)) {
    context.stop.throwIfAborted();
    const rows = batches.flat().map(storableRow);
    const from = count;
    bytes += await holding(context, (db) => stageRows(db, run, from, rows, staging, met), 'repeatable');
    count += rows.length;
    if (bytes > scanBounds.bytes)
      throw endless('target', `it has more than ${from} rows of ${scanBounds.bytes} bytes`);
  }
  const { missing, merged = new Map() } = snapshot;
  return { rows: count, missing, merged };
}

/** Ends a scan both sides of which are staged. */
export async function finishReading(context: StepContext, run: Run, table: StagedTable): Promise<Run> {
  await holding(
    context,
    async (db) => {
      await respellRows(db, run);
      await noteMissed(db, run);
      await noteMerged(db, run, table.merged ?? new Map());
    },
    'repeatable',
  );
  if (isMany(await countStaged(context.pool, run.id))) await analyzeStaged(context.pool);
  const problems = table.missing.map(({ field, message }) => ({
    code: 'target.column-missing',
    message,
    field,
  }));
  return holding(context, async (db) => {
    await flagDuplicateRows(db, run.id);
    return updateRun(db, run.id, {
      phase: 'plan',
      targetRows: table.rows,
      tries: 0,
      problems: [...run.problems.filter((problem) => problem.code !== 'target.column-missing'), ...problems],
    });
  });
}

function storableRow(row: TargetRow): ScannedRow {
  return {
    ...row,
    leadId: row.leadId === null ? null : keptId(row.leadId),
    ...(row.unreadableId !== undefined && { unreadableId: storable(row.unreadableId) }),
    cells: Object.fromEntries(Object.entries(row.cells).map(([field, cell]) => [field, kept(cell)])),
    status: row.status === null ? null : storable(row.status),
  };
}

/** What stands in the id column, or, when no lead can have it as its id, what tells it apart from others. */
function keptId(text: string): string {
  if (isLeadId(text)) return idKey(text);
  const shown = text
    .slice(0, 60)
    .toWellFormed()
    .replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]/gu, '');
  return `${shown} (${shortHash(text)})`;
}

function kept(cell: Cell): Cell {
  if (cell === null) return null;
  return isUnreadable(cell) ? { ...cell, unreadable: storable(cell.unreadable) } : storable(cell);
}
