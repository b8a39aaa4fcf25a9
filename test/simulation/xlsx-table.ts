import { existsSync, readFileSync } from 'node:fs';
import type { Cell, MergeRange } from 'hucre';
import { readXlsx, writeXlsx } from 'hucre/xlsx';
import { type Desk, digestOf, keepFile, localDesk, type PutBack, type Table } from './table.ts';

/** A workbook that people edit with another program than ours. */
export class XlsxTable implements Table {
  readonly #path: string;
  readonly #desk: Desk;
  #merges: MergeRange[] = [];
  readonly #formulas = new Set<string>();

  constructor(path: string, desk: Desk = localDesk) {
    this.#path = path;
    this.#desk = desk;
  }

  async grid(): Promise<string[][] | null> {
    await this.#desk.opens();
    if (!existsSync(this.#path)) return null;
    const { sheets } = await readXlsx(readFileSync(this.#path));
    const rows = sheets[0]?.rows ?? [];
    const width = rows[0]?.length ?? 0;
    return rows.map((row) => Array.from({ length: width }, (_, column) => shown(row[column])));
  }

  /** Moments that look as the program shows them are dates; anything else is text. */
  async write(grid: readonly (readonly string[])[]): Promise<void> {
    const rows = grid.map((record) =>
      record.map((text) => (text === '' ? null : moment.test(text) ? new Date(`${text}Z`) : text)),
    );
    // As openpyxl writes them: without what they show.
    const cells = new Map<string, Cell>();
    for (const place of this.#formulas) {
      const [row = 0, column = 0] = place.split(',').map(Number);
      if ((grid[row]?.[column] ?? '') === '')
        cells.set(place, { value: null, type: 'formula', formula: '""' });
      else this.#formulas.delete(place);
    }
    const merges = await this.#mergesIn(grid);
    const content = await writeXlsx({ sheets: [{ name: 'Leads', rows, cells, merges }] });
    await this.#desk.saves(this.#path, content);
  }

  /** A merge goes where its first row goes, as programs keep it when rows come or go above. */
  async #mergesIn(grid: readonly (readonly string[])[]): Promise<MergeRange[]> {
    if (this.#merges.length === 0) return [];
    const before = (await this.grid()) ?? [];
    const isSame = (one: readonly string[], other: readonly string[] = []): boolean =>
      JSON.stringify(one) === JSON.stringify(other);
    this.#merges = this.#merges.map((merge) => {
      const row = grid.findIndex((record) => isSame(record, before[merge.startRow]));
      return row === -1 ? merge : { ...merge, startRow: row, endRow: row + 1 };
    });
    return this.#merges;
  }

  async merge(row: number, column: number): Promise<void> {
    const grid = (await this.grid()) ?? [];
    this.#merges = [...this.#merges, { startRow: row, startCol: column, endRow: row + 1, endCol: column }];
    (grid[row + 1] ?? [])[column] = '';
    await this.write(grid);
  }

  unmerge(): void {
    this.#merges = [];
  }

  async typeFormula(row: number, column: number): Promise<void> {
    const grid = (await this.grid()) ?? [];
    (grid[row] ?? [])[column] = '';
    this.#formulas.add(`${row},${column}`);
    await this.write(grid);
  }

  digest(): string {
    return digestOf(this.#path);
  }

  keep(): PutBack | null {
    const putBack = keepFile(this.#path);
    return (
      putBack &&
      ((random) => {
        this.#merges = [];
        this.#formulas.clear();
        return putBack(random);
      })
    );
  }
}

const moment = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/;

function shown(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (value instanceof Date) return value.toISOString().slice(0, 19).replace('T', ' ');
  return typeof value === 'string' ? value : JSON.stringify(value);
}
