import { createHash } from 'node:crypto';
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { parse } from 'csv-parse/sync';
import { stringify } from 'csv-stringify/sync';
import type { Random } from '../../src/sandbox/random.ts';

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
