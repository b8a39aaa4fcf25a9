import { LeadsyncError } from '../lib/errors.ts';
import { leadCells } from '../core/lead/lead.ts';
import { unmappedHash } from '../core/lead/content-hash.ts';
import { type Cell, type Cells, sameCell, type Value } from '../core/lead/value.ts';
import { doubtReplies } from '../store/services.ts';
import { IdSet } from '../core/lead/id-set.ts';
import { insertActions, type NewAction } from '../store/actions.ts';
import { storeUnmappedHashes, unreadCreates } from '../store/intents.ts';
import { newRowsSeen, newRowsToRead, newRowsWritten, ownAction } from '../store/new-rows.ts';
import { loadSpellings, spelled } from '../store/pairs.ts';
import {
  acceptReplies,
  countUnexplained,
  leadsToRead,
  type Finding,
  type VerificationResult,
  rowsToRead,
  rowsWritten,
  storeRowsNotMet,
  storeVerifications,
  type Written,
} from '../store/verifications.ts';
import { type Run, updateRun } from '../store/runs.ts';
import type { TargetRow } from '../ports/target.ts';
import { commitFindings } from './commit.ts';
import { inLeasedTransaction, scopeOf, type StepContext } from './context.ts';
import { readById } from './ask-leads.ts';
import { batchesWeighed, inLanes } from './concurrency.ts';
import { rememberWritten, usualStatusOf } from './table-memory.ts';

/** Batches of rows that are compared together while as many are read. */
const batchesTogether = 4;

/** Leads read again between two checkpoints. */
const pageSize = 20;

/** How often a record is read again before it counts as unexplained: a service may show a write a little later. */
const timesRead = 3;

/**
 * Reads again what this round wrote on both sides, and records whether it is there. Throws `receipt.unexplained` (retry
 * now) until it has looked several times; after that the run ends as failed and names the records.
 */
export async function verifyWrites(context: StepContext, run: Run): Promise<Run> {
  await readLeadsAgain(context, run);
  const areRepliesTrue = await inLeasedTransaction(context, async (db) => {
    const areTrue = await acceptReplies(db, run);
    if (!areTrue) await doubtReplies(db, scopeOf(context.connection));
    return areTrue;
  });
  if (!areRepliesTrue) await readLeadsAgain(context, run);
  await readRowsAgain(context, run);
  await readCreatesAgain(context, run);
  const unexplained = await countUnexplained(context.pool, run);
  if (unexplained > 0 && run.attempts + 1 < timesRead) {
    const message = `${unexplained} writes do not show when they are read again`;
    throw new LeadsyncError('receipt.unexplained', message, { retry: 'now' });
  }
  return inLeasedTransaction(context, (db) => updateRun(db, run.id, { phase: 'finish', attempts: 0 }));
}

async function readLeadsAgain(context: StepContext, run: Run): Promise<void> {
  let after = 0;
  for (;;) {
    const page = await leadsToRead(context.pool, run, after, pageSize);
    after = page.at(-1)?.actionId ?? after;
    const findings: Finding[] = [];
    const verify = async (written: Written): Promise<void> => {
      context.stop.throwIfAborted();
      findings.push(await verifyLead(context, written));
    };
    try {
      await inLanes(page, () => context.leads.lanes, verify);
    } finally {
      if (findings.length > 0) await commitFindings(context, run, findings);
    }
    if (page.length < pageSize) return;
  }
}

async function verifyLead(context: StepContext, written: Written): Promise<Finding> {
  const lead = await readById(context.leads, written.leadId, context.cut);
  if (lead === undefined) return { ...written, result: 'unexplained', lost: {} };
  const { fields } = context.connection;
  const finding = compare(written, lead && leadCells(lead, fields));
  return lead === null ? finding : { ...finding, others: unmappedHash(lead, fields) };
}

/** Reads leads that a scan found after a lost reply: an undo compares with what they had when they were made. */
async function readCreatesAgain(context: StepContext, run: Run): Promise<void> {
  for (const leadId of await unreadCreates(context.pool, run.id)) {
    context.stop.throwIfAborted();
    const lead = await readById(context.leads, leadId, context.cut);
    if (!lead) continue;
    const others = unmappedHash(lead, context.connection.fields);
    await inLeasedTransaction(context, (db) => storeUnmappedHashes(db, run, [{ leadId, others }]));
  }
}

/**
 * Reads the whole target once when a row was written, and notes where the written rows are; not when the target knows that all
 * are as written. Of several rows with one id the first counts. Rows that are as written, which nearly all are, are stored one by
 * one only when others have to be read once more; else only counted.
 */
