import { createHash } from 'node:crypto';
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { parse } from 'csv-parse/sync';
import { stringify } from 'csv-stringify/sync';

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
}

export class CsvTable implements Table {
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
  }

  grid(): Promise<string[][] | null> {
    if (!existsSync(this.#path)) return Promise.resolve(null);
    return Promise.resolve(parse(readFileSync(this.#path), { bom: true, relaxColumnCount: true }));
  }

  write(grid: readonly (readonly string[])[]): Promise<void> {
    putInPlace(this.#path, stringify(grid.map((record) => [...record])));
    return Promise.resolve();
  }

  digest(): string {
    return digestOf(this.#path);
  }
}

export function putInPlace(path: string, content: string | Uint8Array): void {
  writeFileSync(`${path}.saving`, content);
  renameSync(`${path}.saving`, path);
}

export function digestOf(path: string): string {
  return existsSync(path) ? createHash('sha1').update(readFileSync(path)).digest('hex') : '';
}
