import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { from as copyFrom } from 'pg-copy-streams';
import type pg from 'pg';
import type { Values } from '../core/lead/value.ts';
import type { Queryable } from './database.ts';
import type { RunRef } from './runs.ts';

/** A pair that is stored for the first time; `row`: where its row stands, when that is known. */
export interface NewPair {
  readonly leadId: string;
  readonly base: Values;
  readonly row: number | null;
}

/** Characters that COPY reads otherwise, in its format of texts (PostgreSQL, COPY, File Formats). */
const copied = (text: string): string =>
  /[\\\n\r\t]/.test(text)
    ? text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('\r', '\\r').replaceAll('\t', '\\t')
    : text;

/** Stores pairs that are in step, none of which may be there already. */
export async function copyPairs(
  db: pg.PoolClient,
  connection: string,
  pairs: readonly NewPair[],
): Promise<void> {
  if (pairs.length === 0) return;
  const key = copied(connection);
  const lines = function* (): Generator<string> {
    for (let from = 0; from < pairs.length; from += 500)
      yield pairs
        .slice(from, from + 500)
        .map(
          ({ leadId, base, row }) =>
            `${key}\t${copied(leadId)}\t${copied(JSON.stringify(base))}\t${row ?? '\\N'}\n`,
        )
        .join('');
  };
  const copy = copyFrom(`copy pairs (connection, lead_id, base, row_number) from stdin`);
  await pipeline(Readable.from(lines()), db.query(copy));
}

/** Remembers leads that have no row yet, though the scan of the run showed them. `hadRows`: whether the table had any. */
export async function knowLeads(
  db: Queryable,
  run: RunRef,
  leadIds: readonly string[],
  hadRows: boolean,
): Promise<void> {
  await db.query(
    `insert into pairs (connection, lead_id, row_absences, absence_run)
     select $2, lead_id, $4::boolean::int, $1 from unnest($3::text[]) as l (lead_id) on conflict do nothing`,
    [run.id, run.connection, leadIds, hadRows],
  );
}
