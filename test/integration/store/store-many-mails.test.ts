import { expect, test } from 'vitest';
import { settleLate } from '../../../src/store/reminders.ts';
import { beginSending, endSending, takeMails } from '../../../src/store/sending.ts';
import { createTestDatabase } from '../../support/database.ts';

const count = 2_000;

test('of thousands of mails that are due at once none is found by reading all, before anything is known of the table', async () => {
  await using stack = new AsyncDisposableStack();
  const database = stack.adopt(await createTestDatabase(), (made) => made.drop());
  const client = await database.pool.connect();
  try {
    // The statistics of a transaction count what it read itself.
    await client.query('begin');
    const { rows } = await client.query<{ id: number }>(
      `insert into mails (connection, lead_id, due_at, offset_text, recipient, send_at)
       select 'main', 'lead-' || n, at, '0m', 'anna@example.com', at
       from generate_series(1, $1) n cross join lateral (select date_trunc('second', now()) - n * interval '1 s' as at) due
       returning id`,
      [count],
    );
    const now = Date.now();
    await settleLate(client, 'main', 24 * 3_600_000, { usual: 0, own: {} });
    const sender = crypto.randomUUID();
    const work = { connection: 'main', isChat: false };
    const waits = { doubtMs: 0, cutOffMs: 0 };
    const taken = await takeMails(client, work, waits, { token: sender, inHand: [], limit: 3 });
    expect(taken.map(({ mail }) => mail.id)).toEqual(
      rows
        .slice(-3)
        .map(({ id }) => id)
        .toReversed(),
    );
    const claims = taken.map(({ mail }) => ({ ...mail, sender, firstTriedAt: now }));
    expect(await beginSending(client, claims, sender)).toEqual([true, true, true]);
    await endSending(
      client,
      claims.map(({ id }) => ({ id, state: 'sent', note: null, sender })),
    );
    const { rows: states } = await client.query(
      `select state, count(*)::int as n from mails group by 1 order by 1`,
    );
    expect(states).toEqual([
      { state: 'scheduled', n: count - 3 },
      { state: 'sent', n: 3 },
    ]);
    const { rows: reads } = await client.query<{ scans: number }>(
      `select seq_scan::int as scans from pg_stat_xact_user_tables where relname = 'mails'`,
    );
    expect(reads[0]?.scans, 'the count of the states alone').toBe(1);
  } finally {
    client.release(true);
  }
});
