import {
  type Candidate,
  type CopiedSide,
  type CopyFound,
  type CopyVerdict,
  copyCandidates,
  copyCodes,
  copyMessage,
  bringForward,
  type Doubts,
  judgeCopy,
  keptSpans,
  type Moment,
  type PutBackCell,
  OlderCopies,
  putBackAt,
  showsBaseOf,
  Spans,
  type Span,
} from '../core/merge/older-copy.ts';
import type { LiveScan } from '../core/merge/live-scan.ts';
import type { Policy } from '../core/merge/policy.ts';
import {
  earlierCells,
  madeSince,
  newlyMissed,
  putBackCells,
  syncTimes,
  thereAgain,
  whatIsKnown,
} from '../store/earlier-values.ts';
import type { Run } from '../store/runs.ts';
import { isFiltered, type StepContext } from './context.ts';

/** What a scan knows that bears on a copy. */
interface Evidence {
  /** Fields whose earlier values were another column's. */
  readonly moved: ReadonlySet<string>;
  /** Leads whose row was found again by its content. */
  readonly notMissing: ReadonlyMap<string, unknown>;
  readonly doubts?: Doubts;
}

/** Finds out whether the table or the service is an older copy of itself (docs/which-is-which.md). */
export async function findOlderCopies(
  context: StepContext,
  run: Run,
  scan: LiveScan,
  policy: Policy,
  evidence: Evidence,
): Promise<OlderCopies> {
  const { hasMoved, conflictOn } = await whatIsKnown(context.pool, run.connection);
  const found: CopyFound[] = [];
  for (const side of hasMoved ? (['row', 'lead'] as const) : []) {
    const one = await judgeSide(context, run, scan, policy, side, evidence, conflictOn.includes(side));
    if (one !== null) found.push(one);
  }
  return new OlderCopies(found, conflictOn, run.allow);
}

async function judgeSide(
  context: StepContext,
  run: Run,
  scan: LiveScan,
  policy: Policy,
  side: CopiedSide,
  { moved, notMissing, doubts = {} }: Evidence,
  isHeld: boolean,
): Promise<CopyFound | null> {
  const { pool, connection } = context;
  const doubt = doubts[side];
  const mappings = policy.fields.filter(({ field }) => !moved.has(field));
  const fields = mappings.map(({ field }) => field);
  // A field that only travels to this side is overwritten there anyway.
  const arriving = side === 'row' ? 'to-target' : 'to-leads';
  const leaving = new Map(
    mappings.flatMap(({ field, direction }) => (direction === arriving ? [] : [[field, direction]])),
  );
  if (leaving.size === 0) return null;
  const cells: PutBackCell[] = [];
  for await (const cell of putBackCells(pool, run, scan, side, fields)) cells.push(cell);
  if (!cells.some(({ field }) => leaving.has(field))) return null;

  const clock = new RunClock(await syncTimes(pool, connection.name), side);
  // What a filter hides was not taken back by a restored service.
  const isHidden = side === 'lead' && isFiltered(context);
  const missed = isHidden
    ? []
    : (await newlyMissed(pool, run, scan, side)).filter(
        ({ leadId }) => side !== 'row' || !notMissing.has(leadId),
      );
  const again = await thereAgain(pool, run, scan, side);
  const records = [...missed, ...again].map(({ at }) => clock.until(at));
  const candidates = copyCandidates(cells, records, doubt);
  if (candidates.length === 0) return null;
  const since = Math.min(...candidates.map(({ moment }) => moment));
  const kept = new Spans();
  for await (const cell of earlierCells(pool, run, side, fields, { since }))
    if (showsBaseOf(scan, side, cell)) for (const span of keptSpans(cell, since)) kept.add(span);
  for (const at of await madeSince(pool, run, scan, side, clock.startOf(since))) kept.add(clock.until(at));

  const judged = judgeCopy(candidates, kept, doubt);
  // Values that travelled since cells were held do not speak against a copy: records that are still missing may come back.
  const verdict = judged.kind === 'none' && isHeld ? stillHeld(candidates) : judged;
  if (verdict.kind === 'none') return null;
  const { moment } = verdict;
  const putBack = putBackAt(cells, moment);
  const chosen = putBack.cells.filter(({ field }) => leaving.has(field));
  if (chosen.length === 0) return null;
  const mayUpdate = chosen.every(({ field }) => leaving.get(field) === 'two-way');
  const isDecided = run.allow.includes(copyCodes[side]) || (run.allow.includes(bringForward) && mayUpdate);
  const message = copyMessage({
    side,
    connection: connection.name,
    cells: putBack.cells.length,
    records: verdict.putBack - putBack.cells.length,
    kept: verdict.kept,
    before: dateInWords(putBack.leftAt, connection.sync.timeZone),
    doubt,
    mayUpdate,
  });
  return {
    side,
    verdict,
    cells: Map.groupBy(chosen, ({ leadId }) => leadId),
    missing: new Set(missed.filter(({ at }) => moment <= clock.until(at).to).map(({ leadId }) => leadId)),
    refusal: verdict.kind === 'stop' && !isDecided ? { code: copyCodes[side], message } : null,
  };
}

/** The verdict until a person decides on the conflicts of a copy. */
function stillHeld(candidates: readonly Candidate[]): CopyVerdict {
  const verdict = judgeCopy(candidates, new Spans());
  return verdict.kind === 'none' ? verdict : { ...verdict, kind: 'hold' };
}

/** Tells which run was under way at a time. */
class RunClock {
  readonly #syncs: Awaited<ReturnType<typeof syncTimes>>;
  readonly #side: CopiedSide;

  constructor(syncs: Awaited<ReturnType<typeof syncTimes>>, side: CopiedSide) {
    this.#syncs = syncs;
    this.#side = side;
  }

  /** The moments before a record was created, or before it went, at this time (epoch ms). */
  until(at: number): Span {
    const nth = this.#syncs.findLastIndex((sync) => sync.at <= at);
    // A lead was there before the run that met it read the service; a row is written at the end of a run.
    return { from: 0, to: 2 * (this.#syncs[nth]?.id ?? 0) - (this.#side === 'row' ? 1 : 2) };
  }

  /** When the run of a moment began, in epoch ms. */
  startOf(moment: Moment): number {
    return this.#syncs.findLast(({ id }) => 2 * id - 1 <= moment)?.at ?? 0;
  }
}

/** `21 November 2026 at 02:00 CET`. */
function dateInWords(at: number, timeZone: string): string {
  const date = { day: 'numeric', month: 'long', year: 'numeric' } as const;
  const time = { hour: '2-digit', minute: '2-digit', timeZoneName: 'short' } as const;
  return new Intl.DateTimeFormat('en-GB', { timeZone, ...date, ...time }).format(at);
}
