import type pg from 'pg';
import { hashContent } from '../core/lead/content-hash.ts';
import { type FieldMapping, headingOf } from '../core/lead/mapping.ts';
import { type AbsenceProof, LooseRows } from '../core/merge/difference.ts';
import { FirstLeadsTally, Names } from '../core/merge/first-leads.ts';
import { type ForeignLeads, guard, type GuardTally, type PlanCounts } from '../core/merge/guard.ts';
import type { MarkVerdict } from '../core/merge/judge-mark.ts';
import type { Doubts, OlderCopies } from '../core/merge/older-copy.ts';

import type { LiveScan } from '../core/merge/live-scan.ts';
import { type PlanFacts, Planner } from '../core/merge/planner.ts';
import type { Policy } from '../core/merge/policy.ts';
import {
  type Elsewhere,
  type Home,
  misreadCells,
  type OtherTable,
  placesInCells,
  rowsInCells,
} from '../core/merge/row-elsewhere.ts';
import { ShiftedRows, type ShuffledRows } from '../core/merge/shifted-rows.ts';
import {
  releasedRows,
  rowsInOtherTables,
  rowsInPlace,
  rowsOfOtherTables,
  scannedLeadCells,
  sightsOf,
  unknownLeads,
  unreadElsewhere,
  wantedRows,
} from '../store/differences.ts';
import { movedFields } from '../store/place-notes.ts';
import { loadUndone, pairedValues } from '../store/held.ts';
import { begunRows, planNewRows } from '../store/new-rows.ts';
import { basesOf, countFilled } from '../store/pairs.ts';
import { isFirstSync, knownService, placeNames, type Service } from '../store/places.ts';
import { loadRefused } from '../store/refused-creates.ts';
import type { Run } from '../store/runs.ts';
import { isFiltered, policyOf, serviceOf, type StepContext } from './context.ts';
import { nothingSettled, settleCreates, type SettledCreates } from '../core/merge/settle-creates.ts';
import { findMatches, type FoundMatches } from './find-matches.ts';
import { findOlderCopies } from './find-older-copy.ts';
import type { PlanWriter } from './plan-writer.ts';
import { doubtsOf } from './table-mark.ts';
import { otherPlace, type Placement, placementOf } from './which-place.ts';
import { matchLostCreates, tornWeight } from '../core/merge/match-lost-creates.ts';
import { openIntents } from '../store/intents.ts';
import { inTurns } from './concurrency.ts';
import {
  type FoundRows,
  foundRows,
  goneLead,
  looseStray,
  type LostLead,
  lostMarks,
  orphanRow,
  renamedLead,
  type Stray,
  strayMarks,
  unheardLead,
} from '../core/merge/lost-rows.ts';

/** What a plan found beside its actions, for the guard and for `commitScan`. */
export interface Plan extends Pick<PlanFacts, 'moved' | 'found' | 'isProof' | 'undone' | 'refused'> {
  readonly creates: SettledCreates;
  readonly matches: FoundMatches;
  readonly tally: Planner['tally'];
  readonly mark: MarkVerdict;
  /** How many baselines move without an action; see `keepMoves`. */
  readonly moves: number;
  /** See `planNewRows`. */
  readonly newRows: number;
  readonly refusals: Run['refusals'];
  readonly placement: Placement | null;
}

/**
 * Compares the records of a scan with the baseline, stores the actions, and runs the guard. Writes nothing but the plan.
 * `imported`: evidence of an older copy.
 */
