import { hoursAheadAtNoon, zoneAhead } from '../../support/daytime-zone.ts';
import { setMailState } from '../../support/mail-state.ts';
import { beforeEach, describe, expect, test } from 'vitest';
import { localDateOf } from '../../../src/reminders/plan/local-time.ts';
import { planDigests } from '../../../src/reminders/plan/plan-digests.ts';
import { planReminders } from '../../../src/reminders/plan/plan-reminders.ts';
import type { ReminderRules } from '../../../src/config/config.ts';
import type { Weekday } from '../../../src/config/values.ts';
import { type Digest, getMails } from '../../../src/store/mails.ts';
import { advanceBaselines } from '../../support/advance-baselines.ts';
import { dueDigests } from '../../support/due-mails.ts';
import { reminderConnection } from '../../support/reminder-rules.ts';
import { type Scene, useScenes } from '../store/store-scene.ts';

const scene = useScenes();
// A person has one digest a day over all connections, those of other tests included.
beforeEach(async () => void (await scene().pool.query('delete from mails')));
const hour = 3_600_000;
const day = 24 * hour;
const anna = 'anna@example.com';
const ben = 'ben@example.com';

/** A zone in which it is about noon now, so that a test is not run into by midnight. */
const ahead = hoursAheadAtNoon();
const timeZone = zoneAhead(ahead);
const early = 8 * 60;
const late = 20 * 60;
const date = (days = 0): string => localDateOf(Date.now() + days * day, timeZone);
const moment = (days: number, minute: number): number =>
  Date.parse(`${date(days)}T00:00:00Z`) + minute * 60_000 - ahead * hour;

/** Agrees on follow-ups, n ms from now, by lead; a lead's region is its recipient's name. */
async function agree(
  { pool, connection }: Scene,
  dues: Readonly<Record<string, number | null>>,
): Promise<void> {
  const moves = Object.entries(dues).map(([lead, by]) => ({
    leadId: lead,
    values: {
      nextFollowUpAt: by === null ? null : new Date(Date.now() + by).toISOString(),
      region: lead.split(' ')[0] ?? '',
    },
  }));
  await advanceBaselines(pool, connection, moves);
}

async function plan({ pool, connection }: Scene, rules: Partial<ReminderRules>): Promise<readonly Digest[]> {
  const routes = [{ when: { region: ['ben'] }, to: [ben] }];
  const settings = reminderConnection(connection, { timeZone, before: [], routes, ...rules });
  await planReminders(pool, settings);
  await planDigests(pool, [settings]);
  return dueDigests(pool, [connection]);
}

async function told({ pool, connection }: Scene): Promise<readonly string[]> {
  const { rows } = await pool.query<{ told: string }>(
    `select local_date::text || ' ' || recipient || ' ' || state as told from mails where kind = 'digest' and connection = $1 order by 1`,
    [connection],
  );
  return rows.map((row) => row.told);
}

/** Makes all that is planned n days older. */
async function age({ pool, connection }: Scene, days: number): Promise<void> {
  await pool.query(
    `update mails set local_date = local_date - $2::int, send_at = send_at - $2 * interval '1 day' where kind = 'digest' and connection = $1`,
    [connection, days],
  );
}

describe('planning digests', () => {
  test('the next one for everybody who has something overdue, due that day or in the seven days after it', async () => {
    const here = scene();
    // Half an hour beside the full one: midnight in UTC is a day without a time.
    await agree(here, { 'anna overdue': -100 * day, 'ben in a week': moment(8, 0) - hour / 2 - Date.now() });
    expect(await plan(here, { digestAt: late })).toEqual([]);
    expect(await told(here)).toEqual([`${date()} ${anna} scheduled`, `${date()} ${ben} scheduled`]);
    const { rows } = await here.pool.query<{ at: Date }>(
      `select distinct send_at as at from mails where kind = 'digest' and connection = $1`,
      [here.connection],
    );
    expect(rows.map(({ at }) => at.getTime())).toEqual([moment(0, late)]);
  });

  test('none for somebody whose follow-ups are all further away, or gone', async () => {
    const here = scene();
    await agree(here, { 'anna later': moment(8, 0) - Date.now(), 'ben none': null });
    await plan(here, { digestAt: late });
    expect(await told(here)).toEqual([]);
  });

  test('the time of today is over: that of tomorrow, and nothing to be caught up', async () => {
    const here = scene();
    await agree(here, { 'anna due': 0 });
    expect(await plan(here, { digestAt: early })).toEqual([]);
    expect(await told(here)).toEqual([`${date(1)} ${anna} scheduled`]);
  });

  test('only on working days', async () => {
    const here = scene();
    await agree(here, { 'anna due': 0 });
    const inTwoDays = ((new Date(`${date(2)}T00:00:00Z`).getUTCDay() + 6) % 7) + 1;
    await plan(here, { digestAt: late, workingDays: [inTwoDays as Weekday] });
    expect(await told(here)).toEqual([`${date(2)} ${anna} scheduled`]);
  });

  test('again and at once: no second one, and none that was sent or skipped is planned again', async () => {
    const here = scene();
    await agree(here, { 'anna due': 0, 'ben due': 0 });
    await plan(here, { digestAt: late });
    await Promise.all([plan(here, { digestAt: late }), plan(here, { digestAt: late })]);
    expect(await told(here)).toHaveLength(2);
    await here.pool.query(
      `update mails set state = case recipient when $2 then 'sent' else 'skipped' end where kind = 'digest' and connection = $1`,
      [here.connection, anna],
    );
    await plan(here, { digestAt: late });
    expect(await told(here)).toEqual([`${date()} ${anna} sent`, `${date()} ${ben} skipped`]);
  });

  test('those within two hours and those that were begun are returned, soonest first', async () => {
    const here = scene();
    await agree(here, { 'anna due': 0, 'ben due': 0 });
    const now = new Date();
    const soon = (((now.getUTCHours() * 60 + now.getUTCMinutes() + 61) % 60) + 13 * 60) % 1440;
    const due = await plan(here, { digestAt: soon });
    expect(due).toHaveLength(2);
    const [first] = due;
    expect(first).toMatchObject({
      recipient: anna,
      localDate: date(),
      sendAt: moment(0, soon),
      state: 'scheduled',
    });
    expect(await getMails(here.pool, [first?.id ?? 0])).toEqual([first]);
    await setMailState(here.pool, first?.id, 'sending');
    expect((await plan(here, { digestAt: soon })).map(({ state }) => state)).toEqual([
      'sending',
      'scheduled',
    ]);
    await setMailState(here.pool, first?.id, 'sent', 'note');
    expect((await plan(here, { digestAt: soon })).map(({ recipient }) => recipient)).toEqual([ben]);
  });
});

