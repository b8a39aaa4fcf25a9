import type { Random } from '../../src/demo/random.ts';
import type { Table } from './table.ts';
import { columns, entityOf, fieldNames, plainId, shown, idOf } from './tokens.ts';
import type { World } from './world.ts';

export const pauseHeading = 'Pause';
const ticked = 'true';

/** Whether a row is paused, as people see it: a portal shows an empty box as it was left. */
export function isTicked(cell: string | undefined): boolean {
  return /^(true|x)$/i.test(cell ?? '');
}

interface PausedRow {
  /** What people have put into it, by heading. */
  readonly cells: Map<string, string>;
  /** Since when its lead is left alone; null: a run may have read the row before it was paused. */
  readonly since: number | null;
}

/**
 * Rows that people pause in the morning, or while a run goes on, and let go on some morning after: meanwhile nobody else may
 * have written into them, nor into the leads of those that were paused when nothing ran.
 */
export class PausedRows {
  readonly #random: Random;
  readonly #world: World;
  readonly #note: (event: string) => void;
  readonly #now: () => number;
  readonly #rows = new Map<string, PausedRow>();
  /** Whether any row is paused. */
  isAny = false;

  constructor(random: Random, world: World, now: () => number, note: (event: string) => void) {
    this.#random = random;
    this.#world = world;
    this.#now = now;
    this.#note = note;
  }

  /** The table as people use it, who write down what they do to paused rows. */
  watch(table: Table): Table {
    let before: readonly (readonly string[])[] = [];
    const own: Pick<Table, 'grid' | 'write'> = {
      grid: async () => {
        const grid = await table.grid();
        before = (grid ?? []).map((record) => [...record]);
        return grid;
      },
      write: async (grid) => {
        this.#see(before, grid);
        await table.write(grid);
      },
    };
    return new Proxy(table, {
      get: (_, key) => {
        if (key === 'grid' || key === 'write') return own[key];
        const value: unknown = Reflect.get(table, key, table);
        return typeof value === 'function' ? value.bind(table) : value;
      },
    });
  }

  #see(
    [headings = [], ...before]: readonly (readonly string[])[],
    now: readonly (readonly string[])[],
  ): void {
    const [was, is] = [before, now.slice(1)].map((records) => {
      const rows = new Map<string, readonly string[]>();
      for (const record of records)
        if (!rows.has(idOf(record, headings))) rows.set(idOf(record, headings), record);
      return rows;
    });
    const at = headings.indexOf(pauseHeading);
    for (const [id, record] of is ?? []) {
      const shownBefore = was?.get(id);
      if (id === '' || shownBefore === undefined) continue;
      const row = this.#rows.get(id);
      const isPaused = isTicked(record[at]);
      if (!isPaused) this.#rows.delete(id);
      // A file is only written while it is what was read; of other tables a write may be on its way.
      else if (row === undefined && !isTicked(shownBefore[at]) && this.#isFile)
        this.#rows.set(id, { cells: cellsOf(headings, record), since: null });
      else if (row !== undefined)
        for (const [nth, heading] of headings.entries())
          if ((record[nth] ?? '') !== (shownBefore[nth] ?? ''))
            if (same(heading, row.cells.get(heading) ?? '', shownBefore[nth] ?? ''))
              // Over a word that stood there for a moment, and is put back: a limit (docs/google-sheets.md, "Edits in the moment of a write").
              row.cells.set(heading, record[nth] ?? '');
            else row.cells.delete(heading);
    }
    for (const id of this.#rows.keys()) if (is?.has(id) !== true) this.#rows.delete(id);
  }

  get #isFile(): boolean {
    return this.#world.online === null || this.#world.online.file !== undefined;
  }

  /** In the morning, when nothing runs: most pauses end, others begin. */
  async begin(table: Table): Promise<void> {
    const [headings = [], ...records] = (await table.grid()) ?? [];
    const [at, id, company] = [pauseHeading, 'Lead ID', 'Company'].map((one) => headings.indexOf(one));
    this.isAny = false;
    if (at === undefined || id === undefined || company === undefined || at < 0) return;
    const random = this.#random;
    const isOn = (record: readonly string[]): boolean => isTicked(record[at]);
    for (const record of records.filter(isOn)) if (random.below(3) > 0) record[at] = '';
    const whole = records.filter(
      (record) => (record[id] ?? '') !== '' && entityOf(record[company] ?? '') !== null && !isOn(record),
    );
    if (random.below(2) === 0)
      for (let count = 1 + random.below(3); count > 0; count--) {
        const record = whole[random.below(whole.length)];
        if (record === undefined) continue;
        record[at] = ticked;
        this.#rows.set(plainId(record[id] ?? ''), { cells: cellsOf(headings, record), since: this.#now() });
      }
    await table.write([headings, ...records]);
    this.isAny = records.some(isOn);
    if (this.isAny)
      this.#note(
        `day: paused ${records
          .filter(isOn)
          .map((record) => record[company])
          .join(', ')}`,
      );
  }

  /** Pauses a row, or ends its pause; gives what is to be told. */
  toggle(headings: readonly string[], record: string[]): string | null {
    const at = headings.indexOf(pauseHeading);
    if (at < 0) return null;
    record[at] = isTicked(record[at]) ? '' : ticked;
    return `${record[headings.indexOf('Company')]}: ${JSON.stringify(record[at])}`;
  }

  /** When the night has come to rest. */
  async judge(): Promise<readonly string[]> {
    const [headings = [], ...records] = (await this.#world.table.grid()) ?? [];
    this.isAny = records.some((record) => isTicked(record[headings.indexOf(pauseHeading)]));
    return [...this.#rows].flatMap(([id, { cells, since }]) => {
      const record = records.find((one) => idOf(one, headings) === id);
      if (record === undefined) return [`the paused row of ${id} is gone`];
      const now = cellsOf(headings, record);
      const written = [...cells].flatMap(([heading, text]) =>
        same(heading, text, now.get(heading) ?? '')
          ? []
          : [
              `${heading} of the paused row of ${id} is ${JSON.stringify(now.get(heading))}, not ${JSON.stringify(text)}`,
            ],
      );
      const requests = this.#world.sandbox.log.filter(
        ({ at, method, path, status }) =>
          since !== null &&
          at > since &&
          method !== 'GET' &&
          plainId(path).endsWith(id) &&
          (status ?? 0) < 400,
      );
      return [
        ...written,
        ...requests.map(({ method }) => `${method} of the lead ${id}, whose row is paused`),
      ];
    });
  }
}

function cellsOf(headings: readonly string[], record: readonly string[]): Map<string, string> {
  return new Map(headings.map((heading, nth) => [heading, record[nth] ?? '']));
}

function same(heading: string, one: string, other: string): boolean {
  if (heading === pauseHeading) return isTicked(one) === isTicked(other);
  const field = fieldNames.find((name) => columns[name] === heading);
  return field === undefined ? plainId(one) === plainId(other) : shown(field, one) === shown(field, other);
}
