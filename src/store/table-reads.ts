import type { Aside } from '../core/lead/aside.ts';
import type { Problem } from '../lib/errors.ts';
import { firstOf, type Queryable } from './database.ts';
import { type SeenPairs, storeSealed } from './seen-pairs.ts';
import type { ScannedRow } from './staging.ts';
import type { RunRef } from './runs.ts';

/** What a table showed when it was read as a whole. */
export interface TableRead {
  readonly rows: number;
  readonly problems: readonly Problem[];
  /** As `Run.mark`. */
  readonly mark: string | null;
  /** The rows of which no seal speaks, in their order. */
  readonly left: readonly ScannedRow[];
  /** What other cells show of rows. */
  readonly asides: readonly Aside[];
}

/** Remembers it until the table is another one; `digest` says that it is not. */
export async function keepTableRead(
  db: Queryable,
  connection: string,
  digest: string,
  read: TableRead,
  { seals }: SeenPairs,
): Promise<void> {
  await db.query(
    `insert into table_reads (connection, digest, shown, seal_ids) values ($1, $2, $3, $4)
     on conflict (connection) do update set digest = excluded.digest, shown = excluded.shown, seal_ids = excluded.seal_ids`,
    [connection, digest, JSON.stringify(read), [...seals]],
  );
}

/**
 * What a table shows that is as it was when it was read last, while all pairs are as they were: those whose rows show their
 * baseline are noted as met by the scan. Null, and nothing noted, when something is not.
 */
export async function repeatTableRead(
  db: Queryable,
  run: RunRef,
  digest: string,
  met: SeenPairs,
): Promise<TableRead | null> {
  const kept = await firstOf<{ shown: TableRead; ids: number[]; sealed: number; pairs: string | null }>(
    db,
    `select t.shown, t.seal_ids as ids, count(s.id)::int as sealed, string_agg(array_to_string(s.pair_ids, ' '), ' ') as pairs
     from table_reads t left join seals s on s.id = any(t.seal_ids)
     where t.connection = $1 and t.digest = $2 group by t.connection`,
    [run.connection, digest],
  );
  if (kept === null || kept.sealed < kept.ids.length) return null;
  await storeSealed(db, run.id, 'row', kept.ids);
  for (const id of kept.pairs?.split(' ') ?? []) met.add(Number(id));
  return kept.shown;
}
