import { valueHash } from '../lead/content-hash.ts';
import { counted } from '../lead/wording.ts';
import { type Cell, type Cells, isUnreadable, sameCell, type Value } from '../lead/value.ts';
import type { Refusal } from './guard.ts';
import type { LiveScan } from './live-scan.ts';
import type { FieldMemo } from './merge-field.ts';
import { isPutBack } from './undo.ts';

/**
 * A point in the runs of a connection, in halves: 2r is after run r, 2r - 1 as it read the side before it wrote. An
 * older copy dates from one of them.
 */
export type Moment = number;

/** Both ends included. */
export interface Span {
  readonly from: Moment;
  readonly to: Moment;
}

/** A cell that shows an earlier value instead of the baseline. */
export interface PutBackCell {
  readonly leadId: string;
  readonly field: string;
  /** `leftAt` (epoch ms): when the cell changed from that value. */
  readonly spans: readonly (Span & { readonly leftAt: number })[];
}

/** A cell of which baselines have moved. */
export interface EarlierCell {
  readonly leadId: string;
  readonly field: string;
  readonly base: Value;
  /** What each move of the baseline left behind (`valueHash`), in a run that `had` the newer value there already; `at`: epoch ms. */
  readonly moves: readonly {
    readonly hash: string;
    readonly run: number;
    readonly had: boolean;
    readonly at: number;
  }[];
}

/** What a side shows of a lead that is not as in the baseline, and the other side; null: it is, or is not there. */
export interface ShownBySides {
  readonly mine: Cells | null;
  readonly others: Cells | null;
}

/** What a scan shows of a lead, for one of its sides. */
export function shownBySides(
  scan: Pick<LiveScan, 'lead' | 'row'>,
  side: CopiedSide,
  leadId: string,
): ShownBySides {
  const [lead, row] = [scan.lead(leadId), scan.row(leadId)?.cells ?? null];
  return side === 'lead' ? { mine: lead, others: row } : { mine: row, others: lead };
}

/** What both sides show in a cell that shows an earlier value again. */
interface ShownAgain {
  readonly mine: Value;
  readonly others: Cell;
}

/** Null: it shows no earlier value, or one that the other side shows too. */
export function shownAgain(cell: EarlierCell, { mine, others }: ShownBySides): ShownAgain | null {
  const [own, other] = [mine?.[cell.field], others === null ? cell.base : (others[cell.field] ?? null)];
  if (own === undefined || isUnreadable(own) || sameCell(own, cell.base) || sameCell(own, other)) return null;
  const hash = valueHash(own);
  return cell.moves.some((move) => move.hash === hash) ? { mine: own, others: other } : null;
}

/** What is on record of a cell. */
export interface CellRecord {
  /** What both sides showed when a person decided on them, or the service refused one. */
  readonly decided: readonly { readonly mine: Cell; readonly others: Cell }[];
  /** What was written there last; null: nothing. */
  readonly written: { readonly run: number; readonly rule: string; readonly value: Cell } | null;
}

/**
 * The spans in which a cell showed what it shows again; null: a person decided on it, the service refuses it, or an undo put it
 * back.
 */
export function putBackCell(
  { leadId, field, moves }: EarlierCell,
  { mine, others }: ShownAgain,
  { decided, written }: CellRecord,
): PutBackCell | null {
  if (decided.some((one) => sameCell(one.mine, mine) && sameCell(one.others, others))) return null;
  const isUndone = written !== null && isPutBack(written.rule) && sameCell(written.value, mine);
  if (isUndone && moves.every(({ run }) => run <= written.run)) return null;
  const hash = valueHash(mine);
  const spans = leftBehind(moves, 0).flatMap(({ hash: shown, ...span }) =>
    shown === hash && span.from <= span.to ? [span] : [],
  );
  return spans.length === 0 ? null : { leadId, field, spans };
}

