import { type Pruned, prune } from '../../../src/store/retention.ts';
import { type Scene } from './store-scene.ts';

/** The field that reminders follow. */
export const field = 'nextFollowUpAt';

/** How many have been deleted of each: none. */
export const nothing = {
  runs: 0,
  actions: 0,
  mails: 0,
  followUps: 0,
  earlierValues: 0,
  places: 0,
  held: 0,
};

/** What a test has of a table, by id. */
export async function ids(
  { pool, connection }: Scene,
  table: 'runs' | 'actions' | 'mails',
): Promise<number[]> {
  const { rows } = await pool.query<{ id: number }>(
    `select id from ${table} where connection = $1 order by id`,
    [connection],
  );
  return rows.map(({ id }) => id);
}

/** Deletes what is older; `batch`: n rows in a statement. */
export const pruneOf = ({ pool, connection }: Scene, retentionDays = 90, batch?: number): Promise<Pruned> =>
  prune(pool, { name: connection, retentionDays }, field, new AbortController().signal, batch);
