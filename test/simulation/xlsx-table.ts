import { existsSync, readFileSync } from 'node:fs';
import { readXlsx, writeXlsx } from 'hucre/xlsx';
import { digestOf, putInPlace, type Table } from './table.ts';

/** A workbook that people edit with another program than ours. */
export class XlsxTable implements Table {
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
  }

  async grid(): Promise<string[][] | null> {
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
    putInPlace(this.#path, await writeXlsx({ sheets: [{ name: 'Leads', rows }] }));
  }

  digest(): string {
    return digestOf(this.#path);
  }
}

const moment = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/;

function shown(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (value instanceof Date) return value.toISOString().slice(0, 19).replace('T', ' ');
  return typeof value === 'string' ? value : JSON.stringify(value);
}
