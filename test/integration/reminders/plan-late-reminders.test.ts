import { describe, expect, test } from 'vitest';
import { parseOffset } from '../../support/config-values.ts';
import { nextAllowed } from '../../../src/reminders/plan/send-time.ts';
import { followUpsOf } from '../../../src/store/follow-ups.ts';
import { moveBaselines } from '../../../src/store/baselines.ts';
import { plainRules } from '../../support/reminder-rules.ts';
import { agree, all, at, day, hour, only, plan, states } from '../sync/plan-scene.ts';
import { useScenes } from '../store/store-scene.ts';

const scene = useScenes();
const anna = 'anna@example.com';
const ben = 'ben@example.com';

/** What was due is overdue, what is due within six hours is due today. */
const daysUntil = (end: number) => ({ today: Date.now(), tomorrow: Date.now() + 6 * hour, end });

describe('what is late', () => {
  test.each<[string, number, string]>([
    ['just due', -1, 'scheduled'],
    ['within the grace period', -day + hour, 'scheduled'],
    ['after it', -day - hour, 'missed'],
  ])('is mailed or noted: %s', async (_, fromNow, expected) => {
    const here = scene();
    await agree(here, 'a', at(fromNow));
    expect(await plan(here)).toHaveLength(expected === 'scheduled' ? 1 : 0);
    expect(await states(here)).toEqual([`a ${anna} ${expected}`]);
    // It stays so when the lead is planned anew.
    await agree(here, 'a', at(5 * hour));
    await plan(here);
    expect((await states(here))[0]).toBe(`a ${anna} ${expected === 'scheduled' ? 'cancelled' : 'missed'}`);
  });

  test('is missed once the grace period is over, though nothing else has changed', async () => {
    const here = scene();
    await agree(here, 'a', at(-hour));
    expect(await plan(here)).toHaveLength(1);
    expect(await plan(here, { graceMs: 60_000 })).toEqual([]);
    expect(await only(here)).toMatchObject({ state: 'missed', note: expect.stringContaining('24 hours') });
    expect(await plan(here)).toEqual([]);
  });

  test('what the first sync after a restore finds due before that may have been sent: it is missed, and what follows is not', async () => {
    const here = scene();
    await here.pool.query('insert into keeper default values on conflict do nothing');
    await here.pool.query(`update keeper set restored_at = now() - interval '1 minute'`);
    const syncs = () =>
      here.pool.query(
        `insert into runs (connection, mode, base_url, settings_hash, status, finished_at)
         values ($1, 'sync', 'x', 'x', 'succeeded', now())`,
        [here.connection],
      );
    try {
      await syncs();
      await agree(here, 'a', at(-hour));
      await agree(here, 'b', at(hour));
      expect(await plan(here)).toMatchObject([{ leadId: 'b' }]);
      expect((await all(here)).find(({ leadId }) => leadId === 'a')).toMatchObject({
        state: 'missed',
        note: expect.stringContaining('it may have been sent'),
      });
      await syncs();
      await agree(here, 'c', at(-hour));
      expect(await states(here)).toEqual([`a ${anna} missed`, `b ${anna} scheduled`]);
      await plan(here);
      expect(await states(here)).toContain(`c ${anna} scheduled`);
    } finally {
      await here.pool.query('update keeper set restored_at = null');
    }
  });

  test('of several mails of one follow-up that are late together only the last is sent', async () => {
    const here = scene();
    await agree(here, 'a', at(3 * day));
    const before = ['0m', '1h', '2h', '2d'].map(parseOffset);
    await plan(here, { before });
    await here.pool.query(
      `update mails set send_at = send_at - interval '73 hours', due_at = due_at - interval '73 hours'
       where connection = $1`,
      [here.connection],
    );
    expect(await plan(here, { before })).toMatchObject([{ offsetText: '0m' }]);
    const told = (await all(here)).map(({ offsetText, state }) => `${offsetText} ${state}`);
    expect(told.toSorted()).toEqual(['0m scheduled', '1h missed', '2d missed', '2h missed']);
  });

  test('a time before that was past when the date became known is left out, unless it is the only one', async () => {
    const here = scene();
    const before = ['0m', '1h', '1d'].map(parseOffset);
    const told = async () =>
      (await all(here)).map(({ leadId, offsetText, state }) => `${leadId} ${offsetText} ${state}`).toSorted();
    await agree(here, 'today', at(2 * hour));
    await agree(here, 'past', at(-2 * hour));
    await plan(here, { before });
    expect(await told()).toEqual(['past 0m scheduled', 'today 0m scheduled', 'today 1h scheduled']);
    // One that was planned in time and is late, because the worker was away, is not left out.
    await here.pool.query(
      `update mails set send_at = now() - interval '1 minute' where connection = $1 and offset_text = '1h'`,
      [here.connection],
    );
    await plan(here, { before: [...before, parseOffset('30m')] });
    expect(await told()).toEqual([
      'past 0m scheduled',
      'today 0m scheduled',
      'today 1h scheduled',
      'today 30m scheduled',
    ]);
    await agree(here, 'alone', at(2 * hour));
    expect((await plan(here, { before: [parseOffset('1d')] })).map(({ leadId }) => leadId)).toContain(
      'alone',
    );
  });

  test.each<[string, string, number]>([
    ['7d', 'in 12 hours', 12 * hour],
    ['7d', 'in 47 hours', 47 * hour],
    ['2d', 'in 12 hours', 12 * hour],
    ['1d', '2 hours ago', -2 * hour],
    ['7d', '23 hours ago', -23 * hour],
  ])(
    'the only time before, %s, is past when a follow-up is entered that is due %s: mailed at once',
    async (before, _, due) => {
      const here = scene();
      const rules = { before: [parseOffset(before)] };
      await agree(here, 'a', at(due));
      const planned = await plan(here, rules);
      expect(planned).toMatchObject([{ leadId: 'a', offsetText: before, state: 'scheduled' }]);
      // It is late from when it became known, so the mail says nothing of that.
      expect(Math.abs((planned[0]?.sendAt ?? 0) - Date.now())).toBeLessThan(30_000);
      const again = await plan(here, { ...rules, routes: [{ when: { city: ['x'] }, to: [ben] }] });
      expect(again, 'planned anew it is no later').toMatchObject(
        planned.map(({ id, sendAt }) => ({ id, sendAt })),
      );
    },
  );

  test('500 leads that were overdue for longer than the grace period when they became known: no flood, each with a word', async () => {
    const here = scene();
    const before = ['0m', '1d'].map(parseOffset);
    for (let n = 0; n < 500; n++) await agree(here, `old${n}`, at(-day - (n + 1) * hour));
    await agree(here, 'late', at(-day + hour));
    expect(await plan(here, { before })).toMatchObject([{ leadId: 'late', offsetText: '0m' }]);
    expect((await states(here)).filter((told) => told.endsWith('missed'))).toHaveLength(500);
    const missed = (await all(here)).filter(({ state }) => state === 'missed');
    expect(new Set(missed.map(({ note, offsetText }) => `${offsetText}: ${note}`))).toEqual(
      new Set([
        '0m: it could not be sent in time: the follow-up was overdue for more than 24 hours when leadsync first saw it',
      ]),
    );
    const { counts } = await followUpsOf(
      here.pool,
      [here.connection],
      anna,
      daysUntil(Date.now() + day),
      [],
      10,
    );
    expect(counts.overdue, 'the digest has them all').toBe(501);
  });

  test('entered, cleared and entered again after its time before: mailed at once, not missed', async () => {
    const here = scene();
    const rules = { before: [parseOffset('7d')] };
    const due = at(12 * hour);
    await agree(here, 'a', due);
    await plan(here, rules);
    await agree(here, 'a', null);
    await plan(here, rules);
    await here.pool.query(
      `update mails set send_at = send_at - interval '9 days' where connection = $1 and state = 'cancelled'`,
      [here.connection],
    );
    await agree(here, 'a', due);
    expect(await plan(here, rules)).toMatchObject([{ state: 'scheduled' }]);
    expect(Math.abs((await only(here)).sendAt - Date.now())).toBeLessThan(30_000);
  });

  test('moved on its day and back: what was cancelled is not sent late', async () => {
    const here = scene();
    const before = ['0m', '1h'].map(parseOffset);
    const due = at(2 * hour);
    await agree(here, 'a', due);
    await plan(here, { before });
    await agree(here, 'a', at(5 * day));
    await plan(here, { before });
    await here.pool.query(
      `update mails set send_at = now() - interval '1 minute' where offset_text = '1h' and connection = $1
         and state = 'cancelled'`,
      [here.connection],
    );
    // Its moment was an hour before; now the follow-up is due in half an hour.
    const soon = at(hour / 2);
    await here.pool.query(`update mails set due_at = $2 where due_at = $3 and connection = $1`, [
      here.connection,
      soon,
      due,
    ]);
    await agree(here, 'a', soon);
    expect(await plan(here, { before })).toMatchObject([{ offsetText: '0m', state: 'scheduled' }]);
  });

  test('waits for the end of the quiet hours, which is no grace period that runs out', async () => {
    const here = scene();
    const due = at(-hour);
    await agree(here, 'a', due);
    const now = new Date();
    const minute = now.getUTCHours() * 60 + now.getUTCMinutes();
    // They began after the mail should have left, when the worker was away, and end in twenty hours.
    const quietHours = { from: (minute + 1440 - 10) % 1440, to: (minute + 1200) % 1440 };
    const rules = { quietHours, graceMs: 2 * hour };
    expect(await plan(here, rules)).toEqual([]);
    const put = await only(here);
    expect(put).toMatchObject({ state: 'scheduled' });
    expect(put.sendAt).toBe(nextAllowed(Date.now(), { ...plainRules, quietHours }));
    // Planned anew meanwhile, it is not put back to when it was late already.
    await plan(here, { ...rules, routes: [{ when: { city: ['x'] }, to: [ben] }] });
    expect((await only(here)).sendAt).toBe(put.sendAt);
    await plan(here, rules);
    expect(await only(here)).toMatchObject({ state: 'scheduled', sendAt: put.sendAt });
  });
});

