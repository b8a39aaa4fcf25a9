import { createHash } from 'node:crypto';
import type { SheetsSandbox } from '../stand-ins/google-sheets/sheets-sandbox.ts';
import { cellName } from '../../src/targets/shared/cell-name.ts';
import type { PutBack, Table } from './table.ts';

/**
 * A tab of a spreadsheet that somebody has open in the browser: what they do happens at once and to single rows and
 * cells. Records are known again by identity, so `write` does what was done to the arrays that `grid` gave last.
 */
export class SheetsTable implements Table {
  /** Counted up when rows or columns come to lie elsewhere. */
  moves = 0;
  /** Its title. */
  tab: string;
  readonly #sandbox: SheetsSandbox;
  /** The arrays of the last `grid`, in order, and what they showed. */
  #given: readonly string[][] = [];
  #shown: ReadonlyMap<readonly string[], readonly string[]> = new Map();

  readonly #onType: (text: string) => void;

  constructor(sandbox: SheetsSandbox, tab: string, onType: (text: string) => void) {
    this.#sandbox = sandbox;
    this.tab = tab;
    this.#onType = onType;
  }

  grid(): Promise<string[][] | null> {
    const shown = this.#sandbox.person.grid(this.tab);
    const grid = shown?.map((record) => record.map(inFull)) ?? null;
    this.#given = grid ?? [];
    this.#shown = new Map(this.#given.map((record) => [record, [...record]]));
    return Promise.resolve(grid);
  }

  write(grid: readonly (readonly string[])[]): Promise<void> {
    const { person } = this.#sandbox;
    const now: (readonly string[])[] = [...this.#given];
    for (let row = now.length - 1; row > 0; row--) {
      if (grid.includes(now[row] ?? [])) continue;
      person.deleteRows(this.tab, row);
      now.splice(row, 1);
      this.moves++;
    }
    for (const [row, record] of grid.entries()) {
      if (now[row] === record) continue;
      const from = now.indexOf(record);
      // Below the table nothing has to make room.
      if (from < 0 && row < now.length) person.insertRows(this.tab, row);
      if (from >= 0) person.moveRows(this.tab, from, 1, row);
      if (from >= 0) now.splice(from, 1);
      if (from >= 0 || row < now.length) this.moves++;
      now.splice(row, 0, record);
    }
    for (const [row, record] of grid.entries()) {
      const shown = this.#shown.get(record) ?? [];
      for (const [column, text] of record.entries()) {
        if (text === (shown[column] ?? '')) continue;
        person.type(this.tab, row, column, typed(text));
        this.#onType(text);
      }
    }
    return Promise.resolve();
  }

  merge(row: number, column: number): Promise<void> {
    this.#sandbox.person.merge(this.tab, `${cellName(row, column)}:${cellName(row + 1, column)}`);
    return Promise.resolve();
  }

  unmerge(): void {
    this.#sandbox.person.unmerge(this.tab, '');
  }

  typeFormula(row: number, column: number): Promise<void> {
    this.#sandbox.person.type(this.tab, row, column, '=NA()');
    return Promise.resolve();
  }

  moveColumn(from: number, to: number): void {
    this.#sandbox.person.moveColumn(this.tab, from, to);
    this.moves++;
  }

  /** By the version history; what that does to our record of the tab is not known, so both are played. */
  keep(): PutBack | null {
    if (this.#sandbox.person.grid(this.tab) === null) return null;
    const restore = this.#sandbox.person.keepVersion();
    return (random) => {
      const isMarkRestored = random.below(2) === 0;
      restore(isMarkRestored);
      return isMarkRestored;
    };
  }

  /** Counts what was written, too, though it changed nothing. */
  digest(): string {
    const writes = this.#sandbox.requests.filter(({ kind, status }) => kind === 'write' && status === 200);
    const shown = JSON.stringify(this.#sandbox.person.grid(this.tab));
    return createHash('sha1').update(`${writes.length} ${shown}`).digest('hex');
  }
}

/** A text that would be a formula is typed behind an apostrophe. */
function typed(text: string): string {
  return /^[=+']/.test(text) ? `'${text}` : text;
}

/** Some locales show `1.1.2031 1:46:00`, which is read as the `01.01.2031 01:46` that was typed. */
function inFull(text: string): string {
  const [, day = '', month = '', year, hour = '', rest] =
    /^(\d\d?)\.(\d\d?)\.(\d{4}) (\d\d?)(:.*)$/.exec(text) ?? [];
  const [days, months, hours] = [day, month, hour].map((part) => part.padStart(2, '0'));
  return rest === undefined ? text : `${days}.${months}.${year} ${hours}${rest}`;
}
