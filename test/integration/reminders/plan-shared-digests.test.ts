import { beforeEach, describe, expect, test } from 'vitest';
import type { ReminderRules } from '../../../src/config/config.ts';
import { planDigests } from '../../../src/reminders/plan/plan-digests.ts';
import { localDateOf } from '../../../src/reminders/plan/local-time.ts';
import { saveFollowUps } from '../../../src/store/follow-ups.ts';
import { forgetConnection, forgetOldDigests } from '../../../src/store/retention.ts';
import type { Digest } from '../../../src/store/mails.ts';
import { hoursAheadAtNoon, zoneAhead } from '../../support/daytime-zone.ts';
import { dueDigests } from '../../support/due-mails.ts';
import { reminderConnection } from '../../support/reminder-rules.ts';
import { useScenes } from '../store/store-scene.ts';

const scene = useScenes();
const anna = 'anna@example.com';
const hour = 3_600_000;
const day = 24 * hour;

/** A zone in which it is about noon now, so that a test is not run into by midnight. */
const ahead = hoursAheadAtNoon();
const timeZone = zoneAhead(ahead);
const early = 8 * 60;
const late = 20 * 60;
const date = (days = 0, zone = timeZone): string => localDateOf(Date.now() + days * day, zone);

beforeEach(async () => {
  await scene().pool.query('delete from mails');
  await scene().pool.query('delete from follow_ups');
});

/** Follow-ups of Anna, one for each connection, n ms from now. */
async function due(dues: Readonly<Record<string, number | null>>): Promise<void> {
  for (const [connection, by] of Object.entries(dues)) {
    const dueAt = by === null ? null : Date.now() + by;
    const recipients = dueAt === null ? [] : [anna];
    await saveFollowUps(scene().pool, connection, [
      { leadId: 'a', service: connection, seen: 's', dueAt, recipients, sequence: 0 },
    ]);
  }
}

/** Connections by name, with the time of their digest, in the order of the configuration. */
function configuration(
  digests: Readonly<Record<string, number | null>>,
  rules: Partial<ReminderRules> = {},
): readonly ReturnType<typeof reminderConnection>[] {
  return Object.entries(digests).map(([name, digestAt]) =>
    reminderConnection(name, { timeZone, digestAt, ...rules }),
  );
}

async function plan(...given: Parameters<typeof configuration>): Promise<readonly Digest[]> {
  const configured = configuration(...given);
  await planDigests(scene().pool, configured);
  return dueDigests(
    scene().pool,
    configured.map(({ name }) => name),
  );
}

/** Each digest: day, home, hour of the day in the zone, state. */
async function told(): Promise<readonly string[]> {
  const { rows } = await scene().pool.query<{ date: string; home: string; at: Date; state: string }>(
    `select local_date::text as date, connection as home, send_at as at, state from mails where kind = 'digest' order by 1, 2`,
  );
  return rows.map(({ date: on, home, at, state }) => {
    const offset = on === date() ? 'today' : on === date(1) ? 'tomorrow' : on;
    return `${offset} ${home} ${(at.getUTCHours() + ahead + 24) % 24} ${state}`;
  });
}

const set = (state: string) => scene().pool.query(`update mails set state = $1, updated_at = now()`, [state]);
const pass = (ms: number) =>
  scene().pool.query(`update mails set send_at = send_at - $1 * interval '1 ms'`, [ms]);

describe('one digest for a person', () => {
  test('of the first connection with a follow-up by then: its time, its queue', async () => {
    await due({ a: 100 * day, b: -day, c: 0 });
    await plan({ none: null, a: late, b: late + 60, c: late });
    expect(await told()).toEqual(['today b 21 scheduled']);
    await due({ a: day });
    await plan({ none: null, a: late, b: late + 60, c: late });
    expect(await told()).toEqual(['today a 20 scheduled']);
  });

  test('a connection without a digest counts for nobody', async () => {
    await due({ a: 0 });
    await plan({ a: null, b: late });
    expect(await told()).toEqual([]);
  });

  test('of several workers that plan at once there is one', async () => {
    await due({ a: 0, b: 0 });
    const orders = [
      { a: late, b: late + 60 },
      { b: late + 60, a: late },
    ];
    await Promise.all(Array.from({ length: 8 }, (_, n) => plan(orders[n % 2] ?? {})));
    expect(await told()).toHaveLength(1);
  });
});

