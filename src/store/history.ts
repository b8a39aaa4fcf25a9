import type pg from 'pg';
import type { Changes } from '../merge/action.ts';

type Queryable = pg.Pool | pg.PoolClient;

/** What a change wrote, for the history. */
export interface HistoryEntry {
  readonly leadId: string;
  readonly side: 'lead' | 'row';
  readonly changes: Changes;
}

/** Keeps both values of each written field, so that what a policy overwrote can be found again. */
export async function recordHistory(
  db: Queryable,
  run: { readonly id: number; readonly connection: string },
  entries: readonly HistoryEntry[],
): Promise<void> {
  const lines = entries.flatMap(({ leadId, side, changes }) =>
    Object.entries(changes).map(([field, change]) => ({ leadId, side, field, ...change })),
  );
  await db.query(
    `insert into history (connection, run_id, lead_id, field, side, base, before, after, rule)
     select $1, $2, * from unnest($3::text[], $4::text[], $5::text[], $6::jsonb[], $7::jsonb[], $8::jsonb[], $9::text[])`,
    [
      run.connection,
      run.id,
      lines.map((line) => line.leadId),
      lines.map((line) => line.field),
      lines.map((line) => line.side),
      lines.map((line) => (line.base === undefined ? null : JSON.stringify(line.base))),
      lines.map((line) => JSON.stringify(line.from)),
      lines.map((line) => JSON.stringify(line.to)),
      lines.map((line) => line.rule ?? 'lead-edited'),
    ],
  );
}
