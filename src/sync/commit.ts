import { isDeepStrictEqual } from 'node:util';
import type pg from 'pg';
import type { Values } from '../core/lead/value.ts';
import type { ActionKind, Changes } from '../core/merge/action.ts';
import { type BaselineMove, movesAfter } from '../core/merge/baseline-moves.ts';
import { putsBack } from '../core/merge/put-back.ts';
import type { RowOutcome } from '../ports/target.ts';
import {
  type Action,
  type ActionOutcome,
  insertActions,
  recordOutcomes,
  writtenCells,
} from '../store/actions.ts';
import { recordConflicts, type NewConflict, releaseRow } from '../store/conflicts.ts';
import { confirmLeadWrite, forgetWrites, recordHistory, recordLeadWrites } from '../store/history.ts';
import {
  abandonIntents,
  intentCreated,
  intentRefuted,
  intentsLinked,
  storeOthers,
} from '../store/intents.ts';
import { forgetMatches } from '../store/matches.ts';
import { copyPairs, knowLeads, knownOf } from '../store/new-pairs.ts';
import {
  advanceBaselines,
  clearBaselines,
  forgetPairs,
  markLeadDeleted,
  noteRows,
  restoreBase,
  rowsThere,
} from '../store/pairs.ts';
import { type Look, storeReceipts } from '../store/receipts.ts';
import { type Run, updateRun } from '../store/runs.ts';
import { ownAction, type PageLine, type SettledPage, settlePages } from '../store/scan-pages.ts';
import { inLeasedTransaction, type StepContext } from './context.ts';
import { basesOfMatched } from './matched-rows.ts';
import { actionsOnRow, isReplacing, readable, rowHistory } from './row-change.ts';

/** What became of an action on a lead that was carried out or refused. */
export interface LeadOutcome extends Omit<ActionOutcome, 'actionId'> {
  readonly held?: readonly NewConflict[];
  /** What was written to the lead. */
  readonly written?: Changes;
  /** By field what both sides agree on now; absent: nothing was carried out. */
  readonly agreed?: Values;
  /** What the row is to show of it, in the same round. */
  readonly toRow?: Changes;
  /** Of a create; `leadId` null: no lead was made. */
  readonly intent?: { readonly id: number; readonly leadId: string | null };
}

/** Stores what became of an action on a lead, with all that follows. */
export function commitLead(
  context: StepContext,
  run: Run,
  action: Action,
  { held = [], written, agreed, toRow = {}, intent, ...fate }: LeadOutcome,
): Promise<void> {
  const leadId = action.leadId ?? intent?.leadId ?? '';
  return inLeasedTransaction(context, async (db) => {
    if (intent?.leadId === null) await abandonIntents(db, [intent.id]);
    await recordOutcomes(db, [{ actionId: action.id, ...fate }]);
    if (typeof intent?.leadId === 'string') {
      await intentCreated(db, intent.id, intent.leadId);
      await releaseRow(db, run, action.contentHash, action.row);
    }
    await recordConflicts(db, run, held);
    if (written !== undefined) await recordWritten(db, run, action, leadId, written);
    if (agreed === undefined) return;
    const refused = held.map(({ field }) => field);
    await context.runPolicy.remember(db, context.connection, run, [action]);
    await moveBaselines(db, run, movesAfter({ action, leadId, agreed, refused }));
    await insertActions(db, run, actionsOnRow(action, leadId, toRow, intent?.id));
  });
}

/** Leaves an action to the next run. What an earlier attempt may have written over stays on record. */
export function putOff(
  context: StepContext,
  run: Run,
  action: Action,
  code: string,
  message: string,
): Promise<void> {
  return inLeasedTransaction(context, async (db) => {
    if (action.kind === 'update-lead' && action.attempts === 0) await forgetWrites(db, run, [action.id]);
    await recordOutcomes(db, [{ actionId: action.id, state: 'deferred', code, message }]);
  });
}

