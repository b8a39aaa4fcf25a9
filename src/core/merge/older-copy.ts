import { counted } from '../lead/counted.ts';

/**
 * Moments count the runs of a connection in halves: 2r is after run r, 2r - 1 as it read the side before it wrote. An
 * older copy was taken at one of them.
 */
export type Moment = number;

/** From one moment to another, both included. */
export interface Span {
  readonly from: Moment;
  readonly to: Moment;
}

/** A cell that shows again what it showed in some spans, and not what both sides last agreed on. */
export interface PutBackCell {
  readonly leadId: string;
  readonly field: string;
  /** `leftAt` (epoch ms): when it was changed then. */
  readonly spans: readonly (Span & { readonly leftAt: number })[];
}

/**
 * What speaks for a copy beside the values, in words ("an import wrote all of it"). `run`: the last one that is known to
 * have written to what was copied.
 */
export interface Doubt {
  readonly reason: string;
  readonly run?: number;
}

/** Whether a side is an older copy. `hold`: too little to tell; what it would put back waits for a person. */
export type CopyVerdict =
  | { readonly kind: 'none' }
  | {
      readonly kind: 'hold' | 'stop';
      readonly moment: Moment;
      readonly putBack: number;
      readonly kept: number;
    };

/** So much put back, with at most a quarter as much that was kept, is no accident of a person who tidies up. */
const enough = 3;
const share = 4;

/** With a reason to doubt a single cell is enough. */
const enoughWithDoubt = 1;

/** Spans added up: how many of them a moment lies in. */
export class Spans {
  readonly #changes = new Map<Moment, number>();

  add({ from, to }: Span): void {
    if (to < from) return;
    this.#changes.set(from, (this.#changes.get(from) ?? 0) + 1);
    this.#changes.set(to + 1, (this.#changes.get(to + 1) ?? 0) - 1);
  }

  /** How many there are at each of these moments. */
  at(moments: readonly Moment[]): ReadonlyMap<Moment, number> {
    const changes = [...this.#changes].toSorted(([a], [b]) => a - b);
    const counts = new Map<Moment, number>();
    let [next, count] = [0, 0];
    for (const moment of moments.toSorted((a, b) => a - b)) {
      for (; next < changes.length && (changes[next]?.[0] ?? 0) <= moment; next++)
        count += changes[next]?.[1] ?? 0;
      counts.set(moment, count);
    }
    return counts;
  }
}

/** A moment that a copy may be of, and how much is put back to what it was then. */
export interface Candidate {
  readonly moment: Moment;
  readonly putBack: number;
}

/**
 * The moments just before a put-back cell changed, or just before a record that is missing was made or one that is there
 * again went (`records`: until when each was as it is now), as far as enough is put back to tell. Without a cell that is put
 * back there is none: rows are deleted every day. Pure.
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
  // Runs that wrote no row left the mark as it was: what was typed into the table since that run is in the copy, too.
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
 * Whether one of these moments is that of an older copy. A copy puts back all that has changed since; an edit does not.
 * `kept`: what has changed since a moment and still shows the newer value. Pure.
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

/** Those of the cells that show what they showed at a moment, and when the first of them was changed after it. */
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

/** A side of which an older copy may be there. */
export type CopiedSide = 'lead' | 'row';

/** What the guard calls an older copy of each side. */
export const copyCodes = { row: 'older-copy', lead: 'older-service' } as const;

/** How a run is told, among what it is allowed, that a person wants the older side brought forward. */
export const bringForward = 'older-copy:update';

/**
 * What lets a person go on after a refusal of the guard that has several ways out: the options of `leadsync sync`, and what
 * they do.
 */
export const waysPast: Readonly<Record<string, readonly (readonly [option: string, does: string])[]>> = {
  'older-copy': [
    [
      '--older-copy update',
      'brings the table forward: those cells get the newer values, missing rows come back, and what was typed into the copy is carried over',
    ],
    ['--allow older-copy', 'takes what the table shows as edits, when it was put back on purpose'],
  ],
  'older-service': [
    [
      '--older-copy update',
      'brings the service forward: those fields get the newer values, the sync after it makes missing leads again, and what was edited since is carried over',
    ],
    ['--allow older-service', 'takes what the service shows as edits, when it was put back on purpose'],
  ],
};

/** What is to be told of an older copy. `before`: in words. `records`: missing, or there again. */
export interface CopyFindings {
  readonly side: CopiedSide;
  readonly connection: string;
  readonly cells: number;
  readonly records: number;
  readonly kept: number;
  readonly before: string;
  readonly doubt: Doubt | undefined;
  /** Whether every one of those cells may be written. */
  readonly mayUpdate: boolean;
}

/** Why a run was stopped, and how a person goes on, as sentences. */
export function copyMessage(found: CopyFindings): string {
  const { side, connection, cells, records, kept, before, doubt, mayUpdate } = found;
  const [shown, record] = side === 'row' ? ['the table shows', 'row'] : ['the service shows', 'lead'];
  const lost =
    records === 0
      ? ''
      : `, and ${counted(records, record)} made or deleted since ${records === 1 ? 'is' : 'are'} as before it`;
  const rest =
    kept === 0
      ? 'nothing that changed since shows its newer value'
      : `${counted(kept, 'cell or record', 'cells or records')} that changed since ${kept === 1 ? 'is' : 'are'} newer`;
  const why = doubt === undefined ? rest : `${rest}; ${doubt.reason}`;
  const command = `leadsync sync --connection ${connection}`;
  const ways = (waysPast[copyCodes[side]] ?? []).slice(mayUpdate ? 0 : 1);
  return [
    `in ${counted(cells, 'cell')} ${shown} what was there before ${before}${lost}; ${why}: is it an older copy? Nothing was written, and nothing that is missing counts as deleted`,
    ...ways.map(([option, does]) => `${command} ${option} ${does}`),
  ].join('. ');
}
