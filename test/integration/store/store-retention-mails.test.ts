import { describe, expect, test } from 'vitest';
import type { Value } from '../../../src/core/lead/value.ts';
import { advanceBaselines } from '../../support/advance-baselines.ts';
import { moveBaselines } from '../../../src/store/baselines.ts';
import { planReminders } from '../../../src/reminders/plan/plan-reminders.ts';
import { setMailState } from '../../support/mail-state.ts';
import { reminderConnection } from '../../support/reminder-rules.ts';
import { useScenes } from './store-scene.ts';
import { field, ids, nothing, pruneOf } from './retention-scene.ts';

const scene = useScenes();

describe('pruning mails by age', () => {
  test('of reminders only those that are over and whose follow-up does not stand any more', async () => {
    const here = scene();
    const { pool, connection } = here;
    const day = 24 * 3_600_000;
    const follow = async (values: Readonly<Record<string, Value>>): Promise<void> => {
      await advanceBaselines(
        pool,
        connection,
        Object.entries(values).map(([leadId, at]) => ({ leadId, values: { [field]: at } })),
      );
      await planReminders(pool, reminderConnection(connection));
    };
    const past = new Date(Date.now() - 200 * day).toISOString();
    const future = new Date(Date.now() + 200 * day).toISOString();
    await follow({
      sent: past,
      fresh: past,
      stands: past,
      gone: past,
      failed: past,
      later: future,
      next: future,
    });
    const { rows } = await pool.query<{ id: number; lead: string }>(
      `select id, lead_id as lead from mails where connection = $1`,
      [connection],
    );
    const idOf = (name: string): number => rows.find(({ lead }) => lead === name)?.id ?? 0;
    for (const name of ['sent', 'fresh', 'stands', 'gone']) await setMailState(pool, idOf(name), 'sent');
    await setMailState(pool, idOf('failed'), 'failed');
    await follow({ sent: null, fresh: null, failed: future, later: null });
    await moveBaselines(pool, connection, [{ to: 'lead-deleted', leadId: 'gone' }]);
    await pool.query(`update mails set updated_at = now() - interval '100 days' where connection = $1`, [
      connection,
    ]);
    // Due long ago, but sent only now: the worker was away.
    await setMailState(pool, idOf('fresh'), 'sent');
    const before = await ids(here, 'mails');
    expect(await pruneOf(here)).toEqual({ ...nothing, mails: 3 });
    const deleted = ['sent', 'gone', 'failed'].map(idOf);
    expect(await ids(here, 'mails')).toEqual(before.filter((id) => !deleted.includes(id)));

    // The follow-up that is set to the old moment again is noted, not mailed.
    await follow({ sent: past });
    const again = await pool.query(`select state from mails where connection = $1 and lead_id = 'sent'`, [
      connection,
    ]);
    expect(again.rows).toEqual([{ state: 'missed' }]);
  });

  test('of reminders that are over none that may still be late: they would be sent again', async () => {
    const here = scene();
    const { pool, connection } = here;
    const instant = new Date(Date.now() - 3_600_000).toISOString();
    const follow = async (value: Value): Promise<void> => {
      await advanceBaselines(pool, connection, [{ leadId: 'a', values: { [field]: value } }]);
      await planReminders(pool, reminderConnection(connection));
    };
    await follow(instant);
    const ago = async (days: number): Promise<void> => {
      await pool.query(
        `update mails set updated_at = now() - $2 * interval '1 day', due_at = now() - $2 * interval '1 day',
           send_at = now() - $2 * interval '1 day', state = 'sent' where connection = $1`,
        [connection, days],
      );
    };
    await ago(20);
    await follow(null);
    expect(await pruneOf(here, 1)).toEqual(nothing);
    await ago(40);
    // With the reminder goes what was planned for a lead that is not there any more; the lead itself is.
    expect(await pruneOf(here, 1)).toEqual({ ...nothing, mails: 1 });
    await moveBaselines(pool, connection, [{ to: 'forgotten', leadId: 'a' }]);
    expect(await pruneOf(here, 1)).toEqual({ ...nothing, followUps: 1 });
  });

  test('of digests those that are over', async () => {
    const here = scene();
    const { pool, connection } = here;
    const recipients = ['scheduled', 'sending', 'sent', 'skipped', 'missed', 'failed', 'fresh'];
    await pool.query(
      `insert into mails (connection, kind, recipient, local_date, send_at)
       select $1, 'digest', recipient, '2020-01-01', now() - interval '100 days' from unnest($2::text[]) recipient`,
      [connection, recipients],
    );
    await pool.query(
      `update mails set state = case recipient when 'fresh' then 'sent' else recipient end,
         updated_at = now() - case recipient when 'fresh' then interval '1 day' else interval '100 days' end
       where connection = $1`,
      [connection],
    );
    expect(await pruneOf(here)).toEqual({ ...nothing, mails: 4 });
    const { rows } = await pool.query<{ recipient: string }>(
      `select recipient from mails where connection = $1 order by 1`,
      [connection],
    );
    expect(rows.map(({ recipient }) => recipient)).toEqual(['fresh', 'scheduled', 'sending']);
  });
});
