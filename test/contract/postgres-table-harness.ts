import pg from 'pg';
import { Secret } from '../../src/config/secret.ts';
import type { RowChange } from '../../src/ports/target.ts';
import {
  createPostgresTableTarget,
  type PostgresTableOptions,
} from '../../src/targets/postgres/postgres-table-target.ts';
import { createTestDatabase } from '../support/database.ts';
import {
  contractFields,
  type Inability,
  never,
  type Table,
  type TargetHarness,
  verdict,
} from './target-harness.ts';

export interface PostgresTableHarness extends TargetHarness {
  readonly url: string;
  /** A person at psql, in one session. */
  query(sql: string): Promise<(string | null)[][]>;
}

/** Names of columns are unique; there is no row of headings that would be the first. */
export const postgresTableCannot: readonly Inability[] = ['double-headings', 'row-numbers', 'asides'];

const { escapeIdentifier, escapeLiteral } = pg;

/** A table `leads` in a database of its own, whose rows a column of numbers keeps in order that the suite never sees. */
export async function makePostgresTableHarness(
  momentType: 'text' | 'timestamptz' = 'text',
): Promise<PostgresTableHarness> {
  const database = await createTestDatabase({ empty: true });
  const person = new pg.Client({ connectionString: database.url });
  await person.connect();
  const query = async (sql: string) =>
    (await person.query<(string | null)[]>({ text: sql, rowMode: 'array' })).rows;
  const show = async (): Promise<Table | null> => {
    const columns = await query(
      `select column_name, data_type from information_schema.columns where table_name = 'leads' order by ordinal_position`,
    );
    if (columns.length === 0) return null;
    // The key of a table that leadsync made, or that of the suite's own.
    const [key] = columns.flat().filter((column) => column === 'position' || column === 'id');
    const shown = columns.filter(([column]) => column !== key);
    const texts = shown.map(([column, type]) =>
      type?.startsWith('timestamp') === true
        ? `coalesce(to_char(${escapeIdentifier(column ?? '')} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), '')`
        : `coalesce(${escapeIdentifier(column ?? '')}::text, '')`,
    );
    const order = key === undefined || key === null ? '' : `order by ${key}`;
    const rows = await query(`select ${texts.join()} from leads ${order}`);
    return [shown, ...rows].map((row, index) =>
      index === 0
        ? shown.map(([column]) => column ?? '')
        : row.map((text) => (typeof text === 'string' ? text : '')),
    );
  };
  return {
    url: database.url,
    query,
    show,
    target: (options = {}) =>
      createPostgresTableTarget({
        url: new Secret(database.url),
        table: 'leads',
        fields: contractFields,
        idColumn: 'Lead ID',
        timeZone: 'Europe/Berlin',
        isZoneSet: true,
        ...options,
      }),
    edit: async (change) => {
      const [head = [], ...rows] = change((await show()) ?? []);
      const columns = head.map((heading) => {
        const isMoment = heading.toLowerCase() === 'next follow-up';
        return `${escapeIdentifier(heading)} ${isMoment ? momentType : 'text'}`;
      });
      const values = rows.map(
        (row) => `(${row.map((text) => (text === '' ? 'null' : escapeLiteral(text))).join()})`,
      );
      const names = head.map((heading) => escapeIdentifier(heading)).join();
      const inserted = values.length === 0 ? '' : `insert into leads (${names}) values ${values.join()};`;
      await person.query(
        `begin; drop table if exists leads; create table leads (${columns.join()}, position serial primary key); ${inserted} commit`,
      );
    },
    async [Symbol.asyncDispose]() {
      await person.end();
      await database.drop();
    },
  };
}

/** A small table `leads`, in the words of PostgreSQL. */
const tableFields: PostgresTableOptions['fields'] = [
  { field: 'name', column: 'name', type: 'text', direction: 'two-way' },
  { field: 'size', column: 'size', type: 'text', direction: 'two-way' },
  { field: 'due', column: 'due', type: 'instant', direction: 'two-way' },
];

export function targetOf({ url }: PostgresTableHarness, changed: Partial<PostgresTableOptions> = {}) {
  const usual = {
    url: new Secret(url),
    table: 'leads',
    fields: tableFields,
    idColumn: 'lead_id',
    timeZone: 'Europe/Berlin',
    isZoneSet: true,
  };
  return createPostgresTableTarget({ ...usual, ...changed });
}

/** Runs `body` on a database after these statements. */
export async function withTable(sql: string, body: (harness: PostgresTableHarness) => Promise<void>) {
  await using harness = await makePostgresTableHarness();
  await harness.query(sql);
  await body(harness);
}

export const outcomesOf = async (harness: PostgresTableHarness, changes: readonly RowChange[]) =>
  (await targetOf(harness).write(changes, never())).map(verdict);
