import type pg from 'pg';
import { type ForeignLeads, guard, type PlanCounts } from '../core/merge/guard.ts';
import { ShiftedRows } from '../core/merge/shifted-rows.ts';
import { ShuffledRows } from '../core/merge/shuffled-rows.ts';
import type { PlannedAction } from '../core/merge/action.ts';
import type { FieldMemo } from '../core/merge/merge-field.ts';
import { type PairState, planLeadAgain } from '../core/merge/plan.ts';
import type { Policy } from '../core/merge/policy.ts';
import { notAsked } from '../core/merge/unlisted.ts';
import {
  planClosedId,
  planDuplicateRow,
  planLostRow,
  planMissed,
  planTwinRow,
  planUnreadableId,
} from '../core/merge/plan-held-rows.ts';
import { type Elsewhere, misreadCells, type OtherTable, placesInCells } from '../core/merge/row-elsewhere.ts';
import type { MarkVerdict } from '../core/merge/judge-mark.ts';
import { FirstLeadsTally, Names } from '../core/merge/first-leads.ts';
import { planNewRow } from '../core/merge/plan-new-row.ts';
import { sentContent, sentKey, undoneRow } from '../core/merge/refused-create.ts';
import { headingOf } from '../core/lead/mapping.ts';
import { sameCell, type Values } from '../core/lead/value.ts';
import { rowsInCells } from '../store/asides.ts';
import type { AbsenceProof } from '../store/baselines.ts';
import { countKnownPairs } from '../store/pairs.ts';
import { isHeldFor } from '../store/conflicts.ts';
import { movedFields } from '../store/place-notes.ts';
import { pairedValues } from '../store/matches.ts';
import type { Run } from '../store/runs.ts';
import { planPages } from '../store/scan-pages.ts';
import { type Difference, differences, idsOfRows, looseRows, rowsInPlace } from '../store/differences.ts';
import { rowsInOtherTables, rowsOfOtherTables, unreadElsewhere } from '../store/other-tables.ts';
import { RefusedCreates } from '../store/refused-creates.ts';
import { UndoneRecords } from '../store/undone.ts';
import { isFiltered, policyOf, serviceOf, type StepContext } from './context.ts';
import { type Doubts, findOlderCopies, type OlderCopies } from './find-older-copy.ts';
import { findRows, type FoundRows, type OtherPlaces, planOne } from './find-lost-rows.ts';
import { findMatches, type FoundMatches } from './find-matches.ts';
import { PlanTally, type PlanWriter } from './plan-writer.ts';
import { otherPlace, type Placement, placementOf } from './which-place.ts';
import { findLostCreates, type LostCreates } from './find-lost-creates.ts';
import { doubtsOf } from './table-mark.ts';
import { countActions, countChangedFields, countEmptiedFields } from '../store/actions.ts';
import { isFirstSync, knownService, placeNames } from '../store/places.ts';

/** What a plan found beside its actions, for the guard and for `commitScan`. */
export interface Plan extends Omit<Findings, 'policy' | 'older'> {
  readonly mark: MarkVerdict;
  /** How many baselines move without an action; see `keepMoves`. */
  readonly moves: number;
  readonly refusals: Run['refusals'];
  readonly placement: Placement | null;
}

/**
 * Compares the staged records with the baseline, stores the actions, and runs the guard. Writes nothing but the plan.
 * `imported`: evidence of an older copy.
 */
