import { describe, expect, test } from 'vitest';
import { parseOffset } from '../../support/config-values.ts';
import type { ReminderRules } from '../../../src/config/config.ts';
import { moveBaselines } from '../../../src/store/baselines.ts';
import { getMails } from '../../../src/store/mails.ts';
import { setMailState } from '../../support/mail-state.ts';
import { agree, all, at, day, hour, only, plan, states } from '../sync/plan-scene.ts';
import { type Scene, useScenes } from '../store/store-scene.ts';

const scene = useScenes();
const anna = 'anna@example.com';
const ben = 'ben@example.com';

describe('bringing reminders in line with the follow-ups', () => {
  test('one for each lead, time before and recipient; what is to be sent within two hours, soonest first', async () => {
    const here = scene();
    const [soon, later] = [at(hour), at(day + hour)];
    await agree(here, 'later', later);
    await agree(here, 'soon', soon);
    await agree(here, 'none', null);
    const due = await plan(here, { before: ['0m', '24h'].map(parseOffset), to: [anna, ben] });
    const told = due.map(({ leadId, offsetText, sendAt, dueAt }) => [leadId, offsetText, sendAt, dueAt]);
    const ofSoon = ['soon', '0m', Date.parse(soon), Date.parse(soon)];
    const ofLater = ['later', '24h', Date.parse(later) - day, Date.parse(later)];
    expect(told).toEqual([
      ...(Date.parse(later) - day <= Date.parse(soon) ? [ofLater, ofLater, ofSoon, ofSoon] : []),
      ...(Date.parse(later) - day > Date.parse(soon) ? [ofSoon, ofSoon, ofLater, ofLater] : []),
    ]);
    expect(new Set(due.map(({ recipient }) => recipient))).toEqual(new Set([anna, ben]));
    const [first] = due;
    expect(first).toMatchObject({
      connection: here.connection,
      state: 'scheduled',
      sequence: 0,
      attempts: 0,
    });
    expect(await getMails(here.pool, [first?.id ?? 0])).toEqual([first]);
    // Without one a day before what is due in an hour.
    expect(await states(here)).toHaveLength(6);
  });

  test('only those within two hours are returned, all are scheduled', async () => {
    const here = scene();
    await agree(here, 'soon', at(hour));
    await agree(here, 'later', at(3 * hour));
    expect((await plan(here)).map(({ leadId }) => leadId)).toEqual(['soon']);
    expect(await states(here)).toEqual([`soon ${anna} scheduled`, `later ${anna} scheduled`]);
  });

  test('again and again makes no second one, also at once', async () => {
    const here = scene();
    await agree(here, 'a', at(hour));
    const once = await plan(here);
    expect(await plan(here)).toEqual(once);
    await agree(here, 'b', at(hour));
    await Promise.all([plan(here), plan(here), plan(here)]);
    expect(await states(here)).toEqual([`a ${anna} scheduled`, `b ${anna} scheduled`]);
    expect((await all(here)).map(({ sequence }) => sequence)).toEqual([0, 0]);
  });

  test('a lead of which nothing has changed is not looked at again', async () => {
    const here = scene();
    await agree(here, 'a', at(hour));
    const [reminder] = await plan(here);
    await setMailState(here.pool, reminder?.id, 'cancelled', 'by hand');
    await agree(here, 'a', new Date(reminder?.dueAt ?? 0).toISOString(), { companyName: 'Renamed AG' });
    expect(await plan(here)).toEqual([]);
    expect(await states(here)).toEqual([`a ${anna} cancelled`]);
  });

  test('a follow-up that moved cancels the old one, schedules the new, and counts the sequence up', async () => {
    const here = scene();
    await agree(here, 'a', at(hour));
    await plan(here);
    for (const [round, by] of [1.1, 1.2, 1.3].entries()) {
      const moved = at(by * hour);
      await agree(here, 'a', moved);
      const due = await plan(here);
      expect(due.map(({ dueAt, sequence }) => [dueAt, sequence])).toEqual([[Date.parse(moved), round + 1]]);
    }
    expect((await states(here)).map((told) => told.split(' ')[2])).toEqual([
      'cancelled',
      'cancelled',
      'cancelled',
      'scheduled',
    ]);
  });

  test('one that moved back is scheduled again, unless it was sent, failed or missed', async () => {
    const here = scene();
    const first = at(hour);
    const ended = ['sent', 'failed', 'missed'] as const;
    for (const leadId of ['a', ...ended]) await agree(here, leadId, first);
    const due = await plan(here);
    for (const state of ended) {
      const reminder = due.find(({ leadId }) => leadId === state);
      await setMailState(here.pool, reminder?.id, state);
    }
    for (const leadId of ['a', ...ended]) await agree(here, leadId, null);
    expect(await plan(here)).toEqual([]);
    for (const leadId of ['a', ...ended]) await agree(here, leadId, first);
    expect(await plan(here)).toMatchObject([{ leadId: 'a', sequence: 2 }]);
    expect((await states(here)).toSorted()).toEqual([
      `a ${anna} scheduled`,
      ...ended.map((state) => `${state} ${anna} ${state}`).toSorted(),
    ]);
  });

  test.each<[string, (here: Scene, due: string) => Promise<unknown>, Partial<ReminderRules>, string]>([
    ['cleared', (here) => agree(here, 'a', null), {}, 'moved, cleared or deleted'],
    [
      'of a lead that was deleted',
      (here) => moveBaselines(here.pool, here.connection, [{ to: 'lead-deleted', leadId: 'a' }]),
      {},
      'deleted',
    ],
    [
      'of a lead that was forgotten',
      (here) => moveBaselines(here.pool, here.connection, [{ to: 'forgotten', leadId: 'a' }]),
      {},
      'deleted',
    ],
    [
      'of a stage that is skipped',
      (here, due) => agree(here, 'a', due, { stage: 'Won' }),
      { skipStages: ['won'] },
      'the stage',
    ],
    ['for somebody who is no recipient any more', async () => {}, { to: ['x@example.com'] }, 'the recipient'],
    [
      'for a lead that has another route',
      (here, due) => agree(here, 'a', due, { region: 'BY' }),
      { routes: [{ when: { region: ['by'] }, to: ['x@example.com'] }] },
      'the recipient',
    ],
    [
      'for a lead that has an owner',
      (here, due) => agree(here, 'a', due, { city: 'X@example.com' }),
      { toField: 'city' },
      'the recipient',
    ],
    [
      'for a time before that is not asked for any more',
      async () => {},
      { before: [parseOffset('1m')] },
      'the settings',
    ],
  ])('a reminder is cancelled, and says why: %s', async (_, change, rules, note) => {
    const here = scene();
    const due = at(hour);
    await agree(here, 'a', due, { stage: 'new' });
    await plan(here, {});
    const { id } = await only(here);
    await change(here, due);
    await plan(here, rules);
    const after = (await all(here)).find((reminder) => reminder.id === id);
    expect(after).toMatchObject({ state: 'cancelled', note: expect.stringContaining(note) });
    expect((await plan(here, rules)).filter((reminder) => reminder.id === id)).toEqual([]);
  });

  test('a lead that leaves the skipped stage has its reminder again', async () => {
    const here = scene();
    const due = at(hour);
    for (const stage of ['won', 'new', 'won', 'new']) {
      await agree(here, 'a', due, { stage });
      expect(await plan(here, { skipStages: ['won'] })).toHaveLength(stage === 'new' ? 1 : 0);
    }
    expect(await only(here)).toMatchObject({ state: 'scheduled', sequence: 3 });
  });

  test('far dates and the past, and years that nobody means', async () => {
    const here = scene();
    for (const [leadId, due] of [
      ['last', '2200-12-31T23:59:59.999Z'],
      ['first', '1970-01-01T00:00:00.000Z'],
      ['never', '9999-12-31T23:59:59.999Z'],
      ['typo', '0026-11-21T00:00:00.000Z'],
      ['beyond', '+012345-01-02T03:04:05.006Z'],
      ['before', '-000044-03-15T12:00:00.000Z'],
      ['zero', '0000-01-01T00:00:00.000Z'],
    ] as const)
      await agree(here, leadId, due);
    const rules = { before: ['0m', '365d'].map(parseOffset), quietHours: { from: 1200, to: 480 } };
    await agree(here, 'soon', at(hour));
    await plan(here, { ...rules, quietHours: null });
    await plan(here, rules);
    const byLead = Map.groupBy(await all(here), ({ leadId }) => leadId);
    expect(byLead.get('last')?.map(({ sendAt }) => new Date(sendAt).toISOString())).toEqual([
      '2200-01-01T08:00:00.000Z',
      '2201-01-01T08:00:00.000Z',
    ]);
    expect(byLead.get('first')?.map(({ state }) => state)).toEqual(['missed']);
    expect(byLead.get('first')?.map(({ dueAt }) => dueAt)).toEqual([0]);
    expect([...byLead.keys()].toSorted()).toEqual(['first', 'last', 'soon']);
  });

  test('more leads than one transaction takes, and other connections stay as they are', async () => {
    const [here, other] = [scene(), scene()];
    await agree(other, 'a', at(hour));
    await plan(other);
    await here.pool.query(
      `insert into pairs (connection, lead_id, base) select $1, 'lead-' || n, jsonb_build_object('nextFollowUpAt', $2::text)
       from generate_series(1, 20100) n`,
      [here.connection, at(hour)],
    );
    expect(await plan(here)).toHaveLength(20_100);
    expect(await plan(here)).toHaveLength(20_100);
    expect(await states(other)).toEqual([`a ${anna} scheduled`]);
  });
});
