import { Temporal } from 'temporal-polyfill';
import { expect, test } from 'vitest';
import { planReminders } from '../../../src/reminders/plan/plan-reminders.ts';
import { hoursAheadAtNoon, zoneAhead } from '../../support/daytime-zone.ts';
import { plainRules, reminderConnection } from '../../support/reminder-rules.ts';
import { useScenes } from '../store/store-scene.ts';
import { agree, all, day, hour, only, plan } from '../sync/plan-scene.ts';

const scene = useScenes();
const anna = 'anna@example.com';
const ben = 'ben@example.com';

/** Past eight for everybody but Ben, who lives six hours behind, on the same day. */
function rulesInTheMorning() {
  const ahead = hoursAheadAtNoon(6);
  const timeZone = zoneAhead(ahead);
  return { ...plainRules, timeZone, dayZone: timeZone, timeZones: { [ben]: zoneAhead(ahead - 6) } };
}

/** A date without a time as it is stored, and a time of that day. */
function dayFromToday(days: number, timeZone: string) {
  const date = Temporal.Now.plainDateISO(timeZone).add({ days });
  const at = (time: string) => date.toZonedDateTime({ timeZone, plainTime: time }).epochMilliseconds;
  return { stored: new Date(at('00:00')).toISOString(), at };
}

test.each<[string, number, number, string]>([
  ['today, entered after eight: at once', 0, 24 * hour, 'scheduled'],
  ['today, long after the grace period: the day is not over', 0, hour, 'scheduled'],
  ['yesterday, and the grace period of its mail is over', -1, 24 * hour, 'missed'],
  ['yesterday, within it: at once', -1, 2 * day, 'scheduled'],
  ['tomorrow', 1, 24 * hour, 'scheduled'],
])('a day: %s', async (_, days, graceMs, state) => {
  const here = scene();
  const rules = { ...rulesInTheMorning(), graceMs };
  const { stored, at } = dayFromToday(days, rules.timeZone);
  const now = Date.now();
  await agree(here, 'a', stored);
  await plan(here, rules);
  const mail = await only(here);
  expect(mail).toMatchObject({ state, dueAt: Date.parse(stored) });
  if (days <= 0 && state === 'scheduled') expect(mail.sendAt).toBeGreaterThanOrEqual(now - 1);
  else expect(mail.sendAt).toBe(at('08:00'));
  await plan(here, rules);
  expect(await only(here)).toEqual(mail);
});

test('a day begins for each recipient when it begins there, and late mails wait by their clocks', async () => {
  const here = scene();
  const rules = { ...rulesInTheMorning(), to: [anna, ben], quietHours: { from: 1200, to: 480 } };
  const dueNow = async () =>
    (await plan(here, rules)).filter(({ sendAt }) => sendAt <= Date.now()).map(({ recipient }) => recipient);
  await agree(here, 'a', dayFromToday(0, rules.timeZone).stored);
  expect(await dueNow()).toEqual([anna]);
  const his = dayFromToday(0, rules.timeZones[ben] ?? '').at('08:00');
  const ofBen = async () => (await all(here)).find(({ recipient }) => recipient === ben);
  expect(await ofBen()).toMatchObject({ state: 'scheduled', sendAt: his });
  // As if his had been due in the night and could not be sent.
  await here.pool.query(`update mails set send_at = now() - interval '1 minute' where connection = $1`, [
    here.connection,
  ]);
  expect(await dueNow()).toEqual([anna]);
  expect(await ofBen()).toMatchObject({ state: 'scheduled', sendAt: his });
});

test('an all-day entry of today is moved with its follow-up, since the day is not over', async () => {
  const here = scene();
  const rules = rulesInTheMorning();
  const connection = reminderConnection(here.connection, rules);
  const planWithEntries = () =>
    planReminders(here.pool, { ...connection, reminders: { ...connection.reminders, calendar: true } });
  const today = dayFromToday(0, rules.timeZone).stored;
  await agree(here, 'a', today);
  await planWithEntries();
  await here.pool.query(`update mails set state = 'sent' where connection = $1`, [here.connection]);
  const later = dayFromToday(5, rules.timeZone).stored;
  await agree(here, 'a', later);
  await planWithEntries();
  const { rows } = await here.pool.query<{ kind: string; due: Date }>(
    `select kind, due_at as due from mails where connection = $1 and state = 'scheduled' order by send_at`,
    [here.connection],
  );
  expect(rows.map(({ kind, due }) => [kind, due.toISOString()])).toEqual([
    ['moved', later],
    ['reminder', later],
  ]);
});