export async function makePlan(
  context: StepContext,
  db: pg.PoolClient,
  run: Run,
  plan: PlanWriter,
  {
    mark,
    imported,
    foreign,
  }: {
    readonly mark: MarkVerdict;
    readonly imported: Doubts;
    readonly foreign: ForeignLeads | null;
  },
): Promise<Plan> {
  const { fields, name, sync } = context.connection;
  const service = serviceOf(context.connection);
  const policy = readablePolicy(context, run);
  const scan = { weight: scanWeight(context, run), filtered: isFiltered(context), service };
  const creates = await findLostCreates(db, run, policy, scan);
  await plan.add(...creates.actions);
  const moved = await movedFields(db, run.connection, policy.fields);
  const homes = await rowsOfOtherTables(db, run, service);
  const found = await findRows(context.pool, run, fields, policy, creates, homes);
  const placement = await placementOf(db, run, name);
  // A moved table that puts values back may be a copy.
  const isMoved = placement?.kind === 'moved';
  const moves = isMoved ? { row: { reason: `it was at ${placeNames(placement).before} before` } } : {};
  const older = await findOlderCopies(context, run, policy, {
    moved,
    notMissing: found.rowOf,
    doubts: { ...moves, ...imported, ...doubtsOf(mark) },
  });
  const isProof = absenceProof(context, run, older);
  const inCells = await rowsInCells(db, run);
  const inOthers = await rowsInOtherTables(db, run, service);
  const elsewhere: Elsewhere = new Map<string, string | OtherTable>([...inOthers, ...placesInCells(inCells)]);
  const unread =
    sync.onRowDeleted === 'delete-lead' ? await unreadElsewhere(db, run, service) : new Set<string>();
  const matches = await findMatches(context, run, creates, found, policy);
  const undone = await UndoneRecords.load(db, run.connection, fields);
  const refused = await RefusedCreates.load(db, run.connection);
  const tally = new PlanTally();
  const places = { elsewhere, homes, unread };
  const findings = { policy, creates, moved, found, older, isProof, matches, undone, refused, tally, places };
  const shuffled = await planPairs(context.pool, run, plan, findings);
  const first = (await isFirstSync(db, run)) ? new FirstLeadsTally(policy.fields) : null;
  const names = sync.match === 'off' ? null : await namesOfTable(context.pool, run);
  const twins = await planLooseRows(context.pool, run, plan, findings, { first, names });
  const missed = tally.missed();
  if (missed !== null) await plan.add(planMissed(missed, policy));
  await plan.end();
  await planPages(db, run);

  const { strangers } = shuffled;
  const { idsUnknown } = found;
  const permuted = shuffled.permuted();
  const shifted = await findShifts(context.pool, run, findings, shuffled);
  const numbers = await countPlan(context, db, run, older, placement);
  const misread = misreadCells(inCells);
  const inWords = <T>(byField: Readonly<Record<string, T>>): Record<string, T> =>
    Object.fromEntries(Object.entries(byField).map(([field, found]) => [headingOf(fields, field), found]));
  const made = first?.found() ?? null;
  const firstLeads = made === null ? null : { made, held: matches.heldRows.size + twins };
  const counts = {
    ...numbers,
    byField: inWords(numbers.byField),
    emptied: inWords(numbers.emptied),
    permuted: inWords(permuted),
    shifted: inWords(shifted),
    foreign,
    strangers,
    idsUnknown,
    misread,
    mark,
    firstLeads,
  };
  // An older copy explains what else is unusual: the guard looks again after a person's decision. A foreign mark, or service, is more exact.
  const isOlder = older.refusals.length > 0 && !('by' in mark) && foreign === null;
  const stops = guard(counts, sync.limits, run.allow);
  const isMisread = stops.filter(({ code }) => code === 'misread');
  const refusals = isMisread.length > 0 ? isMisread : isOlder ? older.refusals : stops;
  return { ...findings, mark, moves: plan.moves, refusals, placement };
}

/**
 * Whether an absence proves that a record is gone: not of a lead in a filtered, incomplete or empty scan; not of a row in
 * a target without rows, which may have been moved or emptied by mistake; not on a side that may be an older copy.
 */
function absenceProof(context: StepContext, run: Run, { undecided }: OlderCopies): AbsenceProof {
  return {
    leads: scanWeight(context, run) === 1 && !undecided.has('lead'),
    rowsAlone: !isFiltered(context),
    answers: isComplete(run) && !undecided.has('lead'),
    rows: run.targetRows > 0 && !undecided.has('row'),
  };
}

/** How much the absence of a lead in this scan proves; see `ScanProof`. */
export function scanWeight(context: StepContext, run: Run): number {
  if (isFiltered(context) || run.pulled === 0) return 0;
  return run.scanIncomplete ? 0.5 : 1;
}

/** Whether a scan has shown all that the list has. */
function isComplete(run: Run): boolean {
  return run.pulled > 0 && !run.scanIncomplete;
}

/** The policy without fields whose column is missing: this run ignores them on both sides. */
export function readablePolicy(context: StepContext, run: Run): Policy {
  const policy = policyOf(context.connection);
  const fieldsOf = (...codes: readonly string[]): ReadonlySet<string> =>
    new Set(run.problems.flatMap(({ code, field }) => (codes.includes(code) ? (field ?? []) : [])));
  const missing = fieldsOf('target.column-missing');
  // The next sync makes a column for a new field: that keeps nothing waiting.
  const ignored = fieldsOf('target.column-missing', 'target.column-new');
  return {
    ...policy,
    fields: policy.fields.filter(({ field }) => !ignored.has(field)),
    unseen: policy.fields.filter(({ field }) => missing.has(field)),
  };
}

