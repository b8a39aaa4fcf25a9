import type { Moment } from './online-table.ts';
import { tokensOf } from './tokens.ts';

/** What one process is about in the spreadsheet. */
interface Work {
  phase: 'open' | 'before-look' | 'looked' | 'sent';
  /** How often rows and columns had been moved when it began. */
  readonly began: number;
  /** The same when it last looked. */
  seen: number;
  /** The same for a write that landed where it was not meant to, until the next look. */
  landed: number | null;
  /** What was sent landed where it was not meant to, and nobody has put it right yet. */
  isAstray: boolean;
  /** When a write last landed there (epoch ms). */
  astrayAt: number;
  /** The last request was a look that was heard: nothing was left to be put right after it. */
  hasLooked: boolean;
}

/** What was sent longer ago (ms) is not put right any more. */
const mostAge = 120_000;

/**
 * Keeps watch over the gaps that Google's API leaves between the look of a write, the write, and the look after it, and
 * notes what people did in them that no program could put right. Each is a limit that docs/google-sheets.md names:
 *
 * - Texts typed between the look and the write may have been typed into the very cell that was written: Sheets has no
 *   write that depends on what a cell shows.
 * - Rows moved in that gap take the write to the wrong cells, which is put right by the look that follows: unless the
 *   process dies before it or another one reads first (nobody else knows of the write), it cannot look until the next
 *   run, it is kept from looking or from putting it right for more than two minutes, or rows are moved once more in
 *   between (what the wrong cells had shown cannot be told for sure then).
 */
export class SheetsGaps {
  /** Unique values that were typed between a look and its write. */
  readonly typed = new Set<string>();
  /** Since the last `takeReasons`: why cells may be wrong. */
  #reasons: string[] = [];
  readonly #moves: () => number;
  readonly #now: () => number;
  readonly #works = new Map<object, Work>();

  /** `moves`: how often rows or columns were moved so far; `now`: epoch ms. */
  constructor(moves: () => number, now: () => number) {
    this.#moves = moves;
    this.#now = now;
  }

  begins(process: object, operation: 'open' | 'write'): void {
    const work = this.#works.get(process) ?? {
      phase: 'open' as const,
      seen: 0,
      landed: null,
      isAstray: false,
      astrayAt: 0,
      hasLooked: false,
    };
    if (operation === 'write' && work.isAstray && !work.hasLooked && this.#now() - work.astrayAt > mostAge)
      this.#reasons.push(tooLate);
    // What nobody could look at before everything is read anew is looked at no more.
    if (operation === 'open' && work.isAstray && work.phase === 'sent') this.#reasons.push(readAnew);
    const isOthersAstray = [...this.#works].some(([other, { isAstray }]) => other !== process && isAstray);
    if (operation === 'open' && isOthersAstray) this.#reasons.push(readByAnother);
    const phase = operation === 'open' ? 'open' : work.isAstray ? 'sent' : 'before-look';
    this.#works.set(process, { ...work, phase, began: this.#moves() });
  }

  /** How close a person comes who acts before this request. */
  closeness(process: object, method: string): Moment {
    const { phase = 'open', began = 0 } = this.#works.get(process) ?? {};
    const isMoved = this.#moves() > began;
    if (phase === 'looked' || (phase === 'sent' && isWrite(method))) return { kind: 'gap', isMoved };
    return { kind: phase === 'sent' ? 'hasty' : null, isMoved };
  }

  /** A text that was typed in a gap. */
  types(text: string): void {
    for (const token of tokensOf(text)) this.typed.add(token);
  }

  /** A request fails: nothing comes of it. */
  fails(process: object): void {
    const work = this.#works.get(process);
    if (work !== undefined) work.hasLooked = false;
  }

  /** A request is carried out now; `isHeard`: its reply arrives. */
  carriesOut(process: object, method: string, isHeard: boolean): void {
    const work = this.#works.get(process);
    if (work === undefined || work.phase === 'open') return;
    const moves = this.#moves();
    work.hasLooked = isHeard && !isWrite(method);
    const isMovedAgain = work.landed !== null && moves > work.landed;
    if (isWrite(method)) {
      if (isMovedAgain) this.#reasons.push(movedTwice);
      if (moves > work.seen) {
        work.isAstray = true;
        work.astrayAt = this.#now();
        work.landed ??= moves;
      }
      work.phase = 'sent';
      return;
    }
    if (!isHeard || method === 'drive.files.get') return;
    if (method === 'spreadsheets.get') {
      // A look begins only when all that was sent before has been put right.
      Object.assign(work, { phase: 'before-look', isAstray: false, landed: null });
      return;
    }
    if (isMovedAgain) this.#reasons.push(movedTwice);
    // The second reading of a look only tells formulas from texts.
    if (work.phase !== 'looked') Object.assign(work, { phase: 'looked', seen: moves });
    work.landed = null;
  }

  /** A write has returned: everything was looked at. */
  settles(process: object): void {
    this.#works.delete(process);
  }

  /** The process is gone. */
  ends(process: object): void {
    if (this.#works.get(process)?.isAstray === true) this.#reasons.push(diedBetween);
    this.#works.delete(process);
  }

  takeReasons(): readonly string[] {
    const reasons = this.#reasons;
    this.#reasons = [];
    return reasons;
  }
}

const movedTwice = 'rows were moved between a look and its write, and again before the next look';
const diedBetween =
  'rows were moved between a look and its write, and the process ended before the next look';
const readAnew =
  'rows were moved between a look and its write, and the requests to look at it failed until the next run';
const tooLate =
  'rows were moved between a look and its write, and it could not be put right within two minutes';
const readByAnother =
  'rows were moved between a look and its write, and another process read them before it was looked at';

function isWrite(method: string): boolean {
  return method === 'spreadsheets.values.batchUpdate' || method === 'spreadsheets.batchUpdate';
}
