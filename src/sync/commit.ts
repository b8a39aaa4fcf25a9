import type pg from 'pg';
import { isDeepStrictEqual } from 'node:util';
import { codeOf, withoutStop } from '../lib/errors.ts';
import { type FieldMapping, headingOf } from '../core/lead/mapping.ts';
import {
  type Cell,
  type Cells,
  isUnreadable,
  readable,
  sameCell,
  showCell,
  type Value,
  type Values,
} from '../core/lead/value.ts';
import { type ActionKind, type Changes, plannedAction, shownBefore } from '../core/merge/action.ts';
import { type BaselineMove, movesAfter } from '../core/merge/baseline-moves.ts';
import { putsBack, takenAway } from '../core/merge/undo.ts';
import { type Refused, refusedMessage, sentKey } from '../core/merge/refused-create.ts';
import type { RowChange, RowOutcome } from '../ports/target.ts';
import {
  type Action,
  type ActionOutcome,
  insertActions,
  type NewAction,
  recordOutcomes,
  writtenCells,
} from '../store/actions.ts';
import { copyPairs, moveBaselines, type NewPair } from '../store/baselines.ts';
import type { NewConflict } from '../core/merge/holds.ts';
import { freeKey, recordConflicts, releaseRow } from '../store/conflicts.ts';
import { forgetWrites, type HistoryEntry, recordHistory, valuesWritten } from '../store/history.ts';
import { changeIntents, storeUnmappedHashes } from '../store/intents.ts';
import { forgetMatches } from '../store/held.ts';
import { type NewRow, type NewRows, ownAction, takeRows } from '../store/new-rows.ts';
import { knownOf } from '../store/pairs.ts';
import { rememberRefused } from '../store/refused-creates.ts';
import { type EditOutcome, recordEditOutcome } from '../store/requested-edits.ts';
import { type Finding, storeVerifications } from '../store/verifications.ts';
import { type Run, updateRun } from '../store/runs.ts';
import { inLeasedTransaction, type StepContext } from './context.ts';
import { sightedLeads } from '../store/run-sights.ts';

export interface LeadResult {
  readonly action: Action;
  readonly outcome: Omit<ActionOutcome, 'actionId'>;
  readonly conflicts?: readonly NewConflict[];
  /** What was written to the lead; absent: what an earlier attempt may have overwritten stays on record. */
  readonly written?: Changes;
  /** By field what both sides agree on now; absent: nothing was carried out. */
  readonly agreed?: Values;
  /** What the row is to show of it, in the same round. */
  readonly toRow?: Changes;
  /** Of a create: the lead that it made or wrote into. */
  readonly leadId?: string;
  /** Of a create of which no lead was made. */
  readonly refused?: Refused;
  readonly edit?: EditOutcome;
}

/** The result of an action that is left to the next run. */
export function deferred(action: Action, code: string, message: string): LeadResult {
  return { action, outcome: { state: 'deferred', code, message } };
}

/** The conflict of a field that the service refused, ignored, or stored with another value. */
export function refusal(
  { leadId, row }: Pick<Action, 'leadId' | 'row'>,
  fields: readonly FieldMapping[],
  field: string,
  sent: Cell,
  stored: Cell,
  why: string,
): NewConflict {
  const message = `the service did not take ${headingOf(fields, field)} = ${showCell(sent)}: ${withoutStop(why)}. It is sent again when it changes`;
  return { leadId, field, row, code: 'lead.field-refused', message, lead: stored, rowValue: sent };
}

/** What the content of a create is remembered by. */
export function sentKeyOf({ changes }: Action): string {
  return sentKey(readable(writtenCells(changes)));
}

/** Stores the results of actions on leads, and what follows from them, in the transaction that it is given. */
export async function commitLeads(
  context: StepContext,
  db: pg.PoolClient,
  run: Run,
  results: readonly LeadResult[],
): Promise<void> {
  if (results.length === 0) return;
  const carriedOut = results.flatMap((one) =>
    one.agreed === undefined ? [] : [{ ...one, agreed: one.agreed }],
  );
  await recordOutcomes(
    db,
    results.map(({ action, outcome }) => ({ actionId: action.id, ...outcome })),
  );
  for (const one of results) {
    const { action, edit } = one;
    if (action.kind === 'create-lead') await commitCreate(db, run, one);
    if (edit !== undefined) await recordEditOutcome(db, action.id, edit);
  }
  await recordConflicts(
    db,
    run,
    results.flatMap(({ conflicts = [] }) => conflicts),
  );
  await recordWritten(db, results);
  await context.runPolicy.remember(
    db,
    context.connection,
    run,
    carriedOut.map(({ action }) => action),
  );
  const moves = carriedOut.flatMap((one) => {
    const refused = (one.conflicts ?? []).map(({ field }) => field);
    return movesAfter({ action: one.action, leadId: leadIdOf(one), agreed: one.agreed, refused });
  });
  await moveBaselines(db, run.connection, moves);
  await insertActions(
    db,
    run,
    carriedOut.flatMap((one) => actionsOnRow(one.action, leadIdOf(one), one.toRow ?? {})),
  );
}