/** Facts about the whole scan, found before its records are decided one by one. */
interface Findings {
  readonly policy: Policy;
  readonly creates: LostCreates;
  /** Fields whose baseline is void: it was another column's. */
  readonly moved: ReadonlySet<string>;
  readonly found: FoundRows;
  readonly older: OlderCopies;
  readonly isProof: AbsenceProof;
  readonly matches: FoundMatches;
  readonly undone: UndoneRecords;
  readonly refused: RefusedCreates;
  readonly tally: PlanTally;
  readonly places: OtherPlaces & {
    /** Leads whose missing row may stand in a table that was not read since. */
    readonly unread: ReadonlySet<string>;
  };
}

async function planPairs(
  pool: pg.Pool,
  run: Run,
  plan: PlanWriter,
  findings: Findings,
): Promise<ShuffledRows> {
  const { policy, creates, moved, found, older, isProof, matches, undone, tally, places } = findings;
  const shuffled = new ShuffledRows(policy.fields);
  for await (const difference of differences(pool, run, isProof)) {
    if (creates.leadIds.has(difference.leadId)) {
      tally.leaveLead(difference);
      continue;
    }
    const { leadId, lead, rowNumber, leadAbsences, deletionDone, merged, asked } = difference;
    const rowAbsences = Math.min(difference.rowAbsences, places.unread.has(leadId) ? 1 : Infinity);
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
      isRowDoubted: older.undecided.has('row'),
      deletionDone,
      merged,
      unasked: asked?.answer === 'gone' ? undefined : (asked?.message ?? notAsked),
      undone: lead === null || difference.isWanted ? null : undone.find(leadId, lead),
    };
    const planned = planBack(state, findings) ?? planOne(state, policy, found, matches, places);
    const actions = tally.withoutMissed(planned, 'leads');
    if (actions.length < planned.length) continue;
    tally.see(difference, actions, again !== undefined);
    // Cells that are brought forward are no sign of sorting.
    if (base !== null && row !== null && !older.bringsForward(leadId)) shuffled.see(base, row);
    await plan.add(...actions);
  }
  return shuffled;
}

/** Cells that were shifted before rows were moved as a whole, or after: their neighbours are those of one of both orders. */
async function findShifts(
  pool: pg.Pool,
  run: Run,
  { policy, moved }: Findings,
  shuffled: ShuffledRows,
): Promise<PlanCounts['shifted']> {
  const suspects = shuffled.suspects().filter(({ field }) => !moved.has(field));
  if (suspects.length === 0) return {};
  const names = suspects.map(({ field }) => field);
  const inOrder = async (when: 'now' | 'before') => {
    const rows = new ShiftedRows(suspects);
    for await (const row of rowsInPlace(pool, run, names, when)) rows.see(row);
    return rows.found();
  };
  const found = { ...(await inOrder('before')), ...(await inOrder('now')) };
  return Object.fromEntries(
    policy.fields.flatMap(({ field, column }) => {
      const shift = found[field];
      return shift === undefined ? [] : [[field, { ...shift, column }]];
    }),
  );
}

/** The plan of a record that an older copy lacks and that comes back; null: it is none. */
function planBack(
  state: PairState,
  { policy, found, matches, older, places }: Findings,
): readonly PlannedAction[] | null {
  const { leadId, base, lead, row } = state;
  if (row === null && older.comesBack('row', leadId))
    return planOne(state, { ...policy, onRowDeleted: 'restore' }, found, matches, places);
  if (base === null || lead !== null || row === null || !older.comesBack('lead', leadId)) return null;
  return [planLeadAgain(state, row)];
}

