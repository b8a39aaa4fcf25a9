import { describe, expect, test } from 'vitest';
import { forgetPairs, markLeadDeleted, moveBase } from '../../src/store/pairs.ts';
import {
  comingReminders,
  countDueReminders,
  getReminder,
  type Reminder,
  reconcileReminders,
  setReminderState,
} from '../../src/store/reminders.ts';
import { type Scene, useScenes } from './store-scene.ts';

const scene = useScenes();
const field = 'nextFollowUpAt';
const hour = 3_600_000;
const day = 24 * hour;
const anna = 'anna@example.com';
const ben = 'ben@example.com';

/** An instant so many ms from now, in the one form of instants. */
const at = (fromNow: number) => new Date(Date.now() + fromNow).toISOString();

const due = ({ pool, connection }: Scene, leadId: string, instant: string | null) =>
  moveBase(pool, connection, [{ leadId, values: { [field]: instant } }]);

const reconcile = ({ pool, connection }: Scene, recipients = [anna], horizonMs = 1000 * day) =>
  reconcileReminders(pool, connection, field, recipients, day, horizonMs);

async function states({ pool, connection }: Scene): Promise<readonly string[]> {
  const { rows } = await pool.query<{ told: string }>(
    `select lead_id || ' ' || recipient || ' ' || state as told from reminders where connection = $1 order by due_at, id`,
    [connection],
  );
  return rows.map(({ told }) => told);
}