function leadIdOf({ action, leadId = '' }: LeadResult): string {
  return action.leadId ?? leadId;
}

/** A create that is done releases its row; one of which no lead was made is held, and its content is not sent again. */
async function commitCreate(db: pg.PoolClient, run: Run, result: LeadResult): Promise<void> {
  const { action, refused, leadId = '', agreed } = result;
  const { row } = action;
  if (agreed !== undefined) {
    await changeIntents(db, [[action.id, { state: 'created', leadId }]]);
    await releaseRow(db, run, action.contentHash, row);
  }
  if (refused === undefined) return;
  await changeIntents(db, [[action.id, { state: 'abandoned' }]]);
  if (refused.code !== 'row.undone') await rememberRefused(db, run.connection, sentKeyOf(action), refused);
  const contentHash = await freeKey(db, run, action.contentHash);
  const message = refusedMessage(row, refused);
  const cells = writtenCells(action.changes);
  await recordConflicts(db, run, [{ leadId: null, contentHash, row, code: refused.code, message, cells }]);
}

/** Replaces or drops what was recorded before the writes, where it is not what came about. */
async function recordWritten(db: pg.PoolClient, results: readonly LeadResult[]): Promise<void> {
  const unsent: number[] = [];
  const lines: HistoryEntry[] = [];
  for (const one of results) {
    const { action, written: changes } = one;
    const { id: actionId, kind, attempts } = action;
    if (changes === undefined) {
      if (attempts === 0) unsent.push(actionId);
    } else if (kind !== 'update-lead' || !isDeepStrictEqual(changes, action.changes))
      lines.push({ actionId, leadId: leadIdOf(one), changes });
  }
  await recordHistory(db, lines);
  await forgetWrites(db, unsent);
}

const isPresent = (leadId: string) => ({ to: 'present', leadId }) as const;

const shownKinds: readonly ActionKind[] = ['create-row', 'update-row', 'link'];

export interface RowResult extends Omit<ActionOutcome, 'actionId'> {
  readonly action: Action;
  /** Where the row stands now, if known. */
  readonly row?: number | undefined;
}

export function commitRows(context: StepContext, run: Run, results: readonly RowResult[]): Promise<void> {
  const carriedOut = results.filter(({ state }) => state === 'done');
  const done = carriedOut.map(({ action }) => action);
  const outcomes = results.map(({ action, row: _row, ...result }) => ({ actionId: action.id, ...result }));
  const { fields } = context.connection;
  const conflicts = results.flatMap(({ action, state, code = '', message = '' }) => {
    if (state !== 'held') return [];
    const { leadId, row, reason, changes } = action;
    if (reason !== 'stored-otherwise') return [{ leadId, row, code, message }];
    // The row keeps what was sent: as an edit, it would be sent again by each run.
    return Object.entries(changes).map(([field, { from, to }]) =>
      refusal(
        action,
        fields,
        field,
        from,
        to,
        `it has ${showCell(to)}, which the row cannot show. ${message}`,
      ),
    );
  });
  // An earlier attempt at an action that is not done now may have arrived: what it overwrote stays on record.
  const untried = results.flatMap(({ action, state }) =>
    state !== 'done' && action.attempts === 0 ? [action.id] : [],
  );
  const linked = done.flatMap(({ kind, intentId }) =>
    kind === 'link' && intentId !== null ? [[intentId, { state: 'linked' }] as const] : [],
  );
  return inLeasedTransaction(context, async (db) => {
    const bases = await basesOfMatched(db, run, done);
    await recordOutcomes(db, outcomes);
    await recordConflicts(db, run, conflicts);
    await forgetWrites(db, untried);
    await recordHistory(db, done.filter(isReplacing).map(rowHistory));
    await changeIntents(db, linked);
    const moves = carriedOut.flatMap(({ action, row }) => {
      const { leadId, changes } = action;
      if (leadId === null) return [];
      return movesAfter({
        action,
        leadId,
        agreed: { ...readable(writtenCells(changes)), ...bases.get(leadId) },
        row,
      });
    });
    const placed = new Set(
      moves.map((move) => (move.to === 'agreed' && move.row !== undefined ? move.leadId : null)),
    );
    const shown = done.flatMap(({ kind, leadId }) => (shownKinds.includes(kind) ? (leadId ?? []) : []));
    const present = shown.filter((leadId) => !placed.has(leadId)).map(isPresent);
    // Before the baselines move: a baseline may be all that is known of a lead.
    await context.runPolicy.remember(db, context.connection, run, done);
    await moveBaselines(db, run.connection, [...moves, ...present]);
    await forgetMatches(db, run.connection, [...bases.keys()]);
    await updateRun(db, run.id, { attempts: 0 });
  });
}

