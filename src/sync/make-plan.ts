import type pg from 'pg';
import { guard } from '../core/merge/guard.ts';
import { ShuffledRows } from '../core/merge/shuffled-rows.ts';
import type { PlannedAction } from '../core/merge/action.ts';
import type { FieldMemo } from '../core/merge/merge-field.ts';
import { type PairState, planLeadAgain } from '../core/merge/plan.ts';
import type { Policy } from '../core/merge/policy.ts';
import {
  planClosedId,
  planDuplicateRow,
  planLostRow,
  planUnreadableId,
} from '../core/merge/plan-held-rows.ts';
import { planNewRow, undoneRow } from '../core/merge/plan-new-row.ts';
import { planUndo } from '../core/merge/undo.ts';
import { sameCell, type Values } from '../core/lead/value.ts';
import { clearActions } from '../store/actions.ts';
import { stagedDeeds } from '../store/deeds.ts';
import { holdPlanned } from '../store/held.ts';
import { type AbsenceProof, adoptScan, makeKeptMoves } from '../store/pairs.ts';
import { movedFields, rememberColumns } from '../store/mapped-columns.ts';
import { enterPlace } from '../store/places.ts';
import { type Run, updateRun } from '../store/runs.ts';
import { countRecords } from '../store/count-records.ts';
import { planPages } from '../store/scan-pages.ts';
import { type Difference, differences, looseRows } from '../store/differences.ts';
import { storeMatches } from '../store/matches.ts';
import { UndoneRecords } from '../store/undone.ts';
import { analyzeActions, analyzePairs, isMany } from '../store/statistics.ts';
import { leaveUndecided } from '../store/lost-rows.ts';
import { inLeasedTransaction, policyOf, type StepContext } from './context.ts';
import { countPlan } from './count-plan.ts';
import { doubtOfImport } from './doubt-of-import.ts';
import { findOlderCopies, type OlderCopies } from './find-older-copy.ts';
import { findRows, type FoundRows, planOne } from './find-lost-rows.ts';
import { findMatches, type FoundMatches } from './find-matches.ts';
import { noteAuthors } from './note-authors.ts';
import { PlanTally } from './plan-tally.ts';
import { PlanWriter } from './plan-writer.ts';
import { openReview } from './review.ts';
import { placementOf, placeNotes } from './which-place.ts';
import { type SettledCreates, settleCreates, storeSettlements } from './settle-creates.ts';
import { acceptCopy, doubtsOf, judgeTable } from './table-mark.ts';

/**
 * Compares what is staged with the baseline, stores the plan and asks the guard. Nothing is written to either side.
 * A sync then takes over what the scan alone proves; a plan leaves everything as it was, and so does an undo, which a
 * person has looked at and the guard is not asked about.
 */
