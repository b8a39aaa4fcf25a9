import type pg from 'pg';
import {
  type Candidate,
  type CopiedSide,
  type CopyVerdict,
  copyCandidates,
  copyCodes,
  copyMessage,
  bringForward,
  type Doubt,
  judgeCopy,
  type Moment,
  type PutBackCell,
  putBackAt,
  Spans,
  type Span,
} from '../core/merge/older-copy.ts';
import type { Refusal } from '../core/merge/guard.ts';
import type { FieldMemo } from '../core/merge/merge-field.ts';
import type { Policy } from '../core/merge/policy.ts';
import {
  keptMoves,
  madeSince,
  newlyMissed,
  shownBefore,
  syncTimes,
  thereAgain,
  whatIsKnown,
} from '../store/earlier-values.ts';
import type { Run } from '../store/runs.ts';
import type { StepContext } from './context.ts';

/** What speaks for a copy beside the values, by side. */
export type Doubts = Readonly<Partial<Record<CopiedSide, Doubt>>>;

/** What a scan says of a side that may be an older copy. */
interface Found {
  readonly side: CopiedSide;
  readonly verdict: CopyVerdict;
  /** Cells that show what they showed at the moment of the copy, by lead. */
  readonly cells: ReadonlyMap<string, readonly PutBackCell[]>;
  /** Records that are missing and were made after it. */
  readonly missing: ReadonlySet<string>;
  readonly refusal: Refusal | null;
}

/** What a run makes of sides that are, or may be, older copies. */
export class OlderCopies {
  readonly refusals: readonly Refusal[];
  /** Sides of which an absence counts for nothing, because a person has not decided yet. */
  readonly undecided: ReadonlySet<CopiedSide>;
  readonly #found: readonly Found[];
  readonly #allow: readonly string[];

  constructor(found: readonly Found[], heldOn: readonly CopiedSide[], allow: readonly string[]) {
    this.#found = found;
    this.#allow = allow;
    this.refusals = found.flatMap(({ refusal }) => refusal ?? []);
    const isOpen = (side: CopiedSide): boolean => !allow.includes(copyCodes[side]) && !this.isBroughtForward;
    const unsure = found.flatMap(({ side, verdict }) => (verdict.kind === 'none' ? [] : [side]));
    this.undecided = new Set([...heldOn, ...unsure].filter(isOpen));
  }

  /** Whether a person wants what is older brought forward. */
  get isBroughtForward(): boolean {
    return this.#allow.includes(bringForward);
  }

