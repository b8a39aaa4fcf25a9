import { createHash } from 'node:crypto';
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { parse } from 'csv-parse/sync';
import { stringify } from 'csv-stringify/sync';
import type { Random } from '../../src/demo/random.ts';

/** The table of the sales team as a person has it open. Saved as editors do: a new file takes the old one's place. */
export interface Table {
  /** All records, the headings first; null when there is no file yet. */
  grid(): Promise<string[][] | null>;
  write(grid: readonly (readonly string[])[]): Promise<void>;
  /** `to` counts as before the move: the column comes to lie before it. */
  moveColumn?(from: number, to: number): void;
  /** How a record of the last `grid` is named, by its index; else its number is that of the row. */
  numberOf?(index: number): number;
  /** Whether this can be typed into a field; else everything can. */
  takes?(field: string, text: string): boolean;
  /** Changes when anybody has written. */
  digest(): string;
  /** Cuts the file off in the middle of a row; null: it has none. `mend` puts the rest back; false: somebody has written. */
  cut?(random: Random): { readonly bytes: number; readonly mend: () => boolean } | null;
  /** Leaves a quotation mark before one cell and behind one further down; null: it cannot. `mend` as of `cut`. */
  strayQuotes?(random: Random): { readonly told: string; readonly mend: () => boolean } | null;
  /** Merges a cell with the one below. */
  merge?(row: number, column: number): Promise<void>;
  /** Makes single cells of what was merged. */
  unmerge?(): void;
  /** A formula that shows no value, or an error. */
  typeFormula?(row: number, column: number): Promise<void>;
  /** What puts the table back to what it is now; null: there is none. */
  keep?(): PutBack | null;
  /** Two records of the last `grid` become one. */
  join?(winner: readonly string[], loser: readonly string[]): void;
}

/** Puts a table back. Returns whether the mark of leadsync goes back with it for sure. */
export type PutBack = (random: Random) => boolean;

/** How people open and save a file. */
export interface Desk {
  opens(): Promise<void>;
  saves(path: string, content: string | Uint8Array): Promise<void>;
}

export const localDesk: Desk = {
  opens: () => Promise.resolve(),
  saves: (path, content) => Promise.resolve(putInPlace(path, content)),
};

export class CsvTable implements Table {
  readonly #path: string;
  readonly #desk: Desk;
  /** What people remember of a file that was cut. */
  #whole: Buffer | null = null;

  constructor(path: string, desk: Desk = localDesk) {
    this.#path = path;
    this.#desk = desk;
  }

  async grid(): Promise<string[][] | null> {
    await this.#desk.opens();
    if (!existsSync(this.#path)) return null;
    return parse(this.#whole ?? readFileSync(this.#path), { bom: true, relaxColumnCount: true });
  }

  write(grid: readonly (readonly string[])[]): Promise<void> {
    return this.#desk.saves(this.#path, stringify(grid.map((record) => [...record])));
  }

  digest(): string {
    return digestOf(this.#path);
  }

  keep(): PutBack | null {
    return keepFile(this.#path);
  }

  cut(random: Random): { readonly bytes: number; readonly mend: () => boolean } | null {
    if (!existsSync(this.#path)) return null;
    const whole = readFileSync(this.#path);
    const bytes = 1 + random.below(whole.length - 1);
    const part = whole.subarray(0, bytes);
    const isInRow = isShort(part.toString()) && bytes > whole.indexOf('\n');
    if (!isInRow) return null;
    putInPlace(this.#path, part);
    this.#whole = whole;
    const mend = (): boolean => {
      this.#whole = null;
      const isUntouched = readFileSync(this.#path).equals(part);
      if (isUntouched) putInPlace(this.#path, whole);
      return isUntouched;
    };
    return { bytes, mend };
  }

  strayQuotes(random: Random): { readonly told: string; readonly mend: () => boolean } | null {
    if (!existsSync(this.#path)) return null;
    const whole = readFileSync(this.#path);
    const [headings = [], ...records]: string[][] = parse(whole, { bom: true, relaxColumnCount: true });
    const column = 1 + random.below(headings.length - 1);
    const other = random.below(3) === 0 ? 1 + random.below(headings.length - 1) : column;
    // Where no quotation mark is between, the two make one cell of all that is.
    const isPlain = (cells: readonly string[]): boolean => cells.every((cell) => !/["\r\n,]/.test(cell));
    const pairs = records.flatMap((record, first) => {
      const last = first + 1 + random.below(2);
      const between = records.slice(first + 1, last);
      const end = records[last]?.slice(0, other + 1);
      // Empty lines that are joined separate nothing any more: a limit (docs/csv.md).
      const isFilled = records.slice(first, last + 1).every((cells) => cells.some((cell) => cell !== ''));
      const isOne =
        isFilled &&
        isPlain(record.slice(column)) &&
        between.every(isPlain) &&
        end !== undefined &&
        isPlain(end);
      return isOne ? [{ first, last }] : [];
    });
    const found = pairs[random.below(pairs.length)];
    if (found === undefined) return null;
    const { first, last } = found;
    const text = stringify([headings, ...records]);
    // Behind the comma or line end that is before the one, and before the one that is behind the other.
    const from = stringify([
      headings,
      ...records.slice(0, first),
      (records[first] ?? []).slice(0, column),
    ]).length;
    const to =
      stringify([headings, ...records.slice(0, last), (records[last] ?? []).slice(0, other + 1)]).length - 1;
    const joined = text.slice(from, to);
    putInPlace(this.#path, `${text.slice(0, from)}"${joined}"${text.slice(to)}`);
    this.#whole = whole;
    const mend = (): boolean => {
      this.#whole = null;
      // A run that had read the table before may have written into other rows.
      const [before, after, ...others] = readFileSync(this.#path, 'utf8').split(`"${joined}"`);
      if (before === undefined || after === undefined || others.length > 0) return false;
      putInPlace(this.#path, `${before}${joined}${after}`);
      return true;
    };
    return { told: `before a cell of record ${first + 2} and behind one of record ${last + 2}`, mend };
  }
}

/** Whether the last row has no line end, and less cells than the first. */
function isShort(text: string): boolean {
  if (text.endsWith('\n')) return false;
  try {
    const records: string[][] = parse(text, { bom: true, relaxColumnCount: true });
    return (records.at(-1)?.length ?? 0) < (records[0]?.length ?? 0);
  } catch {
    return true;
  }
}

function putInPlace(path: string, content: string | Uint8Array): void {
  writeFileSync(`${path}.saving`, content);
  renameSync(`${path}.saving`, path);
}

export function keepFile(path: string): PutBack | null {
  if (!existsSync(path)) return null;
  const file = readFileSync(path);
  return () => {
    putInPlace(path, file);
    return false;
  };
}

export function digestOf(path: string): string {
  return existsSync(path) ? createHash('sha1').update(readFileSync(path)).digest('hex') : '';
}