export async function makePlan(
  context: StepContext,
  db: pg.PoolClient,
  run: Run,
  scan: LiveScan,
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
  const proof = { weight: scanWeight(context, run), filtered: isFiltered(context), service };
  const creates = await findLostCreates(db, run, scan, policy, proof);
  await plan.add(...creates.actions);
  const moved = await movedFields(db, run.connection, policy.fields);
  const homes = await rowsOfOtherTables(db, run, scan, service);
  const found = await findRows(db, run, scan, fields, policy, creates, homes);
  const placement = await placementOf(db, run, name);
  // A moved table that puts values back may be a copy.
  const isMoved = placement?.kind === 'moved';
  const moves = isMoved ? { row: { reason: `it was at ${placeNames(placement).before} before` } } : {};
  const older = await findOlderCopies(context, run, scan, policy, {
    moved,
    notMissing: found.rowOf,
    doubts: { ...moves, ...imported, ...doubtsOf(mark) },
  });
  const isProof = absenceProof(context, run, older);
  const inCells = rowsInCells(scan);
  const inOthers = await rowsInOtherTables(db, run, scan, service);
  const elsewhere: Elsewhere = new Map<string, string | OtherTable>([...inOthers, ...placesInCells(inCells)]);
  const unread =
    sync.onRowDeleted === 'delete-lead' || sync.onRowDeleted === 'ask'
      ? await unreadElsewhere(db, run, scan, service)
      : new Set<string>();
  const matches = await findMatches(context, run, scan, creates, found, policy);
  const released = await releasedRows(db, run.connection);
  const loose = new LooseRows(
    await wantedRows(db, run.connection),
    new Set(released.map((cells) => hashContent(cells, fields))),
  );
  const first = (await isFirstSync(db, run)) ? new FirstLeadsTally(policy.fields) : null;
  const findings = {
    policy,
    creates,
    moved,
    found,
    older,
    isProof,
    matches,
    undone: await loadUndone(db, run.connection, fields),
    refused: await loadRefused(db, run.connection),
    loose,
    elsewhere,
    homes,
    unread,
    first,
    names: sync.match === 'off' ? null : await namesOfTable(context.pool, run, scan, creates.rows),
  };
  const planner = new Planner(findings);
  for await (const sight of sightsOf(db, run, scan)) {
    const { actions, absences } = planner.pair(sight);
    plan.count(absences);
    await plan.add(...actions);
  }
  for (const row of scan.rows.loose()) await plan.add(...planner.row(row));
  await plan.add(...planner.end());
  await plan.end();
  const newRows = await planNewRows(db, run, scan, context.target.batchSize);
  plan.guarded.add('create-row', 'new-lead', newRows);

  const { shuffled, tally, twins } = planner;
  const { strangers } = shuffled;
  const { idsUnknown } = found;
  const permuted = shuffled.permuted();
  const shifted = await findShifts(db, run, scan, findings, shuffled);
  const numbers = await countPlan(context, db, run, scan, plan.guarded, planner.ids, older, placement);
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
  return { ...findings, tally, mark, moves: plan.moves, newRows, refusals, placement };
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
    at: run.scanStartedAt,
    proveAfter: context.connection.sync.proveAfter,
  };
}

/** How much the absence of a lead in this scan proves; see `ScanProof`. */
export function scanWeight(context: StepContext, run: Run): number {
  if (isFiltered(context) || run.pulled === 0) return 0;
  return run.scanIncomplete ? 0.5 : 1;
}

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