/** What a cell showed from a moment on, until each of the moves after it. */
function leftBehind(
  moves: EarlierCell['moves'],
  since: Moment,
): readonly (PutBackCell['spans'][number] & { readonly hash: string })[] {
  const after = moves
    .map(({ hash, run, had, at }) => ({ hash, moment: 2 * run - Number(had), at }))
    .filter(({ moment }) => moment > since)
    .toSorted((a, b) => a.moment - b.moment || a.at - b.at);
  return after.map(({ hash, moment, at }, nth) => ({
    hash,
    from: after[nth - 1]?.moment ?? since,
    to: moment - 1,
    leftAt: at,
  }));
}

/** When a cell that shows its baseline showed another value, from a moment on. */
export function keptSpans({ base, moves }: EarlierCell, since: Moment): readonly Span[] {
  const hash = valueHash(base);
  return leftBehind(moves, since).filter((span) => span.hash !== hash);
}

/** Whether a side shows the baseline of a cell. */
export function showsBaseOf(
  scan: Pick<LiveScan, 'lead' | 'row' | 'missed' | 'isPaused'>,
  side: CopiedSide,
  { leadId, field, base }: Omit<EarlierCell, 'moves'>,
): boolean {
  if (scan.missed(leadId)[side] || scan.isPaused(leadId)) return false;
  const { mine } = shownBySides(scan, side, leadId);
  const cell = mine?.[field];
  return mine === null || (cell !== undefined && !isUnreadable(cell) && sameCell(cell, base));
}

/**
 * Evidence of a copy beside the values, in words ("an import wrote all of it"). `run`: the last one known to have
 * written to what was copied.
 */
export interface Doubt {
  readonly reason: string;
  readonly run?: number;
}

/** Whether a side is an older copy. `hold`: too little evidence; what it would put back waits for a person. */
export type CopyVerdict =
  | { readonly kind: 'none' }
  | {
      readonly kind: 'hold' | 'stop';
      readonly moment: Moment;
      readonly putBack: number;
      readonly kept: number;
    };

/** This much put back, with at most a quarter as much kept, is no tidying up by hand. */
const enough = 3;
const share = 4;

/** With other evidence one cell is enough. */
const enoughWithDoubt = 1;

/** Counts in how many spans each moment lies. */
export class Spans {
  readonly #changes = new Map<Moment, number>();

  add({ from, to }: Span): void {
    if (to < from) return;
    this.#changes.set(from, (this.#changes.get(from) ?? 0) + 1);
    this.#changes.set(to + 1, (this.#changes.get(to + 1) ?? 0) - 1);
  }