  /** What an earlier run left about the fields of a pair, and what this one knows of older copies. */
  memo(leadId: string, memo: Readonly<Record<string, FieldMemo>>): Readonly<Record<string, FieldMemo>> {
    const fields: Record<string, FieldMemo> = { ...memo };
    for (const { side, verdict, cells } of this.#found) {
      // What is refused is shown in the plan as it would be if it were allowed.
      if (verdict.kind !== 'hold' && !this.isBroughtForward) continue;
      for (const { field } of cells.get(leadId) ?? []) fields[field] = { ...fields[field], putBack: side };
    }
    return Object.fromEntries(Object.entries(fields).map(([field, one]) => [field, this.#decided(one)]));
  }

  #decided({ putBack, ...memo }: FieldMemo): FieldMemo {
    if (putBack === undefined || putBack === null || this.#allow.includes(copyCodes[putBack])) return memo;
    return { ...memo, putBack, ...(this.isBroughtForward && { forward: true }) };
  }

  /** Whether a pair has cells that are brought forward. */
  bringsForward(leadId: string): boolean {
    return this.isBroughtForward && this.#found.some(({ cells }) => cells.has(leadId));
  }

  /** Whether a record is missing on a side because that is older, and is to come back. */
  comesBack(side: CopiedSide, leadId: string): boolean {
    return this.isBroughtForward && this.#found.some((one) => one.side === side && one.missing.has(leadId));
  }
}

/**
 * Looks whether the table or the service is an older copy of itself (docs/older-copies.md). `moved`: fields whose earlier
 * values were another column's. `notMissing`: leads whose row was found again by what it shows.
 */
export async function findOlderCopies(
  context: StepContext,
  run: Run,
  policy: Policy,
  {
    moved,
    notMissing,
    doubts = {},
  }: {
    readonly moved: ReadonlySet<string>;
    readonly notMissing: ReadonlyMap<string, unknown>;
    readonly doubts?: Doubts;
  },
): Promise<OlderCopies> {
  const { hasMoved, heldOn } = await whatIsKnown(context.pool, run.connection);
  if (!hasMoved) return new OlderCopies([], heldOn, run.allow);
  const found: Found[] = [];
  for (const side of ['row', 'lead'] as const) {
    const suspicion = { doubt: doubts[side], isHeld: heldOn.includes(side) };
    const one = await look(context, run, policy, side, moved, notMissing, suspicion);
    if (one !== null) found.push(one);
  }
  return new OlderCopies(found, heldOn, run.allow);
}

async function look(
  { pool, connection }: StepContext,
  run: Run,
  policy: Policy,
  side: CopiedSide,
  moved: ReadonlySet<string>,
  notMissing: ReadonlyMap<string, unknown>,
  { doubt, isHeld }: { readonly doubt: Doubt | undefined; readonly isHeld: boolean },
): Promise<Found | null> {
  const mappings = policy.fields.filter(({ field }) => !moved.has(field));
  const fields = mappings.map(({ field }) => field);
  // Where a field only goes to this side, what is older is written over, as anything else there.
  const arriving = side === 'row' ? 'to-target' : 'to-leads';
  const leaving = new Map(
    mappings.flatMap(({ field, direction }) => (direction === arriving ? [] : [[field, direction]])),
  );
  if (leaving.size === 0) return null;
  const cells = await putBackCells(pool, run, side, fields);
  if (!cells.some(({ field }) => leaving.has(field))) return null;

  const clock = new RunClock(await syncTimes(pool, connection.name), side);
  const missed = (await newlyMissed(pool, run, side)).filter(
    ({ leadId }) => side !== 'row' || !notMissing.has(leadId),
  );
  const again = await thereAgain(pool, run, side);
  const records = [...missed, ...again].map(({ at }) => clock.until(at));
  const candidates = copyCandidates(cells, records, doubt);
  if (candidates.length === 0) return null;
  const since = Math.min(...candidates.map(({ moment }) => moment));
  const kept = await keptSince(pool, run, side, fields, since);
  for (const at of await madeSince(pool, run, side, clock.startOf(since))) kept.add(clock.until(at));

  const judged = judgeCopy(candidates, kept, doubt);
  // What has been carried over since cells were held says nothing against a copy: records that are missing still may come back.
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

/** The verdict while a person has not decided on what is held. */
function stillHeld(candidates: readonly Candidate[]): CopyVerdict {
  const verdict = judgeCopy(candidates, new Spans());
  return verdict.kind === 'none' ? verdict : { ...verdict, kind: 'hold' };
}

async function putBackCells(
  pool: pg.Pool,
  run: Run,
  side: CopiedSide,
  fields: readonly string[],
): Promise<readonly PutBackCell[]> {
  const cells: (PutBackCell & { readonly spans: PutBackCell['spans'][number][] })[] = [];
  for await (const { leadId, field, ...span } of shownBefore(pool, run, side, fields)) {
    const last = cells.at(-1);
    if (last?.leadId === leadId && last.field === field) last.spans.push(span);
    else cells.push({ leadId, field, spans: [span] });
  }
  return cells;
}

/** Of cells that have changed since a moment and show the newer value: at which moments they showed another one. */
async function keptSince(
  pool: pg.Pool,
  run: Run,
  side: CopiedSide,
  fields: readonly string[],
  since: Moment,
): Promise<Spans> {
  const kept = new Spans();
  let before = { leadId: '', field: '', moment: since };
  for await (const move of keptMoves(pool, run, side, fields, since)) {
    const isSameCell = before.leadId === move.leadId && before.field === move.field;
    if (!move.isSame) kept.add({ from: isSameCell ? before.moment : since, to: move.moment - 1 });
    before = move;
  }
  return kept;
}

/** Which run was under way at a time. */
class RunClock {
  readonly #syncs: Awaited<ReturnType<typeof syncTimes>>;
  readonly #side: CopiedSide;

  constructor(syncs: Awaited<ReturnType<typeof syncTimes>>, side: CopiedSide) {
    this.#syncs = syncs;
    this.#side = side;
  }

  /** The moments at which a record that was made at a time (epoch ms) was not there, or one that went still was. */
  until(at: number): Span {
    const nth = this.#syncs.findLastIndex((sync) => sync.at <= at);
    // A lead that a run met was there already when it read the service; a row is written at the end.
    return { from: 0, to: 2 * (this.#syncs[nth]?.id ?? 0) - (this.#side === 'row' ? 1 : 2) };
  }

  /** When the run of a moment began, in epoch ms. */
  startOf(moment: Moment): number {
    return this.#syncs.findLast(({ id }) => 2 * id - 1 <= moment)?.at ?? 0;
  }
}

/** `21 November 2026 at 02:00 CET`. */
function dateInWords(at: number, timeZone: string): string {
  const format = {
    timeZone,
    day: 'numeric',
    month: 'long',
    year: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    timeZoneName: 'short',
  } as const;
  return new Intl.DateTimeFormat('en-GB', format).format(at);
}