describe('after a downtime', () => {
  test('of some days each recipient gets one digest, that of today', async () => {
    const here = scene();
    await agree(here, { 'anna due': 0, 'ben due': 0 });
    await plan(here, { digestAt: early });
    await age(here, 4);
    // Ben has nothing to follow up any more.
    await agree(here, { 'ben due': null });
    const due = await plan(here, { digestAt: early });
    expect(due.map(({ recipient, localDate }) => [recipient, localDate])).toEqual([[anna, date()]]);
    expect(await told(here)).toEqual([
      `${date(-3)} ${anna} missed`,
      `${date(-3)} ${ben} skipped`,
      `${date()} ${anna} scheduled`,
      `${date(1)} ${anna} scheduled`,
    ]);
    expect(await plan(here, { digestAt: early })).toEqual(due);
    await setMailState(here.pool, due[0]?.id, 'sent');
    expect(await plan(here, { digestAt: early })).toEqual([]);
    expect(await told(here)).toHaveLength(4);
  });

  test('before the time of today nothing is caught up: today’s comes', async () => {
    const here = scene();
    await agree(here, { 'anna due': 0 });
    await plan(here, { digestAt: late });
    await age(here, 2);
    expect(await plan(here, { digestAt: late })).toEqual([]);
    expect(await told(here)).toEqual([`${date(-2)} ${anna} missed`, `${date()} ${anna} scheduled`]);
  });

  test('of some hours it is sent late on its day, unless the grace period or the day is over', async () => {
    const cases: readonly [Partial<ReminderRules>, string][] = [
      [{}, 'scheduled'],
      [{ graceMs: hour }, 'missed'],
      // The quiet hours have begun and last until tomorrow.
      [{ quietHours: { from: 10 * 60, to: 7 * 60 } }, 'missed'],
      // They end today.
      [{ quietHours: { from: 10 * 60, to: 23 * 60 } }, 'scheduled'],
    ];
    for (const [rules, state] of cases) {
      const here = scene();
      await here.pool.query('delete from mails');
      await agree(here, { 'anna due': 0 });
      await plan(here, { digestAt: early });
      await age(here, 1);
      const due = await plan(here, { digestAt: early, ...rules });
      expect(await told(here)).toEqual([`${date()} ${anna} ${state}`, `${date(1)} ${anna} scheduled`]);
      expect(due).toHaveLength(state === 'scheduled' ? 1 : 0);
    }
  });
});

describe('settings that changed', () => {
  test('another time, another day, no digest any more', async () => {
    const here = scene();
    await agree(here, { 'anna due': 0 });
    await plan(here, { digestAt: late });
    await plan(here, { digestAt: late + 30 });
    const { rows } = await here.pool.query<{ at: Date }>(
      `select send_at as at from mails where kind = 'digest' and connection = $1`,
      [here.connection],
    );
    expect(rows.map(({ at }) => at.getTime())).toEqual([moment(0, late + 30)]);

    const inTwoDays = ((new Date(`${date(2)}T00:00:00Z`).getUTCDay() + 6) % 7) + 1;
    await plan(here, { digestAt: late, workingDays: [inTwoDays as Weekday] });
    expect(await told(here)).toEqual([`${date(2)} ${anna} scheduled`]);

    await plan(here, { digestAt: null });
    expect(await told(here)).toEqual([]);
  });

  test('a connection without reminders has no digests', async () => {
    const here = scene();
    await agree(here, { 'anna due': 0 });
    await plan(here, { digestAt: late });
    await planDigests(here.pool, [{ name: here.connection, sync: { match: 'off' } }]);
    expect(await told(here)).toEqual([]);
  });
});