  at(moments: readonly Moment[]): ReadonlyMap<Moment, number> {
    const counts = new Map<Moment, number>();
    let count = 0;
    // Of one moment the change comes first.
    const asked = moments.map((moment) => [moment, null] as const);
    for (const [moment, change] of [...this.#changes, ...asked].toSorted(([a], [b]) => a - b)) {
      if (change === null) counts.set(moment, count);
      else count += change;
    }
    return counts;
  }
}

/** A moment the copy may date from, and how much it puts back. */
export interface Candidate {
  readonly moment: Moment;
  readonly putBack: number;
}

/**
 * The moments just before a put-back cell changed, or before a missing record was made or a returned one went
 * (`records`: until when each was as it is now), where enough is put back. None without a put-back cell: rows are
 * deleted every day. Pure.
 */
export function copyCandidates(
  cells: readonly PutBackCell[],
  records: readonly Span[],
  doubt?: Doubt,
): readonly Candidate[] {
  const ofCells = new Spans();
  const ofRecords = new Spans();
  for (const { spans } of cells) for (const span of spans) ofCells.add(span);
  for (const span of records) ofRecords.add(span);
  const ends = [...cells.flatMap(({ spans }) => spans), ...records].map(({ to }) => to);
  const marked = doubt?.run === undefined ? null : 2 * doubt.run;
  // Runs that wrote no row left the mark unchanged, so the copy may contain later edits.
  const moments = [
    ...new Set(marked === null ? ends : [marked, ...ends.filter((moment) => moment > marked)]),
  ];
  const [putBack, missing] = [ofCells.at(moments), ofRecords.at(moments)];
  const least = doubt === undefined ? enough - 1 : enoughWithDoubt;
  return moments.flatMap((moment) => {
    const count = putBack.get(moment) ?? 0;
    const all = count + (missing.get(moment) ?? 0);
    return count > 0 && all >= least ? [{ moment, putBack: all }] : [];
  });
}

/**
 * Whether the side is a copy of one of these moments. A copy puts back all that changed since; an edit does not.
 * `kept`: what changed since a moment and still shows the newer value. Pure.
 */
export function judgeCopy(candidates: readonly Candidate[], kept: Spans, doubt?: Doubt): CopyVerdict {
  const keptAt = kept.at(candidates.map(({ moment }) => moment));
  const judged = candidates.flatMap(({ moment, putBack }) => {
    const count = keptAt.get(moment) ?? 0;
    const kind = verdictOf(putBack, count, doubt);
    return kind === null ? [] : [{ kind, moment, putBack, kept: count }];
  });
  const [best = { kind: 'none' as const }] = judged.toSorted(
    (a, b) =>
      Number(b.kind === 'stop') - Number(a.kind === 'stop') ||
      b.putBack - share * b.kept - (a.putBack - share * a.kept) ||
      b.moment - a.moment,
  );
  return best;
}

function verdictOf(putBack: number, kept: number, doubt: Doubt | undefined): 'hold' | 'stop' | null {
  if (doubt?.run !== undefined) return 'stop';
  if (putBack >= (doubt === undefined ? enough : enoughWithDoubt) && share * kept <= putBack) return 'stop';
  return putBack === enough - 1 && kept === 0 ? 'hold' : null;
}

/** The cells that show what they showed at a moment, and when the first of them changed after it. */
export function putBackAt(
  cells: readonly PutBackCell[],
  moment: Moment,
): { readonly cells: readonly PutBackCell[]; readonly leftAt: number } {
  let leftAt = Number.POSITIVE_INFINITY;
  const putBack = cells.filter(({ spans }) => {
    const span = spans.find(({ from, to }) => from <= moment && moment <= to);
    leftAt = Math.min(leftAt, span?.leftAt ?? leftAt);
    return span !== undefined;
  });
  return { cells: putBack, leftAt };
}

/** The side that may be an older copy. */
export type CopiedSide = 'lead' | 'row';

/** The guard's code for an older copy of each side. */
export const copyCodes = { row: 'older-copy', lead: 'older-service' } as const;

/** The `--allow` value that brings the older side forward. */
export const bringForward = 'older-copy:update';

/** The options of `leadsync sync` that pass a refusal with several ways out, and what they do. */
const waysPast = {
  'older-copy': [
    [
      '--older-copy update',
      'brings the table forward: those cells get the newer values, missing rows come back, and edits made in the copy are kept',
    ],
    ['--allow older-copy', 'treats what the table shows as edits, if it was put back on purpose'],
  ],
  'older-service': [
    [
      '--older-copy update',
      'brings the service forward: those fields get the newer values, the sync after it makes missing leads again, and edits made since are kept',
    ],
    ['--allow older-service', 'treats what the service shows as edits, if it was restored on purpose'],
  ],
} as const satisfies Record<string, readonly (readonly [option: string, does: string])[]>;

/** Of the codes of a run's problems the guard's that one option lets pass: refusals with several ways out have named them. */
export function allowable(codes: readonly string[]): readonly string[] {
  return codes
    .flatMap((code) => /^guard\.(?!target\.)(.+)/.exec(code)?.[1] ?? [])
    .filter((code) => !(code in waysPast));
}

/** The findings for the message. `before`: in words. `records`: missing or returned. */
export interface CopyFindings {
  readonly side: CopiedSide;
  readonly connection: string;
  readonly cells: number;
  readonly records: number;
  readonly kept: number;
  readonly before: string;
  readonly doubt: Doubt | undefined;
  /** Whether all of those cells may be written. */
  readonly mayUpdate: boolean;
}

/** Why the run stopped, and how to continue, as sentences. */
export function copyMessage(found: CopyFindings): string {
  const { side, connection, cells, records, kept, before, doubt, mayUpdate } = found;
  const [shown, record] = side === 'row' ? ['the table shows', 'row'] : ['the service shows', 'lead'];
  const lost =
    records === 0
      ? ''
      : `, and ${counted(records, record)} made or deleted since ${records === 1 ? 'is' : 'are'} as before it`;
  const rest =
    kept === 0
      ? 'nothing shows a newer value'
      : `${counted(kept, 'cell or record', 'cells or records')} that changed since ${kept === 1 ? 'is' : 'are'} newer`;
  const why = doubt === undefined ? rest : `${rest}; ${doubt.reason}`;
  const command = `leadsync sync --connection ${connection}`;
  const ways = waysPast[copyCodes[side]].slice(mayUpdate ? 0 : 1);
  return [
    `in ${counted(cells, 'cell')} ${shown} what was there before ${before}${lost}; ${why}: is it an older copy? Nothing was written, and nothing that is missing counts as deleted`,
    ...ways.map(([option, does]) => `${command} ${option} ${does}`),
  ].join('. ');
}

/** Evidence of a copy beside the values, by side. */
export type Doubts = Readonly<Partial<Record<CopiedSide, Doubt>>>;

/** What a scan shows of a side that may be an older copy. */
export interface CopyFound {
  readonly side: CopiedSide;
  readonly verdict: CopyVerdict;
  /** Cells that show their value of the moment of the copy, by lead. */
  readonly cells: ReadonlyMap<string, readonly PutBackCell[]>;
  /** Missing records that were created after it. */
  readonly missing: ReadonlySet<string>;
  readonly refusal: Refusal | null;
}

/** The sides that are, or may be, older copies, and how a run treats them. */
export class OlderCopies {
  readonly refusals: readonly Refusal[];
  /** Sides on which an absence proves nothing until a person decides. */
  readonly undecided: ReadonlySet<CopiedSide>;
  readonly #found: readonly CopyFound[];
  readonly #allow: readonly string[];

