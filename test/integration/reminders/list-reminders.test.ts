import { expect, test } from 'vitest';
import { comingReminders, countDueMails, getMails, listReminders } from '../../../src/store/mails.ts';
import { setMailState } from '../../support/mail-state.ts';
import { agree, all, at, hour, plan } from '../sync/plan-scene.ts';
import { useScenes } from '../store/store-scene.ts';

const scene = useScenes();

test('the coming ones are told soonest first, with how many there are', async () => {
  const here = scene();
  const { pool, connection } = here;
  expect(await comingReminders(pool, connection, 2)).toEqual({ count: 0, next: [] });
  for (const [leadId, hours] of [
    ['c', 1.9],
    ['a', 1],
    ['b', 1.5],
  ] as const)
    await agree(here, leadId, at(hours * hour));
  const due = await plan(here);
  expect(await comingReminders(pool, connection, 2)).toEqual({ count: 3, next: due.slice(0, 2) });
  await setMailState(pool, due[0]?.id, 'sent', 'note');
  const coming = await comingReminders(pool, connection, 2);
  expect(coming.next.map(({ leadId }) => leadId)).toEqual(['b', 'c']);
});

test('reminders are listed: those to come soonest first, the others by their latest change', async () => {
  const here = scene();
  for (const [index, leadId] of ['a', 'b', 'c', 'd'].entries())
    await agree(here, leadId, at((index + 1) * hour));
  await plan(here);
  const ids = new Map((await all(here)).map(({ leadId, id }) => [leadId, id]));
  await setMailState(here.pool, ids.get('b'), 'sent', 'in the outbox');
  await setMailState(here.pool, ids.get('a'), 'failed', 'no such mailbox');
  expect((await all(here)).map(({ leadId, note }) => [leadId, note])).toEqual([
    ['c', null],
    ['d', null],
    ['a', 'no such mailbox'],
    ['b', 'in the outbox'],
  ]);
  const [failed] = await listReminders(here.pool, here.connection, ['failed', 'sent'], 1);
  expect(failed?.leadId).toBe('a');
  expect(Math.abs((failed?.updatedAt ?? 0) - Date.now())).toBeLessThan(hour);
});

test('those that are due are counted over the connections that are asked for', async () => {
  const [here, other, third] = [scene(), scene(), scene()];
  for (const one of [here, other, third]) {
    await agree(one, 'a', at(-hour));
    await agree(one, 'b', at(hour));
    await plan(one);
  }
  expect(await countDueMails(here.pool, [here.connection, other.connection])).toBe(2);
  expect(await countDueMails(here.pool, [])).toBe(0);
});

test('a reminder that is not there', async () => {
  expect(await getMails(scene().pool, [0])).toEqual([]);
});