async function recordWritten(
  db: pg.PoolClient,
  run: Run,
  action: Action,
  leadId: string,
  written: Changes,
): Promise<void> {
  if (action.kind !== 'update-lead') {
    await recordHistory(db, run, [{ leadId, side: 'lead', changes: written }]);
  } else if (isDeepStrictEqual(written, action.changes)) await confirmLeadWrite(db, run, action);
  else await recordLeadWrites(db, run, [{ ...action, changes: written }]);
}

async function moveBaselines(
  db: pg.PoolClient,
  { connection }: Run,
  moves: readonly BaselineMove[],
): Promise<void> {
  const leadIds = (to: BaselineMove['to']): readonly string[] =>
    moves.flatMap((move) => (move.to === to ? [move.leadId] : []));
  await advanceBaselines(
    db,
    connection,
    moves.filter((move) => move.to === 'agreed'),
  );
  for (const move of moves)
    if (move.to === 'reopened') await restoreBase(db, connection, move.leadId, move.values);
  await markLeadDeleted(db, connection, leadIds('lead-deleted'));
  await clearBaselines(db, connection, leadIds('cleared'));
  await forgetPairs(db, connection, leadIds('forgotten'));
}

const shownKinds: readonly ActionKind[] = ['create-row', 'update-row', 'link'];

/** What became of an action on a row. */
export interface RowFate extends Omit<ActionOutcome, 'actionId'> {
  readonly action: Action;
  /** Where the row stands now, when that is known. */
  readonly row?: number | undefined;
}

/** Stores what became of a batch of rows, with all that follows. */
export function commitRows(context: StepContext, run: Run, ended: readonly RowFate[]): Promise<void> {
  const carriedOut = ended.filter(({ state }) => state === 'done');
  const done = carriedOut.map(({ action }) => action);
  return inLeasedTransaction(context, async (db) => {
    const bases = await basesOfMatched(db, run, done);
    await recordOutcomes(
      db,
      ended.map(({ action, row: _row, ...fate }) => ({ actionId: action.id, ...fate })),
    );
    await recordConflicts(
      db,
      run,
      ended.flatMap(({ action: { leadId, row }, state, code = '', message = '' }) =>
        state === 'held' ? [{ leadId, row, code, message }] : [],
      ),
    );
    // Of one that was begun before, and is not done now, the first write may have come about.
    const known = ended.filter(({ action, state }) => state === 'done' || action.attempts === 0);
    await forgetWrites(
      db,
      run,
      known
        .map(({ action }) => action)
        .filter(isReplacing)
        .map(({ id }) => id),
    );
    await recordHistory(
      db,
      run,
      done.filter(isReplacing).map((action) => {
        return { leadId: action.leadId ?? '', side: 'row', changes: rowHistory(action) };
      }),
    );
    await intentsLinked(
      db,
      done.flatMap(({ kind, intentId }) => (kind === 'link' && intentId !== null ? [intentId] : [])),
    );
    const moves = carriedOut.flatMap(({ action, row }) => {
      const { leadId, changes } = action;
      if (leadId === null) return [];
      const agreed = { ...readable(writtenCells(changes)), ...bases.get(leadId) };
      return movesAfter({ action, leadId, agreed, row });
    });
    // Of the others it is noted with the baseline.
    const noted = new Set(
      moves.flatMap((move) => (move.to === 'agreed' && move.row !== undefined ? [move.leadId] : [])),
    );
    await rowsThere(
      db,
      run.connection,
      done.flatMap(({ kind, leadId }) =>
        leadId !== null && shownKinds.includes(kind) && !noted.has(leadId) ? [leadId] : [],
      ),
    );
    // Before the baselines move: what the scan has seen of a lead may stand there alone.
    await context.runPolicy.remember(db, context.connection, run, done);
    await moveBaselines(db, run, moves);
    await forgetMatches(db, run.connection, [...bases.keys()]);
    await updateRun(db, run.id, { attempts: 0 });
  });
}

