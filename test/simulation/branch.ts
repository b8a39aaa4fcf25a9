import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { stringify } from 'csv-stringify/sync';
import type { ConnectionConfig } from '../../src/config/config.ts';
import { defaultFields } from '../../src/core/lead/mapping.ts';
import { plainId, idOf } from './tokens.ts';
import type { World } from './world.ts';

/** Leads of its own. */
const companies = ['s1s Branch', 's2s Branch', 's3s Branch', 's4s Branch'];

const nobody = (): Promise<void> => Promise.resolve();

/** Another connection to the same service, with other leads and a table of its own, into which people move rows of the first. */
export class Branch {
  readonly faults: string[] = [];
  readonly #world: World;
  readonly #path: string;

  constructor(world: World) {
    this.#world = world;
    this.#path = join(world.folder, 'branch.csv');
    for (const companyName of companies) world.sandbox.leads.add({ companyName, city: `e${companyName}` });
  }

  async sync(): Promise<void> {
    const [end] = await this.#world.live([
      { name: 'branch', fate: null, tick: nobody, connection: this.#connection },
    ]);
    if (end?.kind === 'threw') this.faults.push(`the branch threw ${String(end.error)}`);
  }

  get hasTable(): boolean {
    return this.#grid().length > 0;
  }

  /** Puts a row into its table, which is there. Returns what takes it out again, and gives it; null: it is gone. */
  paste(headings: readonly string[], record: readonly string[]): () => Record<string, string> | null {
    const grid = this.#grid();
    const [own = []] = grid;
    const row = Object.fromEntries(headings.map((heading, at) => [heading, record[at] ?? '']));
    this.#write([...grid, own.map((heading) => row[heading] ?? '')]);
    return () => this.#cut(row['Lead ID'] ?? '');
  }

  #cut(leadId: string): Record<string, string> | null {
    const [headings = [], ...records] = this.#grid();
    const isIt = (record: readonly string[]): boolean => idOf(record, headings) === plainId(leadId);
    const record = records.find(isIt);
    if (record === undefined) return null;
    this.#write([headings, ...records.filter((one) => !isIt(one))]);
    return Object.fromEntries(headings.map((heading, at) => [heading, record[at] ?? '']));
  }

  #grid(): string[][] {
    if (!existsSync(this.#path)) return [];
    return parse(readFileSync(this.#path), { bom: true, relaxColumnCount: true });
  }

  #write(grid: readonly (readonly string[])[]): void {
    writeFileSync(this.#path, stringify(grid.map((record) => [...record])));
  }

  get #connection(): ConnectionConfig {
    const { connection } = this.#world;
    return {
      ...connection,
      name: 'branch',
      leads: { ...connection.leads, query: { name: 'branch' } },
      target: {
        type: 'workbook',
        path: this.#path,
        timeZone: 'UTC',
        idColumn: 'Lead ID',
        statusColumn: 'Status',
      },
      fields: defaultFields,
    };
  }
}