/** A new row that was written with others, and its outcome. */
export interface WrittenLine {
  readonly line: NewRow;
  readonly outcome: RowOutcome;
}

const uniqueViolation = '23505';

/** Stores the outcomes of new rows that were written together: pairs at once; any other line gets an action of its own. */
export async function commitNewRows(
  context: StepContext,
  run: Run,
  lines: readonly WrittenLine[],
  batch: readonly NewRows[],
): Promise<void> {
  const commit = (known: ReadonlySet<string>): Promise<void> => {
    const pairs: NewPair[] = [];
    const others: WrittenLine[] = [];
    for (const one of lines) {
      const [leadId, base] = one.line;
      if (one.outcome.status !== 'done' || known.has(leadId)) others.push(one);
      else pairs.push({ leadId, base, row: one.outcome.row ?? null });
    }
    const own = new Set(others.map(({ line }) => line[0]));
    return inLeasedTransaction(context, async (db) => {
      await copyPairs(db, run.connection, pairs);
      await recordOutcomes(
        db,
        batch.map(({ id }) => ({ actionId: id, state: 'done' })),
      );
      if (own.size > 0) for (const rows of batch) await takeRows(db, rows, (leadId) => own.has(leadId));
      if (others.length > 0) await commitOtherLines(db, run, others);
      await updateRun(db, run.id, { attempts: 0 });
    });
  };
  try {
    await commit(new Set());
  } catch (error) {
    if (codeOf(error) !== uniqueViolation) throw error;
    // The service gave a create of this run the id of a lead that was there before: that is a pair by now.
    const leadIds = lines.map(({ line }) => line[0]);
    await commit(await knownOf(context.pool, run.connection, leadIds));
  }
}

/** Stores lines that were not written, and those of leads that are pairs already. */
async function commitOtherLines(db: pg.PoolClient, run: Run, others: readonly WrittenLine[]): Promise<void> {
  const actions: NewAction[] = [];
  const moves: BaselineMove[] = [];
  const missed = { run: run.id, lead: 0, row: Number(run.targetRows > 0), since: null };
  const conflicts: NewConflict[] = [];
  for (const { line, outcome } of others) {
    const [leadId, values] = line;
    if (outcome.status === 'done') {
      actions.push({ ...ownAction(line), state: 'done' });
      const had = { lead: Object.keys(values), row: [] };
      moves.push({ to: 'agreed', leadId, values, row: outcome.row, had });
      continue;
    }
    const { status, code, message } = outcome;
    actions.push({ ...ownAction(line), state: status, outcome: { code, message } });
    moves.push({ to: 'known', leadId, missed });
    if (status === 'held') conflicts.push({ leadId, row: null, code, message });
  }
  await insertActions(db, run, actions);
  await moveBaselines(db, run.connection, moves);
  await recordConflicts(db, run, conflicts);
}

/**
 * Stores what reading written records again showed. Where a write is lost (an older copy of the file was saved over it,
 * for example), the baseline goes back, so that the next run writes it again and does not take the old value for an edit.
 */