export async function makePlan(context: StepContext, staged: Run): Promise<Run> {
  const { verdict: mark, run: judged, again } = await judgeTable(context, staged);
  if (again) return judged;
  let [written, newPairs, run] = [0, 0, judged];
  const { name, leads } = context.connection;
  // What an undo has to look up is of the place that it is in.
  if (run.undoOf !== null && run.mode === 'sync')
    run = await inLeasedTransaction(context, (db) => enterPlace(db, judged, leads.baseUrl));
  const imported = run.undoOf === null ? await doubtOfImport(context, run, readablePolicy(context, run)) : {};
  const planned = await inLeasedTransaction(context, async (db) => {
    await clearActions(db, run);
    const plan = new PlanWriter(db, run, await openReview(db, run));
    const next = { phase: run.mode === 'plan' ? 'finish' : 'push-leads', tries: 0 } as const;
    if (run.undoOf !== null) {
      await planUndoing(context.pool, run, run.undoOf, plan);
      written = plan.written;
      return updateRun(db, run.id, { ...next, records: written });
    }
    const policy = readablePolicy(context, run);
    const scan = { weight: scanWeight(context, run), filtered: isFiltered(context) };
    const creates = await settleCreates(db, run, policy, scan);
    await plan.add(...creates.actions);
    const moved = await movedFields(db, run.connection, policy.fields);
    const found = await findRows(context.pool, run, context.connection.fields, policy, creates);
    const placement = await placementOf(db, run, name);
    // What is said to be moved, and puts something back, may be a copy.
    const isMoved = placement?.kind === 'moved';
    const moves = isMoved ? { row: { reason: `it was at ${placement.before.address} before` } } : {};
    const older = await findOlderCopies(context, run, policy, {
      moved,
      notMissing: found.rowOf,
      doubts: { ...moves, ...imported, ...doubtsOf(mark) },
    });
    const isProof = absenceProof(context, run, older);
    const matches = await findMatches(context, run, creates, found);
    const tally = new PlanTally();
    const undone = await UndoneRecords.load(db, run.connection, context.connection.fields);
    const findings = { policy, creates, moved, found, older, isProof, matches, undone, tally };
    const shuffled = await planPairs(context.pool, run, plan, findings);
    await planLooseRows(context.pool, run, plan, findings);
    await plan.end();
    await planPages(db, run);
    written = plan.written;

    const { strangers } = shuffled;
    const { idsUnknown } = found;
    const permuted = shuffled.permuted();
    const numbers = await countPlan(context, db, run, older, placement);
    const counts = { ...numbers, strangers, permuted, idsUnknown, mark };
    // Whatever else is unusual comes of the older copy, and is looked at when a person has decided on that. A mark of others
    // says it more exactly.
    const isOlder = older.refusals.length > 0 && !('by' in mark);
    const refusals = isOlder ? older.refusals : guard(counts, context.connection.sync.limits, run.allow);
    if (refusals.length > 0) return updateRun(db, run.id, { refusals, phase: 'finish', tries: 0 });
    const notes = await placeNotes(db, placement);
    const problems = [
      ...run.problems.filter(({ code }) => notes.every((note) => note.code !== code)),
      ...notes,
    ];
    if (run.mode === 'plan') return updateRun(db, run.id, { ...next, problems });
    await acceptCopy(db, run, mark);
    run = await enterPlace(db, run, leads.baseUrl);
    await rememberColumns(db, run.connection, context.connection.fields, moved);
    const shown = await countRecords(db, run);
    await leaveUndecided(db, run.id, found.isAnyones ? undefined : [...found.leadIds]);
    const rowless = creates.rowless.flatMap(({ leadId }) => (found.leadIds.has(leadId) ? [leadId] : []));
    newPairs = await adoptScan(db, run, isProof, [...creates.leadIds, ...rowless]);
    await storeSettlements(db, run, creates);
    if (plan.moves > 0) await makeKeptMoves(db, run.connection);
    await undone.settle(db, run, isProof);
    if (matches.lines !== null)
      await storeMatches(db, run.connection, matches.lines, scanWeight(context, run) < 1);
    await holdPlanned(db, run);
    const { linked, waiting } = tally.settle(creates.actions);
    return updateRun(db, run.id, {
      ...next,
      problems,
      records: shown.records - linked - tally.apart - tally.toldWithLead,
      comparedEqual: shown.equal + tally.equal,
      leftAlone: tally.leftAlone,
      waiting,
    });
  });
  if (isMany(written)) await analyzeActions(context.pool);
  if (isMany(newPairs)) await analyzePairs(context.pool);
  if (run.mode === 'sync' && run.undoOf === null && planned.refusals.length === 0)
    await noteAuthors(context, planned);
  return planned;
}

async function planUndoing(pool: pg.Pool, run: Run, undoOf: number, plan: PlanWriter): Promise<void> {
  const { id, connection } = run;
  for await (const { lead, row, rowNumber, ...deeds } of stagedDeeds(pool, { id, undoOf, connection })) {
    await plan.add(...planUndo(deeds, { lead, row: row && { row: rowNumber ?? 0, cells: row } }));
  }
  await plan.end();
}

/**
 * Whether a record that was not seen may be gone: never a lead after a filtered, torn or empty scan, never a row of a
 * target without any row, which may have been moved or emptied by mistake; neither of a side that may be an older copy.
 */
function absenceProof(context: StepContext, run: Run, { undecided }: OlderCopies): AbsenceProof {
  return {
    leads: scanWeight(context, run) === 1 && !undecided.has('lead'),
    rows: run.targetRows > 0 && !undecided.has('row'),
  };
}

/** What the scan proves by not showing a lead; see ScanProof. */
function scanWeight(context: StepContext, run: Run): number {
  if (isFiltered(context) || run.pulled === 0) return 0;
  return run.scanTorn ? 0.5 : 1;
}

function isFiltered({ connection }: StepContext): boolean {
  return Object.keys(connection.leads.query).length > 0;
}

/** The policy without the fields whose column is missing: they are left out of this run on both sides. */
function readablePolicy(context: StepContext, run: Run): Policy {
  const policy = policyOf(context.connection);
  const missing = run.problems.flatMap(({ code, field }) =>
    code === 'target.column-missing' || code === 'target.column-new' ? [field] : [],
  );
  return { ...policy, fields: policy.fields.filter(({ field }) => !missing.includes(field)) };
}

/** What is known of a scan as a whole, before its records are decided one by one. */
interface Findings {
  readonly policy: Policy;
  readonly creates: SettledCreates;
  /** Fields whose baseline does not count, because it was another column's. */
  readonly moved: ReadonlySet<string>;
  readonly found: FoundRows;
  readonly older: OlderCopies;
  readonly isProof: AbsenceProof;
  readonly matches: FoundMatches;
  readonly undone: UndoneRecords;
  readonly tally: PlanTally;
}