describe('bringing reminders in line with the follow-ups', () => {
  test('one for each lead and recipient, soonest first', async () => {
    const here = scene();
    const [soon, later] = [at(hour), at(day)];
    await due(here, 'later', later);
    await due(here, 'soon', soon);
    await due(here, 'none', null);
    const reminders = await reconcile(here, [anna, ben]);
    expect(reminders.map(({ leadId, dueAt }) => [leadId, dueAt])).toEqual([
      ['soon', Date.parse(soon)],
      ['soon', Date.parse(soon)],
      ['later', Date.parse(later)],
      ['later', Date.parse(later)],
    ]);
    expect(new Set(reminders.map(({ recipient }) => recipient))).toEqual(new Set([anna, ben]));
    expect(reminders[0]).toMatchObject({ connection: here.connection, state: 'scheduled' });
    expect(await getReminder(here.pool, reminders[0]?.id ?? 0)).toEqual(reminders[0]);
  });

  test('again and again makes no second one', async () => {
    const here = scene();
    await due(here, 'a', at(hour));
    const once = await reconcile(here);
    expect(await reconcile(here)).toEqual(once);
    await Promise.all([reconcile(here), reconcile(here)]);
    expect(await states(here)).toEqual([`a ${anna} scheduled`]);
  });

  test('a follow-up that moved cancels the old one and schedules the new', async () => {
    const here = scene();
    await due(here, 'a', at(hour));
    await reconcile(here);
    const moved = at(2 * hour);
    await due(here, 'a', moved);
    expect((await reconcile(here)).map(({ dueAt }) => dueAt)).toEqual([Date.parse(moved)]);
    expect(await states(here)).toEqual([`a ${anna} cancelled`, `a ${anna} scheduled`]);
  });

  test('one that moved back is scheduled again, unless it was sent', async () => {
    const here = scene();
    const first = at(hour);
    await due(here, 'a', first);
    await due(here, 'sent', first);
    const sent = (await reconcile(here)).find(({ leadId }) => leadId === 'sent');
    await setReminderState(here.pool, sent?.id ?? 0, 'sent');
    for (const leadId of ['a', 'sent']) await due(here, leadId, null);
    expect(await reconcile(here)).toEqual([]);
    for (const leadId of ['a', 'sent']) await due(here, leadId, first);
    expect((await reconcile(here)).map(({ leadId }) => leadId)).toEqual(['a']);
    expect((await states(here)).toSorted()).toEqual([`a ${anna} scheduled`, `sent ${anna} sent`]);
  });

  test.each<[string, (here: Scene) => Promise<unknown>]>([
    ['cleared', (here) => due(here, 'a', null)],
    ['of a lead that was deleted', (here) => markLeadDeleted(here.pool, here.connection, ['a'])],
    ['of a lead that was forgotten', (here) => forgetPairs(here.pool, here.connection, ['a'])],
    ['for somebody who is no recipient any more', () => Promise.resolve()],
  ])('a follow-up %s is cancelled', async (what, change) => {
    const here = scene();
    await due(here, 'a', at(hour));
    await reconcile(here);
    await change(here);
    const recipients = what.startsWith('for somebody') ? [] : [anna];
    expect(await reconcile(here, recipients)).toEqual([]);
    expect(await states(here)).toEqual([`a ${anna} cancelled`]);
  });

  test.each<[string, number, string]>([
    ['just due', -1, 'scheduled'],
    ['within the time of grace', -day + hour, 'scheduled'],
    ['before it', -day - hour, 'missed'],
  ])('one that is overdue is mailed or noted: %s', async (_, fromNow, expected) => {
    const here = scene();
    await due(here, 'a', at(fromNow));
    expect(await reconcile(here)).toHaveLength(expected === 'scheduled' ? 1 : 0);
    expect(await states(here)).toEqual([`a ${anna} ${expected}`]);
  });

  test('what is being sent is left alone', async () => {
    const here = scene();
    await due(here, 'a', at(hour));
    const [reminder] = await reconcile(here);
    await setReminderState(here.pool, reminder?.id ?? 0, 'sending');
    await due(here, 'a', null);
    await reconcile(here);
    expect(await states(here)).toEqual([`a ${anna} sending`]);
  });

  test('returns only those within the horizon, and schedules all', async () => {
    const here = scene();
    await due(here, 'soon', at(hour));
    await due(here, 'later', at(3 * hour));
    expect((await reconcile(here, [anna], 2 * hour)).map(({ leadId }) => leadId)).toEqual(['soon']);
    expect(await states(here)).toEqual([`soon ${anna} scheduled`, `later ${anna} scheduled`]);
  });

  test('an instant that no calendar has does not hold up the others', async () => {
    const here = scene();
    await due(here, 'a', '+012345-01-02T03:04:05.006Z');
    await due(here, 'b', at(hour));
    await due(here, 'c', '-000044-03-15T12:00:00.000Z');
    expect((await reconcile(here)).map(({ leadId }) => leadId)).toEqual(['b']);
  });

  test('other connections stay as they are', async () => {
    const [here, other] = [scene(), scene()];
    await due(other, 'a', at(hour));
    await reconcile(other);
    await reconcile(here);
    expect(await states(other)).toEqual([`a ${anna} scheduled`]);
  });
});

test('the coming ones are told soonest first, with how many there are', async () => {
  const here = scene();
  expect(await comingReminders(here.pool, here.connection, 2)).toEqual({ count: 0, next: [] });
  for (const [leadId, hours] of [
    ['c', 3],
    ['a', 1],
    ['b', 2],
  ] as const)
    await due(here, leadId, at(hours * hour));
  const all = await reconcile(here);
  const coming = await comingReminders(here.pool, here.connection, 2);
  expect(coming).toEqual({ count: 3, next: all.slice(0, 2) });
  await setReminderState(here.pool, all[0]?.id ?? 0, 'sent', 'note');
  expect(
    (await comingReminders(here.pool, here.connection, 2)).next.map(({ leadId }: Reminder) => leadId),
  ).toEqual(['b', 'c']);
});

test('those that are due are counted over the connections that are asked for', async () => {
  const [here, other, third] = [scene(), scene(), scene()];
  for (const one of [here, other, third]) {
    await due(one, 'a', at(-hour));
    await due(one, 'b', at(hour));
    await reconcile(one);
  }
  expect(await countDueReminders(here.pool, [here.connection, other.connection])).toBe(2);
  expect(await countDueReminders(here.pool, [])).toBe(0);
});

test('a reminder that is not there', async () => {
  expect(await getReminder(scene().pool, 0)).toBeNull();
});