async function readRowsAgain(context: StepContext, run: Run): Promise<void> {
  const { pool, target } = context;
  const toMeet = await rowsToRead(pool, run);
  const newRows = await newRowsToRead(pool, run);
  const written = toMeet.count + (newRows?.count ?? 0);
  if (written === 0) return;
  const version = await target.version?.(context.stop);
  if ((await target.standingWrites?.(context.stop)) === written) {
    if (newRows !== null) await recordNewRows(context, run, null);
    await inLeasedTransaction(context, (db) => updateRun(db, run.id, { rowsReadEqual: toMeet.count }));
    const { statusColumn } = context.connection.target;
    if (run.targetRows === 0 && statusColumn === undefined)
      await rememberWritten(context, run, written, version);
    return;
  }
  // By the action's id, from the first one on; 1: a row shows it.
  const equal = new Uint8Array(toMeet.last - toMeet.first + 1);
  let [met, metNew, rowsRead] = [0, 0, 0];
  let [isExplained, isUsual] = [true, run.targetRows === 0];
  const [seenNew, changedNew] = [new IdSet(), new Set<string>()];
  const usualStatus = usualStatusOf(context);
  const spellings = await loadSpellings(pool, run.connection);
  const purpose = `${run.id} ${run.round} receipt`;
  const snapshot = await target.open({ create: false, purpose }, context.stop);
  for await (const read of batchesWeighed(snapshot.rows, batchesTogether)) {
    context.stop.throwIfAborted();
    const rows = new Map<string, TargetRow>();
    rowsRead += read.length;
    isUsual &&= read.every(
      ({ status, other, paused }) => status === usualStatus && other !== true && paused !== true,
    );
    for (const row of read) {
      const leadId = row.leadId === null ? null : spelled(spellings, row.leadId);
      if (leadId !== null && !rows.has(leadId)) rows.set(leadId, row);
    }
    const found = await rowsWritten(pool, run, [...rows.keys()]);
    const toCompare = found.filter(({ actionId }) => equal[actionId - toMeet.first] === 0);
    const seen = toCompare.map((one) => compare(one, rows.get(one.leadId)?.cells ?? null));
    const places = toCompare.flatMap(({ leadId, notedRow }) => {
      const { row } = rows.get(leadId) ?? {};
      return row === undefined || row === notedRow ? [] : [{ leadId, row }];
    });
    const unverified = seen.filter(({ result }) => result !== 'equal');
    if (newRows !== null) {
      for (const one of await newRowsWritten(pool, run.connection, newRows, [...rows.keys()])) {
        const { leadId, values, notedRow } = one;
        const shown = rows.get(leadId);
        if (shown === undefined || seenNew.mayHave(leadId)) continue;
        seenNew.add(leadId);
        metNew += 1;
        const isEqual = ([field, value]: [string, Value]): boolean =>
          sameCell(shown.cells[field] ?? null, value);
        if (!Object.entries(values).every(isEqual)) changedNew.add(leadId);
        if (shown.row !== notedRow) places.push({ leadId, row: shown.row });
      }
    }
    if (unverified.length + places.length > 0) await commitFindings(context, run, unverified, places);
    for (const { actionId, result } of seen) if (result === 'equal') equal[actionId - toMeet.first] = 1;
    isExplained &&= unverified.every(({ result }) => result !== 'unexplained');
    met += seen.length;
  }
  if (newRows !== null) {
    const resultOfNew = (leadId: string): VerificationResult =>
      changedNew.has(leadId) ? 'changed' : seenNew.mayHave(leadId) ? 'equal' : 'unexplained';
    const areEqual = metNew === newRows.count && changedNew.size === 0;
    await recordNewRows(context, run, areEqual ? null : resultOfNew);
  }
  if (met === toMeet.count && isExplained) {
    const rowsReadEqual = equal.reduce((count, isEqual) => count + isEqual, 0);
    await inLeasedTransaction(context, (db) => updateRun(db, run.id, { rowsReadEqual }));
    if (isUsual && rowsReadEqual + metNew - changedNew.size === rowsRead)
      await rememberWritten(context, run, rowsRead, version);
    return;
  }
  await inLeasedTransaction(context, async (db) => {
    const verified = [...equal.keys()].filter((index) => equal[index] === 1);
    await storeVerifications(
      db,
      verified.map((index) => ({ actionId: toMeet.first + index, result: 'equal' })),
    );
    await storeRowsNotMet(db, run);
  });
}

/** Gives new rows that are not as written an action of their own. `resultOf` null: all are as written. */
async function recordNewRows(
  context: StepContext,
  run: Run,
  resultOf: ((leadId: string) => VerificationResult) | null,
): Promise<void> {
  await inLeasedTransaction(context, async (db) => {
    const others = await newRowsSeen(db, run, resultOf && ((leadId) => resultOf(leadId) !== 'equal'));
    const own = others.map((row): NewAction => {
      return { ...ownAction(row), state: 'done', outcome: { verification: resultOf?.(row[0]) } };
    });
    await insertActions(db, run, own);
  });
}

/** Whether a side shows what was written; `cells` null: the record is not there. */
function compare({ fields, ...written }: Written, cells: Cells | null): Finding {
  const { kind } = written;
  const finding = (result: VerificationResult, lost: Finding['lost'] = {}): Finding => ({
    ...written,
    result,
    lost,
  });
  const isRemoval = kind === 'remove-row' || kind === 'unlink' || kind === 'delete-lead';
  if (isRemoval || cells === null) return finding(isRemoval === (cells === null) ? 'equal' : 'unexplained');
  const shows = (field: string, value: Cell): boolean => sameCell(cells[field] ?? null, value);
  const differing = Object.entries(fields).filter(([field, { after }]) => !shows(field, after));
  // A new row had nothing before: an empty cell in it was emptied by somebody.
  const lost = differing.filter(([field, { before }]) => kind !== 'create-row' && shows(field, before));
  if (lost.length === 0) return finding(differing.length === 0 ? 'equal' : 'changed');
  return finding('unexplained', Object.fromEntries(lost.map(([field, { base }]) => [field, base])));
}
