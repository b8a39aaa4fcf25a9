import { readFileSync, writeFileSync } from 'node:fs';
import { parse } from 'csv-parse/sync';
import { stringify } from 'csv-stringify/sync';

export type SheetRow = Readonly<Record<string, string>>;

/** A CSV file as the person sees it who has it open: headings, rows, edits by hand. */
export class Sheet {
  readonly path: string;

  constructor(path: string) {
    this.path = path;
  }

  text(): string {
    return readFileSync(this.path, 'utf8');
  }

  /** All records, the headings first, without the byte order mark. */
  grid(): string[][] {
    return parse(this.text(), { bom: true, relaxColumnCount: true });
  }

  rows(): SheetRow[] {
    const [headings = [], ...records] = this.grid();
    return records.map((record) =>
      Object.fromEntries(headings.map((heading, index) => [heading, record[index] ?? ''])),
    );
  }

  /** Writes the file anew. */
  write(grid: readonly (readonly string[])[]): void {
    writeFileSync(this.path, stringify(grid.map((record) => [...record])));
  }

  /** Writes into every row that matches; throws when none does. */
  edit(where: (row: SheetRow) => boolean, cells: SheetRow): void {
    const [headings = [], ...records] = this.grid();
    let edited = 0;
    for (const record of records) {
      if (!where(toRow(headings, record))) continue;
      edited += 1;
      for (const [heading, text] of Object.entries(cells)) record[column(headings, heading)] = text;
    }
    if (edited === 0) throw new Error('no row matches');
    this.write([headings, ...records]);
  }

  add(cells: SheetRow): void {
    const [headings = [], ...records] = this.grid();
    for (const heading of Object.keys(cells)) column(headings, heading);
    this.write([headings, ...records, headings.map((heading) => cells[heading] ?? '')]);
  }

  remove(where: (row: SheetRow) => boolean): void {
    const [headings = [], ...records] = this.grid();
    this.write([headings, ...records.filter((record) => !where(toRow(headings, record)))]);
  }
}

function toRow(headings: readonly string[], record: readonly string[]): SheetRow {
  return Object.fromEntries(headings.map((heading, index) => [heading, record[index] ?? '']));
}

function column(headings: readonly string[], heading: string): number {
  const index = headings.indexOf(heading);
  if (index < 0) throw new Error(`the sheet has no column ${heading}`);
  return index;
}