describe('the configuration changes', () => {
  const changes: readonly [string, Readonly<Record<string, number>>, string][] = [
    ['another order', { b: late + 60, a: late }, 'b 21'],
    ['the home is renamed or removed', { b: late + 60 }, 'b 21'],
    ['a connection with a digest is added in front', { c: late + 120, a: late, b: late + 60 }, 'c 22'],
  ];
  test.each(changes)('%s: a digest that is to come moves', async (_, after, expected) => {
    await due({ a: 0, b: 0, c: 0 });
    await plan({ a: late, b: late + 60 });
    await plan(after);
    expect(await told()).toEqual([`today ${expected} scheduled`]);
  });

  test.each(changes)('%s: after it was sent there is no second one for the day', async (_, after) => {
    await due({ a: 0, b: 0, c: 0 });
    await plan({ a: late, b: late + 60 });
    for (const state of ['sent', 'skipped', 'failed', 'sending']) {
      await set(state);
      await plan(after);
      expect((await told()).map((line) => line.replace(/ .* /, ' '))).toEqual([`today ${state}`]);
    }
  });

  test('the home was forgotten on the day on which it sent: still no second one, and nothing is kept for long', async () => {
    const { pool } = scene();
    await due({ a: 0, b: 0 });
    await plan({ a: late, b: late });
    await set('sent');
    const stop = new AbortController().signal;
    await forgetConnection(pool, 'a', stop);
    await plan({ b: late });
    expect(await told()).toEqual(['today a 20 sent']);
    await forgetOldDigests(pool, ['b']);
    expect(await told()).toHaveLength(1);
    await pool.query('update mails set local_date = local_date - 4');
    await forgetOldDigests(pool, ['a', 'b']);
    expect(await told()).toHaveLength(1);
    await forgetOldDigests(pool, ['b']);
    expect(await told()).toEqual([]);
  });

  test('one that is being sent by a home that is gone is taken over, so that its end is found out', async () => {
    await due({ a: 0, b: 0 });
    await plan({ a: late, b: late });
    await set('sending');
    await plan({ a: null, b: late });
    expect(await told(), 'its queue is still worked').toEqual(['today a 20 sending']);
    await plan({ b: late });
    expect(await told()).toEqual(['today b 20 sending']);
  });

  test('one that is due is not put off, nor lost between workers with different configurations', async () => {
    await due({ a: 0, b: 0 });
    await plan({ a: late, b: late + 60 });
    await pass(9 * hour);
    // Another worker knows only b, whose time is later.
    await plan({ b: late + 60 });
    expect(await told()).toEqual(['today b 11 scheduled']);
    await plan({ a: late, b: late + 60 });
    expect(await told()).toEqual(['today a 11 scheduled']);
  });

  test('a worker that does not know the home leaves what it cannot plan', async () => {
    await due({ a: 0 });
    await plan({ a: late });
    await plan({ b: late });
    expect(await told()).toEqual(['today a 20 scheduled']);
    await plan({ a: null, b: late });
    expect(await told(), 'this one knows that it has no digest any more').toEqual([]);
  });
});

describe('a person’s own zone', () => {
  const zones = (zone: string) => ({ timeZones: { [anna]: zone } });
  const east = hoursAheadAtNoon(6);
  const west = east - 6;

  test('decides the day and the time', async () => {
    await due({ a: 0 });
    await plan({ a: early }, zones(zoneAhead(west)));
    const { rows } = await scene().pool.query<{ at: Date; date: string }>(
      `select send_at as at, local_date::text as date from mails`,
    );
    // It is about six o'clock there.
    expect(rows[0]?.date).toBe(date(0, zoneAhead(west)));
    expect(rows[0]?.at.getUTCHours()).toBe((8 - west + 24) % 24);
  });

  test('changes: where the time of today is over, the digest comes at once, whatever the grace period', async () => {
    await due({ a: 0 });
    await plan({ a: early }, { graceMs: 60_000, ...zones(zoneAhead(west)) });
    // Moving six hours east, it is about noon.
    const [digest] = await plan({ a: early }, { graceMs: 60_000, ...zones(zoneAhead(east)) });
    expect(digest).toMatchObject({ state: 'scheduled', localDate: date(0, zoneAhead(east)) });
    expect(digest?.sendAt).toBeLessThanOrEqual(Date.now());
    expect((await told()).filter((line) => line.includes('missed'))).toEqual([]);
  });

  test('changes after it was sent: none of the same day again, one for each day from then on', async () => {
    await due({ a: 0 });
    await plan({ a: early }, zones(timeZone));
    await scene().pool.query('update mails set local_date = $1, state = $2', [date(), 'sent']);
    for (const zone of [-11, -6, 0, 6, 11].map((by) => zoneAhead(Math.max(-12, Math.min(14, ahead + by))))) {
      await plan({ a: early }, zones(zone));
      const days = (await told()).map((line) => line.split(' ')[0]);
      expect(new Set(days).size, zone).toBe(days.length);
      expect(days, zone).toContain('today');
    }
  });
});
