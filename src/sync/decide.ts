import type pg from 'pg';
import { openReview } from '../review/pick-approved.ts';
import type { RunPolicy } from '../review/run-policy.ts';
import { clearActions } from '../store/actions.ts';
import { cellsWithoutAuthor, listPlannedConflicts, storeAuthors } from '../store/conflicts.ts';
import { storeMatches } from '../store/held.ts';
import { enterPlace } from '../store/places.ts';
import { clearScan, type Run, type RunPatch, updateRun } from '../store/runs.ts';
import { analyzeActions, analyzePairs, isMany } from '../store/database.ts';
import { storeSights, storeStatuses } from '../store/run-sights.ts';
import { askLeads, findForeign } from './ask-leads.ts';
import { commitScan } from './commit-scan.ts';
import { inLeasedTransaction, serviceOf, type StepContext } from './context.ts';
import type { FoundMatches } from './find-matches.ts';
import { makePlan, readablePolicy } from './make-plan.ts';
import { openWhole } from './read-target.ts';
import { PlanWriter, type WhyNotStorable } from './plan-writer.ts';
import { showsStatus } from './push-rows.ts';
import { judgeTable } from './table-mark.ts';
import { copiesNote, placeNotes } from './which-place.ts';
import { headingOf } from '../core/lead/mapping.ts';
import type { ShownCell, Author } from '../core/lead/author.ts';
import type { Doubts, PutBackCell } from '../core/merge/older-copy.ts';
import type { LiveScan } from '../core/merge/live-scan.ts';
import type { Policy } from '../core/merge/policy.ts';
import { LeadsyncError } from '../lib/errors.ts';
import { putBackCells, shownCells, whatIsKnown } from '../store/earlier-values.ts';
import { movedFields } from '../store/place-notes.ts';

/**
 * Stores the plan of a run. A sync commits in the same transaction what the scan alone proves; a plan (`mode`) changes
 * nothing else. An undo brings its own plan, which a person has reviewed: the guard does not look at it.
 */
export async function decide(context: StepContext, begun: Run): Promise<Run> {
  const { run: read, scan } = await openWhole(context, begun);
  if (read.phase !== 'plan') return read;
  const { verdict: mark, run, again } = await judgeTable(context, read);
  if (again) {
    context.memory[Symbol.dispose]();
    return run;
  }
  const next = { phase: run.mode === 'plan' ? 'finish' : 'push-leads', attempts: 0 } as const;
  if (context.runPolicy.plan !== null) return storePlan(context, run, scan, next, context.runPolicy.plan);
  const foreign = await findForeign(context, run, scan);
  await askLeads(context, run, scan);
  const imported = await doubtOfImport(context, run, scan, readablePolicy(context, run));
  const copies = copiesNote(context.target.name, (await context.target.conflictCopies?.(context.cut)) ?? []);
  const whyNot = await whyNotStorable(context, run);
  let [written, newPairs] = [0, 0];
  const planned = await inLeasedTransaction(context, async (db) => {
    const writer = await beginPlan(db, run, whyNot);
    const found = { mark, imported, foreign };
    const plan = await makePlan(context, db, run, scan, writer, found).catch((error: unknown) =>
      writer.failure(error),
    );
    written = writer.written;
    const { refusals } = plan;
    const isAsked = refusals.every(({ code }) => code === 'first-leads');
    if (isAsked && (run.mode === 'plan' || refusals.length > 0))
      await listPlanned(db, run, scan, plan.matches);
    const problems = [...run.problems, ...writer.unstorable];
    if (refusals.length > 0)
      return updateRun(db, run.id, { refusals, phase: 'finish', attempts: 0, problems });
    await clearScan(db, run.id);
    await storeSights(db, run.id, scan);
    const notes = [...(await placeNotes(db, plan.placement)), ...copies];
    const others = problems.filter(({ code }) => notes.every((note) => note.code !== code));
    const goesOn = { ...next, pausedRows: plan.tally.paused, problems: [...others, ...notes] };
    if (run.mode === 'plan') return updateRun(db, run.id, goesOn);
    if (showsStatus(context)) await storeStatuses(db, run.id, scan);
    const committed = await commitScan(context, db, run, scan, plan, goesOn);
    newPairs = committed.newPairs;
    return committed.run;
  });
  if (isMany(written)) await analyzeActions(context.pool);
  if (isMany(newPairs)) await analyzePairs(context.pool);
  if (run.mode === 'sync' && planned.refusals.length === 0) await noteAuthors(context, planned);
  return planned;
}