describe('what a recipient has to follow up', () => {
  test('oldest first, with how many there are; nobody else’s, nothing skipped, nothing deleted', async () => {
    const here = scene();
    const { pool, connection } = here;
    const rules = { routes: [{ when: { region: ['BY'] }, to: ['Ben@example.com'] }], skipStages: ['won'] };
    const dues = { old: at(-40 * day), today: at(hour), later: at(6 * day) };
    await agree(here, 'today', dues.today, { companyName: 'Today AG' });
    await agree(here, 'later', dues.later);
    await agree(here, 'old', dues.old);
    await agree(here, 'won', at(hour), { stage: 'won' });
    await agree(here, 'south', at(hour), { region: 'BY' });
    await agree(here, 'gone', at(hour));
    await plan(here, rules);
    await moveBaselines(pool, connection, [{ to: 'lead-deleted', leadId: 'gone' }]);
    const of = async (who: string, until: number, limit = 10) => {
      const { items, counts } = await followUpsOf(pool, [connection], who, daysUntil(until), [], limit);
      return [items.map(({ leadId }) => leadId), counts.overdue + counts.today + counts.week];
    };
    expect(await of(anna, Date.now() + 7 * day)).toEqual([['old', 'today', 'later'], 3]);
    expect(await of(anna, Date.now() + 7 * day, 1), 'one of each part').toEqual([
      ['old', 'today', 'later'],
      3,
    ]);
    expect(await of(anna, Date.parse(dues.today))).toEqual([['old'], 1]);
    expect(await of('ben@example.com', Date.now() + day)).toEqual([['south'], 1]);
    expect(await of('x@example.com', Date.now() + day)).toEqual([[], 0]);
    const { items } = await followUpsOf(pool, [connection], anna, daysUntil(Date.now() + day), [], 10);
    expect(items[1]).toEqual({
      connection,
      leadId: 'today',
      dueAt: Date.parse(dues.today),
      cells: { nextFollowUpAt: dues.today, companyName: 'Today AG' },
    });
  });

  test('is known without single mails, too', async () => {
    const here = scene();
    await agree(here, 'a', at(hour));
    expect(await plan(here, { before: [] })).toEqual([]);
    const { counts } = await followUpsOf(
      here.pool,
      [here.connection],
      anna,
      daysUntil(Date.now() + day),
      [],
      1,
    );
    expect(counts.today + counts.week).toBe(1);
    expect(await states(here)).toEqual([]);
  });
});