export function commitFindings(
  context: StepContext,
  run: Run,
  findings: readonly Finding[],
  places: readonly { readonly leadId: string; readonly row: number }[] = [],
): Promise<void> {
  const store = async (db: pg.PoolClient): Promise<void> => {
    await storeVerifications(db, findings);
    // A value that an undo wrote has no baseline: it is an edit.
    const own = findings.filter((one) => !putsBack(one));
    const made = own.filter(({ kind }) => kind === 'create-lead');
    await storeUnmappedHashes(
      db,
      run,
      made.flatMap(({ leadId, others }) => (others === undefined ? [] : [{ leadId, others }])),
    );
    const lost = own.flatMap(({ leadId, lost: values }) =>
      Object.keys(values).length === 0 ? [] : [{ to: 'reopened', leadId, values } as const],
    );
    // A row with the id of a lead that never existed is an orphan, not a deletion.
    const never = made.filter(({ result }) => result === 'unexplained');
    const forgotten = never.map(({ leadId }) => ({ to: 'forgotten', leadId }) as const);
    const placed = places.map((one) => ({ to: 'placed', ...one }) as const);
    await moveBaselines(db, run.connection, [...placed, ...lost, ...forgotten]);
    await changeIntents(
      db,
      never.map(({ actionId }) => [actionId, { state: 'abandoned' }]),
    );
  };
  return inLeasedTransaction(context, store, 'repeatable');
}

/** An action as a change of the target. `was`: where a row stood that is written again. */
export function rowChange(
  action: Action,
  deleted: string,
  status: string | undefined,
  was: number | undefined,
): RowChange {
  const key = String(action.id);
  const leadId = action.leadId ?? '';
  const { expect } = action;
  const isRepeated = action.attempts > 0;
  const isUndo = putsBack(action);
  const values = readable(writtenCells(action.changes));
  // The next sync decides the status of a row that an undo brings back.
  const shown = isUndo || status === undefined ? {} : { status };
  switch (action.kind) {
    case 'create-row':
      return { kind: 'append', key, leadId, values, ...shown, ...(was !== undefined && { was }), isRepeated };
    case 'link':
      return { kind: 'link', key, leadId, expect, values, ...shown, isRepeated };
    case 'mark-row':
      return { kind: 'mark', key, leadId, expect, text: isUndo ? '' : deleted };
    case 'remove-row':
      return { kind: 'remove', key, leadId, expect, bare: isUndo };
    case 'unlink':
      return { kind: 'unlink', key, leadId, expect, values, again: !isUndo };
    default:
      return { kind: 'update', key, leadId, expect, values };
  }
}

/** Whether an action changes an existing row. */
export const isReplacing = ({ kind }: Action): boolean => kind !== 'create-row';

/** The history of a written row; a removed one is kept as a whole. */
export function rowHistory(action: Action): HistoryEntry {
  const { id: actionId, leadId, kind } = action;
  const changes = kind === 'remove-row' ? takenAway(action, 'lead-edited') : action.changes;
  return { actionId, leadId: leadId ?? '', changes };
}

/** The next action on the row: a link for a new lead, or an update with what the service stored instead. */
function actionsOnRow(action: Action, leadId: string, changes: Changes): readonly NewAction[] {
  if (action.kind === 'create-lead') {
    const { id: intentId } = action;
    return [{ ...action, kind: 'link', leadId, changes, reason: 'created', intentId, state: 'planned' }];
  }
  if (putsBack(action) || Object.keys(changes).length === 0) return [];
  const { row } = action;
  const expect = shownBefore(changes);
  return [plannedAction('update-row', { leadId, row, changes, expect, reason: 'stored-otherwise' })];
}

/** By lead, what a matched lead and the row that was just linked to it agree on. */
async function basesOfMatched(
  db: pg.PoolClient,
  run: Run,
  done: readonly Action[],
): Promise<ReadonlyMap<string, Values>> {
  const links = done.filter(({ kind, reason }) => kind === 'link' && reason === 'matched');
  if (links.length === 0) return new Map();
  const leadIds = links.flatMap(({ leadId }) => leadId ?? []);
  const scanned = await sightedLeads(db, run, leadIds);
  const written = await valuesWritten(db, run, leadIds, 'lead');
  return new Map(
    links.map(({ leadId, expect, changes }) => {
      const id = leadId ?? '';
      const [lead, row]: [Cells, Cells] = [scanned.get(id) ?? {}, { ...expect, ...writtenCells(changes) }];
      const agreed = Object.entries(lead).filter(
        (entry): entry is [string, Value] =>
          !isUnreadable(entry[1]) && entry[0] in row && sameCell(entry[1], row[entry[0]] ?? null),
      );
      // A value that the service made of the row's value is nobody's edit.
      return [id, { ...Object.fromEntries(agreed), ...written.get(id) }] as const;
    }),
  );
}