/** A new row of a page that was written, and what became of it. */
export interface WrittenLine {
  readonly line: PageLine;
  readonly outcome: RowOutcome;
}

const uniqueViolation = '23505';

/**
 * Stores what became of new rows of pages: pairs at once; a line with another fate gets an action of its own. Returns the
 * ids of these. `pagesOf`: the pages, when the lines of these ids have left them.
 */
export async function commitNewRows(
  context: StepContext,
  run: Run,
  lines: readonly WrittenLine[],
  pagesOf: (own: ReadonlySet<string>) => readonly SettledPage[],
): Promise<ReadonlySet<string>> {
  const commit = (known: ReadonlySet<string>): Promise<ReadonlySet<string>> => {
    const isPlain = ({ line, outcome }: WrittenLine): boolean =>
      outcome.status === 'done' && !known.has(line[0]);
    const pairs = lines.filter(isPlain).map(({ line: [leadId, base], outcome }) => {
      return { leadId, base, row: outcome.status === 'done' ? (outcome.row ?? null) : null };
    });
    const others = lines.filter((one) => !isPlain(one));
    const own = new Set(others.map(({ line }) => line[0]));
    return inLeasedTransaction(context, async (db) => {
      await copyPairs(db, run.connection, pairs);
      await settlePages(db, pagesOf(own));
      if (others.length > 0) await commitOtherLines(db, run, others);
      await updateRun(db, run.id, { attempts: 0 });
      return own;
    });
  };
  try {
    return await commit(new Set());
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === uniqueViolation)) throw error;
    // The service gave a create of this run the id of a lead that was there already: that is a pair by now.
    const leadIds = lines.map(({ line }) => line[0]);
    return commit(await knownOf(context.pool, run.connection, leadIds));
  }
}

/** Lines with a fate of their own, and those of leads that are pairs already. */
async function commitOtherLines(db: pg.PoolClient, run: Run, others: readonly WrittenLine[]): Promise<void> {
  await insertActions(
    db,
    run,
    others.map(({ line, outcome }) => {
      const told = outcome.status === 'done' ? {} : { code: outcome.code, message: outcome.message };
      return ownAction(line, { state: outcome.status, outcome: told });
    }),
  );
  const done = others.flatMap(({ line: [leadId, values], outcome }) =>
    outcome.status === 'done' ? [{ leadId, values, row: outcome.row }] : [],
  );
  await advanceBaselines(db, run.connection, done);
  const leadIds = others.flatMap(({ line, outcome }) => (outcome.status === 'done' ? [] : [line[0]]));
  await knowLeads(db, run, leadIds, run.targetRows > 0);
  await recordConflicts(
    db,
    run,
    others.flatMap(({ line: [leadId], outcome }) =>
      outcome.status === 'held' ? [{ leadId, row: null, code: outcome.code, message: outcome.message }] : [],
    ),
  );
}

/**
 * Stores what was seen of records that were written. Where a write is lost (an older copy of the file was saved over it, for
 * example), the baseline goes back, so that the next run writes it again and does not take the old value for an edit.
 */
export function commitLooks(
  context: StepContext,
  run: Run,
  looks: readonly Look[],
  places: Parameters<typeof noteRows>[2] = [],
): Promise<void> {
  const store = async (db: pg.PoolClient): Promise<void> => {
    await storeReceipts(db, looks);
    await noteRows(db, run.connection, places);
    // What an undo wrote is an edit: it has no baseline.
    for (const { actionId, kind, leadId, receipt, lost, others } of looks.filter((one) => !putsBack(one))) {
      if (others !== undefined) await storeOthers(db, run, leadId, others);
      await restoreBase(db, run.connection, leadId, lost);
      if (kind !== 'create-lead' || receipt !== 'unexplained') continue;
      // A row with the id of a lead that never was is an orphan, and no deletion.
      await forgetPairs(db, run.connection, [leadId]);
      await intentRefuted(db, actionId);
    }
  };
  return inLeasedTransaction(context, store, 'repeatable');
}