  constructor(found: readonly CopyFound[], conflictOn: readonly CopiedSide[], allow: readonly string[]) {
    this.#found = found;
    this.#allow = allow;
    this.refusals = found.flatMap(({ refusal }) => refusal ?? []);
    const isOpen = (side: CopiedSide): boolean => !allow.includes(copyCodes[side]) && !this.isBroughtForward;
    const unsure = found.flatMap(({ side, verdict }) => (verdict.kind === 'none' ? [] : [side]));
    this.undecided = new Set([...conflictOn, ...unsure].filter(isOpen));
  }

  /** Whether a person chose to bring the older side forward. */
  get isBroughtForward(): boolean {
    return this.#allow.includes(bringForward);
  }

  /** Adds to the memo of a pair which of its cells an older copy puts back. */
  memo(leadId: string, memo: Readonly<Record<string, FieldMemo>>): Readonly<Record<string, FieldMemo>> {
    const fields: Record<string, FieldMemo> = { ...memo };
    for (const { side, verdict, cells } of this.#found) {
      // A refused plan shows what would happen if it were allowed.
      if (verdict.kind !== 'hold' && !this.isBroughtForward) continue;
      for (const { field } of cells.get(leadId) ?? []) fields[field] = { ...fields[field], putBack: side };
    }
    return Object.fromEntries(Object.entries(fields).map(([field, one]) => [field, this.#decided(one)]));
  }

  #decided({ putBack, ...memo }: FieldMemo): FieldMemo {
    if (putBack === undefined || putBack === null || this.#allow.includes(copyCodes[putBack])) return memo;
    return { ...memo, putBack, ...(this.isBroughtForward && { forward: true }) };
  }

  /** Whether cells of a pair are brought forward. */
  bringsForward(leadId: string): boolean {
    return this.isBroughtForward && this.#found.some(({ cells }) => cells.has(leadId));
  }

  /** Whether a record is missing because its side is older, and comes back. */
  comesBack(side: CopiedSide, leadId: string): boolean {
    return this.isBroughtForward && this.#found.some((one) => one.side === side && one.missing.has(leadId));
  }
}