/** Returns what the guard asks for. */
async function planPairs(
  pool: pg.Pool,
  run: Run,
  plan: PlanWriter,
  findings: Findings,
): Promise<ShuffledRows> {
  const { policy, creates, moved, found, older, isProof, matches, undone, tally } = findings;
  const shuffled = new ShuffledRows(policy.fields);
  for await (const difference of differences(pool, run, isProof)) {
    if (creates.leadIds.has(difference.leadId)) {
      tally.leaveLead(difference);
      continue;
    }
    const { leadId, lead, rowNumber, leadAbsences, rowAbsences, deletionDone, merged } = difference;
    const again = found.rowOf.get(leadId) ?? matches.rowOf.get(leadId);
    const row = again?.cells ?? difference.row;
    const base = difference.base === null ? null : withoutFields(difference.base, moved);
    const state = {
      leadId,
      base,
      lead,
      row: row === null ? null : { row: again?.row ?? rowNumber ?? 0, cells: row },
      memo: older.memo(leadId, validMemo({ ...difference, row })),
      leadAbsences,
      rowAbsences,
      deletionDone,
      merged,
      undone: lead === null || difference.isWanted ? null : undone.find(leadId, lead),
    };
    const actions = planBack(state, findings) ?? planOne(state, policy, found, matches);
    tally.see(difference, actions, again !== undefined);
    // What is brought forward is no sorting.
    if (base !== null && row !== null && !older.bringsForward(leadId)) shuffled.see(base, row);
    await plan.add(...actions);
  }
  return shuffled;
}

/** What to do with a record that an older copy lacks and that is to come back; null: it is no such one. */
function planBack(
  state: PairState,
  { policy, found, matches, older }: Findings,
): readonly PlannedAction[] | null {
  const { leadId, base, lead, row } = state;
  if (row === null && older.comesBack('row', leadId))
    return planOne(state, { ...policy, onRowDeleted: 'restore' }, found, matches);
  if (base === null || lead !== null || row === null || !older.comesBack('lead', leadId)) return null;
  return [planLeadAgain(state, row)];
}

async function planLooseRows(
  pool: pg.Pool,
  run: Run,
  plan: PlanWriter,
  { policy, creates, found, matches, undone, tally }: Findings,
): Promise<void> {
  for await (const loose of looseRows(pool, run)) {
    const { row, leadId, unreadableId, idClosed, isApart, cells, refused, isWanted } = loose;
    const mayBe = found.mayBe.get(row) ?? loose.mergedOf ?? undefined;
    if (leadId !== null) await plan.add(planDuplicateRow(leadId, row, mayBe));
    else if (unreadableId !== null) await plan.add(planUnreadableId(row, cells, unreadableId, mayBe, policy));
    else if (creates.rows.has(row)) tally.leaveRow(row);
    else if (found.links.has(row) || matches.linkedRows.has(row)) continue;
    else if (mayBe !== undefined) await plan.add(planLostRow(row, cells, mayBe, policy));
    else if (matches.heldRows.has(row)) {
      // What an undo took away of it is still to be seen.
      undone.find('', cells);
      const held = matches.heldRows.get(row);
      if (held) await plan.add(held);
      else tally.toldWithLead += 1;
    } else if (isApart) tally.apart += 1;
    else {
      const isUndone = !isWanted && undone.find('', cells) !== null;
      const actions = planNewRow(row, cells, isUndone ? undoneRow : refused, policy);
      const isStuck = idClosed !== null && actions.some(({ kind }) => kind === 'create-lead');
      await plan.add(...(isStuck ? [planClosedId(row, cells, idClosed, policy)] : actions));
    }
  }
}

/** A person's decision, or the service's refusal, holds only while both sides show what they showed then. */
function validMemo(difference: Pick<Difference, 'memo' | 'lead' | 'row'>): Record<string, FieldMemo> {
  const entries = Object.entries(difference.memo ?? {}).flatMap(([field, memo]): [string, FieldMemo][] => {
    const [lead, row] = [difference.lead?.[field] ?? null, difference.row?.[field] ?? null];
    if (sameCell(memo.lead, lead) && sameCell(memo.row, row)) return [[field, memo]];
    return memo.covered === true ? [[field, { covered: true }]] : [];
  });
  return Object.fromEntries(entries);
}

function withoutFields(values: Values, fields: ReadonlySet<string>): Values {
  if (fields.size === 0) return values;
  return Object.fromEntries(Object.entries(values).filter(([field]) => !fields.has(field)));
}