/** Returns how many rows are held because another one shows the same company. */
async function planLooseRows(
  pool: pg.Pool,
  run: Run,
  plan: PlanWriter,
  { policy, creates, found, matches, undone, refused, tally }: Findings,
  { first, names }: { readonly first: FirstLeadsTally | null; readonly names: Names | null },
): Promise<number> {
  let twins = 0;
  for await (const loose of looseRows(pool, run)) {
    const { row, leadId, unreadableId, idClosed, isApart, cells, isWanted } = loose;
    const mayBe = found.mayBe.get(row) ?? loose.mergedOf ?? undefined;
    if (leadId !== null) await plan.add(planDuplicateRow(leadId, row, mayBe));
    else if (unreadableId !== null) await plan.add(planUnreadableId(row, cells, unreadableId, mayBe, policy));
    else if (creates.rows.has(row)) {
      names?.see(row, cells);
      tally.leaveRow(row);
    } else if (found.links.has(row) || matches.linkedRows.has(row)) continue;
    else if (mayBe !== undefined) await plan.add(planLostRow(row, cells, mayBe, policy));
    else if (matches.heldRows.has(row)) {
      // Called for its side effect: the undone record was seen in this scan.
      undone.find('', cells);
      const held = matches.heldRows.get(row);
      if (held) await plan.add(held);
      else tally.heldWithLead += 1;
    } else if (isApart) tally.apart += 1;
    else {
      const isUndone = !isWanted && undone.find('', cells) !== null;
      const key = sentKey(sentContent(cells, policy));
      if (isWanted) refused.release(key);
      const before = isWanted ? null : refused.find(key);
      const planned = planNewRow(row, cells, isUndone ? undoneRow : before, policy);
      const actions = tally.withoutMissed(planned, 'rows');
      const isMade = actions.some(({ kind }) => kind === 'create-lead');
      const isStuck = idClosed !== null && isMade;
      const twin = isMade && !isStuck ? (names?.see(row, cells) ?? null) : null;
      if (twin !== null && !isWanted) {
        twins += 1;
        await plan.add(planTwinRow(row, cells, twin, policy));
        continue;
      }
      if (isMade && !isStuck) first?.see(row, cells);
      await plan.add(...(isStuck ? [planClosedId(row, cells, idClosed, policy)] : actions));
    }
  }
  return twins;
}

/** The companies of the table, if a row is held because it shows one of them: its first row may have a lead by now. */
async function namesOfTable(pool: pg.Pool, run: Run): Promise<Names> {
  const names = new Names();
  if (!(await isHeldFor(pool, run.connection, 'row.twin'))) return names;
  for await (const { row, values } of pairedValues(pool, run.connection, ['companyName', 'city']))
    if (row !== null) names.see(row, values);
  return names;
}

/** A decision or refusal is valid only while both sides show the values of that time. */
function validMemo(difference: Pick<Difference, 'memo' | 'lead' | 'row'>): Record<string, FieldMemo> {
  const entries = Object.entries(difference.memo ?? {}).flatMap(([field, memo]): [string, FieldMemo][] => {
    const [lead, row] = [difference.lead?.[field] ?? null, difference.row?.[field] ?? null];
    if (sameCell(memo.lead, lead) && sameCell(memo.row, row)) return [[field, memo]];
    return memo.covered === true ? [[field, { covered: true }]] : [];
  });
  return Object.fromEntries(entries);
}

export function withoutFields(values: Values, fields: ReadonlySet<string>): Values {
  if (fields.size === 0) return values;
  return Object.fromEntries(Object.entries(values).filter(([field]) => !fields.has(field)));
}

/** The reasons to write a row again. */
const goneRow: ReadonlySet<string> = new Set(['row-deleted', 'row-deleted-but-lead-edited']);

/** The guard's numbers of a plan, as far as the database has them. */
async function countPlan(
  context: StepContext,
  db: pg.PoolClient,
  run: Run,
  { isBroughtForward }: OlderCopies,
  placement: Placement | null,
): Promise<
  Omit<
    PlanCounts,
    'foreign' | 'strangers' | 'permuted' | 'shifted' | 'idsUnknown' | 'misread' | 'mark' | 'firstLeads'
  >
> {
  const service = await knownService(db, run.connection);
  const byKind: Record<string, number> = {};
  let [rewritten, unknown] = [0, 0];
  for (const { kind, reason, round, state, count } of await countActions(db, run.id)) {
    if (round !== run.round || state === 'left-out') continue;
    if (reason === 'row.orphan' || reason === 'lead.unasked') unknown += count;
    // An update that only fills empty cells, such as a new column, overwrites nothing.
    if (kind === 'update-row' && reason === 'fills-empty') continue;
    // A person chose to bring the older copy forward.
    if (isBroughtForward && (reason === 'older-copy' || goneRow.has(reason))) continue;
    byKind[kind] = (byKind[kind] ?? 0) + count;
    if (kind === 'create-row' && goneRow.has(reason)) rewritten += count;
  }
  const knownPairs = await countKnownPairs(db, run.connection);
  const ids = knownPairs === 0 && unknown > 0 ? await idsOfRows(db, run.id) : null;
  const column = context.connection.target.idColumn;
  return {
    knownPairs,
    firstIds: ids === null ? null : { ...ids, column, unknown },
    leads: run.pulled,
    otherService: service === context.connection.leads.baseUrl ? null : service,
    byKind,
    otherPlace: await otherPlace(db, run, placement),
    rows: run.targetRows,
    rewritten,
    byField: await countChangedFields(db, run),
    emptied: await countEmptiedFields(db, run),
  };
}
