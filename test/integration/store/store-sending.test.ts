import { expect, test } from 'vitest';
import { endSending, takeMails } from '../../../src/store/sending.ts';
import { createTestDatabase } from '../../support/database.ts';

const waits = { doubtMs: 0, cutOffMs: 0 };

test.each([1, 2, 40])(
  'a digest that was sent skips %i reminders which wait for it, also when both are noted in one statement',
  async (count) => {
    await using stack = new AsyncDisposableStack();
    const { pool } = stack.adopt(await createTestDatabase(), (made) => made.drop());
    await pool.query(
      `insert into mails (connection, lead_id, due_at, offset_text, recipient, send_at)
       select 'main', 'lead-' || n, now(), '0m', 'anna@example.com', now() - interval '1 minute' from generate_series(1, $1) n`,
      [count],
    );
    await pool.query(
      `insert into mails (connection, kind, local_date, recipient, send_at)
       values ('main', 'digest', current_date, 'anna@example.com', now() - interval '1 minute')`,
    );
    const sender = crypto.randomUUID();
    const taken = await takeMails(pool, { connection: 'main', isChat: false }, waits, {
      token: sender,
      inHand: [],
      limit: count + 1,
    });
    const ids = taken.map(({ mail }) => mail.id);
    const [digest = 0, ...reminders] = ids;
    expect(reminders).toHaveLength(count);
    await endSending(pool, [
      ...reminders.map((id) => ({ id, state: null, note: null, sender, waitMs: 10_000 })),
      { id: digest, state: 'sent' as const, note: null, sender, tells: reminders },
    ]);
    const { rows } = await pool.query(
      `select kind, state, count(*)::int from mails group by 1, 2 order by 1`,
    );
    expect(rows).toEqual([
      { kind: 'digest', state: 'sent', count: 1 },
      { kind: 'reminder', state: 'skipped', count },
    ]);
  },
);