/** Lists what waits for a person before anything is carried out: it may be decided first. */
async function listPlanned(
  db: pg.PoolClient,
  run: Run,
  scan: LiveScan,
  { lines }: FoundMatches,
): Promise<void> {
  if (lines !== null) await storeMatches(db, run.connection, lines, true);
  await listPlannedConflicts(db, run, scan);
}

async function storePlan(
  context: StepContext,
  judged: Run,
  scan: LiveScan,
  next: RunPatch,
  planOf: NonNullable<RunPolicy['plan']>,
): Promise<Run> {
  const { pool, connection } = context;
  // Entered first: the plan looks up what belongs to the place.
  const run =
    judged.mode === 'sync'
      ? await inLeasedTransaction(context, (db) => enterPlace(db, judged, serviceOf(connection)))
      : judged;
  const planned = await inLeasedTransaction(context, async (db) => {
    const writer = await beginPlan(db, run);
    for await (const actions of planOf(pool, run, scan, connection.fields)) await writer.add(...actions);
    await writer.end();
    await clearScan(db, run.id);
    await storeSights(db, run.id, scan);
    return updateRun(db, run.id, { ...next, records: writer.written });
  });
  if (isMany(planned.records)) await analyzeActions(pool);
  return planned;
}

async function beginPlan(db: pg.PoolClient, run: Run, whyNot?: WhyNotStorable): Promise<PlanWriter> {
  await clearActions(db, run);
  return new PlanWriter(db, run, await openReview(db, run), whyNot);
}

/** For a plan: a sync has it from the write. */
async function whyNotStorable(
  { target, connection, cut }: StepContext,
  { mode }: Run,
): Promise<WhyNotStorable> {
  const whyNot = mode === 'plan' ? await target.notStorable?.(cut) : undefined;
  return (field, text) => {
    const why = whyNot?.(text) ?? null;
    return why && `${headingOf(connection.fields, field)}: ${why} Until then a sync holds the row`;
  };
}

/** The most cells whose authors a run requests; the next run requests the rest. */
const maxAuthorCells = 500;

/**
 * Requests from the target who changed its cells that are in conflict, and stores it. Without a conflict there is no
 * request. When the target fails, the next run requests them again.
 */
async function noteAuthors(context: StepContext, run: Run): Promise<void> {
  const { target, pool, log, cut, connection } = context;
  if (target.authors === undefined) return;
  const isDecided = connection.sync.onConflict !== 'hold';
  const cells = await cellsWithoutAuthor(pool, run, { limit: maxAuthorCells, isDecided });
  if (cells.length === 0) return;
  const authors = await target.authors(cells, cut).catch((error: unknown) => {
    if (cut.aborted || !(error instanceof LeadsyncError)) throw error;
    log.info({ run: run.id, code: error.code }, 'the target did not say who changed the values in conflict');
    return null;
  });
  if (authors === null) return;
  await inLeasedTransaction(context, (db) => storeAuthors(db, run, cells, authors));
}

/** More cells than this are evidence without an import. */
const few = 2;

/**
 * Evidence that an old list was imported into HubSpot: one import wrote all of the one or two cells that show an earlier
 * value. Costs one request, only where there are such cells. Throws retryable errors of the target.
 */
async function doubtOfImport(
  context: StepContext,
  run: Run,
  scan: LiveScan,
  policy: Policy,
): Promise<Doubts> {
  const cells = await fewPutBack(context, run, scan, policy);
  if (cells.length === 0) return {};
  const [first, ...others] = await authorsOf(context, cells);
  const list = first?.source;
  if (list?.type !== 'IMPORT' || list.id === null) return {};
  const isOne = others.every((author) => author?.source?.type === list.type && author.source.id === list.id);
  return isOne ? { row: { reason: `an import into HubSpot (number ${list.id}) wrote all of it` } } : {};
}

async function fewPutBack(
  { pool, connection }: StepContext,
  run: Run,
  scan: LiveScan,
  policy: Policy,
): Promise<readonly ShownCell[]> {
  if (connection.target.type !== 'hubspot' || !(await whatIsKnown(pool, run.connection)).hasMoved) return [];
  const moved = await movedFields(pool, run.connection, policy.fields);
  const fields = policy.fields.flatMap(({ field, direction }) =>
    direction === 'to-target' || moved.has(field) ? [] : [field],
  );
  const found: PutBackCell[] = [];
  for await (const cell of putBackCells(pool, run, scan, 'row', fields))
    if (found.push(cell) > few) return [];
  return shownCells(scan, found);
}

async function authorsOf(
  { target, cut }: StepContext,
  cells: readonly ShownCell[],
): Promise<readonly (Author | null)[]> {
  try {
    return (await target.authors?.(cells, cut)) ?? [];
  } catch (error) {
    if (error instanceof LeadsyncError && error.retry === 'never') return [];
    throw error;
  }
}
