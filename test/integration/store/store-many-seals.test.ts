import { expect, test } from 'vitest';
import { breakSeals } from '../../../src/store/seals.ts';
import { createTestDatabase } from '../../support/database.ts';

const seals = 400;
const pairsEach = 32;

test('the seals of many pairs that moved are found by one reading of all, before anything is known of the tables', async () => {
  await using stack = new AsyncDisposableStack();
  const database = stack.adopt(await createTestDatabase(), (made) => made.drop());
  const client = await database.pool.connect();
  try {
    // The statistics of a transaction count what it read itself.
    await client.query('begin');
    await client.query(
      `insert into seals (connection, side, digest, pair_ids, others)
       select 'main', 'lead', sha256(nth::text::bytea), array(select nth * $2 + g from generate_series(1, $2) g), '{}'
       from generate_series(0, $1 - 1) nth`,
      [seals, pairsEach],
    );
    // A pair of every second seal.
    await client.query(
      `insert into moved (connection, side, pair_id) select 'main', 'lead', nth * $2 + 1 from generate_series(0, $1 - 1, 2) nth`,
      [seals, pairsEach],
    );
    await breakSeals(client, 'main', 'lead');
    const { rows: reads } = await client.query<{ tuples: number }>(
      `select (seq_tup_read + coalesce(idx_tup_fetch, 0))::int as tuples from pg_stat_xact_user_tables where relname = 'seals'`,
    );
    expect(reads[0]?.tuples).toBeLessThanOrEqual(3 * seals);
    const { rows: left } = await client.query(
      `select count(*)::int as n, (select count(*)::int from moved) as moved,
         count(*) filter (where pair_ids[1] % (2 * $1) = 1)::int as broken from seals`,
      [pairsEach],
    );
    expect(left).toEqual([{ n: seals / 2, moved: 0, broken: 0 }]);
  } finally {
    client.release(true);
  }
});
