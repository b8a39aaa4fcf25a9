import type { Moment } from './online-table.ts';
import { tokensOf } from './tokens.ts';

/** What one process is about in the spreadsheet. */
interface Work {
  phase: 'open' | 'before-look' | 'looked' | 'sent';
  /** How often rows and columns had been moved when it began. */
  readonly began: number;
}

/**
 * Keeps watch over the gaps that Google's API leaves between the look of a write and the write: texts typed there may have
 * been typed into the very cell that was written, since Sheets has no write that depends on what a cell shows. That is a
 * limit (docs/google-sheets.md); whatever else people do there is put right.
 */
export class SheetsGaps {
  /** Unique values that were typed between a look and its write. */
  readonly typed = new Set<string>();
  readonly #moves: () => number;
  readonly #works = new Map<object, Work>();

  /** `moves`: how often rows or columns were moved so far. */
  constructor(moves: () => number) {
    this.#moves = moves;
  }

  begins(process: object, operation: 'open' | 'write'): void {
    const phase = operation === 'open' ? 'open' : 'before-look';
    this.#works.set(process, { phase, began: this.#moves() });
  }

  /** How close a person comes who acts before this request. */
  closeness(process: object, method: string): Moment {
    const { phase = 'open', began = 0 } = this.#works.get(process) ?? {};
    const isMoved = this.#moves() > began;
    if (phase === 'looked' || isWrite(method)) return { kind: 'gap', isMoved };
    return { kind: phase === 'sent' ? 'hasty' : null, isMoved };
  }

  /** A text that was typed in a gap. */
  types(text: string): void {
    for (const token of tokensOf(text)) this.typed.add(token);
  }

  /** A request is carried out now; `isHeard`: its reply arrives. */
  carriesOut(process: object, method: string, isHeard: boolean): void {
    const work = this.#works.get(process);
    if (work === undefined || work.phase === 'open') return;
    if (isWrite(method)) work.phase = 'sent';
    else if (!isHeard || method === 'drive.files.get') return;
    else work.phase = method === 'spreadsheets.get' ? 'before-look' : 'looked';
  }

  /** A write has returned: everything was looked at. */
  settles(process: object): void {
    this.#works.delete(process);
  }
}

function isWrite(method: string): boolean {
  return method === 'spreadsheets.values.batchUpdate' || method === 'spreadsheets.batchUpdate';
}