/** Cells that were shifted before rows were moved as a whole, or after: their neighbours are those of one of both orders. */
async function findShifts(
  db: pg.PoolClient,
  run: Run,
  scan: LiveScan,
  { policy, moved }: Pick<PlanFacts, 'policy' | 'moved'>,
  shuffled: ShuffledRows,
): Promise<PlanCounts['shifted']> {
  const suspects = shuffled.suspects().filter(({ field }) => !moved.has(field));
  if (suspects.length === 0) return {};
  const names = suspects.map(({ field }) => field);
  const inOrder = async (when: 'now' | 'before') => {
    const rows = new ShiftedRows(suspects);
    for await (const row of rowsInPlace(db, run, scan, names, when)) rows.see(row);
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

/** The companies of rows whose lead is known, or under way (`creates`). */
async function namesOfTable(
  pool: pg.Pool,
  run: Run,
  scan: LiveScan,
  creates: ReadonlySet<number>,
): Promise<Names> {
  const names = new Names();
  if (!scan.rows.isAnyWithoutId) return names;
  for (const { row, cells } of scan.rows.loose()) if (creates.has(row)) names.see(row, cells);
  for await (const { leadId, row: before, values } of pairedValues(pool, run.connection, [
    'companyName',
    'city',
  ])) {
    const shown = scan.row(leadId);
    const row = shown?.row ?? before;
    if (row === null || !scan.hasRow(leadId)) continue;
    names.see(row, shown?.cells ?? values);
    // A name on which the two sides do not agree is a name of the company too.
    names.see(row, scan.lead(leadId) ?? {});
  }
  return names;
}

/** The guard's numbers of a plan, but for what was found on the way. */
async function countPlan(
  context: StepContext,
  db: pg.PoolClient,
  run: Run,
  scan: LiveScan,
  guarded: GuardTally,
  ids: Planner['ids'],
  { isBroughtForward }: OlderCopies,
  placement: Placement | null,
): Promise<
  Omit<
    PlanCounts,
    'foreign' | 'strangers' | 'permuted' | 'shifted' | 'idsUnknown' | 'misread' | 'mark' | 'firstLeads'
  >
> {
  const service = await knownService(db, run.connection);
  const { unknown, ...counted } = guarded.counts(isBroughtForward);
  const knownPairs = scan.inStep();
  const hasFirst = knownPairs === 0 && unknown > 0;
  const filled = await countFilled(db, run.connection, Object.keys(guarded.emptied));
  const column = context.connection.target.idColumn;
  return {
    knownPairs,
    firstIds: hasFirst ? { ...ids, column, unknown } : null,
    leads: run.pulled,
    otherService: service === context.connection.leads.baseUrl ? null : service,
    otherPlace: await otherPlace(db, run, scan, placement),
    rows: run.targetRows,
    ...counted,
    byField: guarded.byField,
    emptied: Object.fromEntries(
      Object.entries(guarded.emptied).map(([field, emptied]) => [
        field,
        { emptied, filled: filled.get(field) ?? 0 },
      ]),
    ),
  };
}

/** Up to this number, all leads without a row are kept in memory; above it, only those that a stray row may belong to. */
const mostGone = 20_000;

/** The most leads with renamed rows that are looked at: more are a matter of the guard. */
const mostRenamed = 5_000;

/**
 * Finds the rows of leads that lost theirs; skips rows and leads of `creates`, except leads whose row was not found, and rows
 * of leads in `homes`: it is known whose they are.
 */
async function findRows(
  db: pg.PoolClient,
  run: Run,
  scan: LiveScan,
  fields: readonly FieldMapping[],
  policy: Policy,
  creates: Pick<SettledCreates, 'rows' | 'leadIds' | 'rowless'>,
  homes: ReadonlyMap<string, Home>,
): Promise<FoundRows> {
  const begun = await begunRows(db, run.connection);
  const [rowless, gone, renamed] = [[...creates.rowless], [] as LostLead[], [] as LostLead[]];
  let [fresh, newOrphans] = [0, 0];
  const taken = new Set([...creates.leadIds, ...rowless.map(({ leadId }) => leadId)]);
  if (begun.size > 0 || scan.inStep() > 0)
    for await (const sight of sightsOf(db, run, scan, scan.differing(begun.size === 0))) {
      if (taken.has(sight.leadId)) continue;
      const unheard = unheardLead(sight, begun);
      if (unheard !== null) {
        rowless.push(unheard);
        taken.add(sight.leadId);
      }
      const lost = goneLead(sight);
      if (lost?.isFresh === true) fresh += 1;
      if (lost !== null && gone.length <= mostGone) gone.push(lost);
      const other = run.allow.includes('rows-shuffled') ? null : renamedLead(sight, fields);
      if (other !== null && renamed.length < mostRenamed) renamed.push(other);
    }
  const isAnyLost = rowless.length + gone.length + renamed.length > 0;
  if (!isAnyLost && !scan.rows.hasUnreadableIds)
    return foundRows([], [], fields, policy, { fresh, newOrphans });
  const areMany = gone.length > mostGone;
  if (areMany) gone.length = 0;
  gone.unshift(...rowless);
  const marksOf = (lead: LostLead): readonly string[] => lostMarks(lead, fields, policy.fields);
  const marks = new Set([...gone, ...renamed].flatMap(marksOf));
  const strays: Stray[] = [];
  const seeStray = (stray: Stray): void => {
    if (areMany || stray.isUnreadable || strayMarks(stray).some((mark) => marks.has(mark)))
      strays.push(stray);
  };
  for await (const sight of sightsOf(db, run, scan, scan.differing(true))) {
    const orphan = homes.has(sight.leadId) ? null : orphanRow(sight, fields, rowless.length > 0);
    if (orphan === null) continue;
    if (orphan.isNew) newOrphans += 1;
    seeStray(orphan.stray);
  }
  for (const loose of scan.rows.loose())
    if (loose.leadId === null ? !creates.rows.has(loose.row) : !homes.has(loose.leadId))
      seeStray(looseStray(loose));
  if (areMany) {
    const ofStrays = new Set(strays.flatMap(strayMarks));
    for await (const sight of sightsOf(db, run, scan, scan.differing(true))) {
      const lost = taken.has(sight.leadId) ? null : goneLead(sight);
      if (lost !== null && marksOf(lost).some((mark) => ofStrays.has(mark))) gone.push(lost);
    }
  }
  return foundRows(strays, [...gone, ...renamed], fields, policy, { fresh, newOrphans });
}

/** Finds the lead and the row of every unfinished create, and plans the link between them (docs/architecture.md 6). */
async function findLostCreates(
  db: pg.PoolClient,
  run: Run,
  seen: LiveScan,
  policy: Policy,
  { weight: most, filtered, service }: { weight: number; filtered: boolean; service: Service },
): Promise<SettledCreates> {
  const intents = await openIntents(db, run, seen);
  if (intents.length === 0) return nothingSettled();
  const weight = run.scanIncomplete ? Math.min(most, tornWeight(seen.unlisted())) : most;
  const scan = { weight, startedAt: run.scanStartedAt };
  const matches = await inTurns(matchLostCreates(intents, await unknownLeads(db, run, seen, service), scan));
  const foundIds = [...matches.values()].flatMap((match) => (match.kind === 'found' ? [match.leadId] : []));
  const leads = await scannedLeadCells(db, run, seen, foundIds);
  const bases = await basesOf(db, run.connection, foundIds);
  const loose = [...seen.rows.loose()].filter(({ leadId }) => leadId === null);
  const hasRow = (leadId: string): boolean => seen.hasRow(leadId);
  const facts = { matches, leads, bases, hasRow, loose, scan, filtered };
  const settled = await inTurns(settleCreates(intents, facts, policy));
  seen.lookAt(foundIds);
  return settled;
}
