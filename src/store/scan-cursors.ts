import { shortHash } from '../core/lead/content-hash.ts';
import type { Queryable } from './database.ts';

/** Remembers that the scan uses these cursors. False when it used one of them before. */
export async function useCursors(db: Queryable, runId: number, cursors: readonly string[]): Promise<boolean> {
  const { rowCount } = await db.query(
    `insert into scan_cursors (run_id, cursor) select $1, unnest($2::text[]) on conflict do nothing`,
    // An index takes no text of more than some 2,700 bytes.
    [runId, cursors.map(shortHash)],
  );
  return rowCount === cursors.length;
}
