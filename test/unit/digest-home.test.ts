import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ReminderRules } from '../../src/config/config.ts';
import { digestPlanner } from '../../src/reminders/plan/plan-digests.ts';
import { dayStarts, digestDays, momentIn, startOfDay } from '../../src/reminders/plan/local-time.ts';
import { reminderConnection } from '../support/reminder-rules.ts';

const at = (text: string): number => Date.parse(text);
const anna = 'anna@example.com';
const now = at('2026-11-24T12:00:00Z');
const minute = 8 * 60;

function homeOf(dues: Readonly<Record<string, string>>, rules: Readonly<Record<string, object>>) {
  const connections = Object.entries(rules).map(([name, own]) =>
    reminderConnection(name, { digestAt: minute, ...(own as Partial<ReminderRules>) }),
  );
  const plan = digestPlanner(connections, now)(
    anna,
    new Map(Object.entries(dues).map(([name, due]) => [name, at(due)])),
  );
  return plan && [plan.home, plan.next.localDate, new Date(plan.next.sendAt).toISOString()];
}

describe('the home of a person’s digest', () => {
  const workdays = { workingDays: [5] };
  test.each<[string, Record<string, string>, Record<string, object>, string[] | null]>([
    ['nothing is due', {}, { a: {} }, null],
    ['far away', { a: '2026-12-03T00:00:00Z' }, { a: {} }, null],
    [
      'the first with something due',
      { a: '2026-12-04T00:00:00Z', b: '2020-01-01T00:00:00Z', c: '2026-11-25T00:00:00Z' },
      { a: {}, b: { digestAt: 540 }, c: {} },
      ['b', '2026-11-25', '2026-11-25T09:00:00.000Z'],
    ],
    [
      'by then: its next working day is Friday',
      { a: '2026-12-04T00:00:00Z', b: '2020-01-01T00:00:00Z' },
      { a: workdays, b: {} },
      ['a', '2026-11-27', '2026-11-27T08:00:00.000Z'],
    ],
    ['one without a digest', { a: '2026-11-24T00:00:00Z' }, { a: { digestAt: null } }, null],
    [
      'in the zone of the person',
      { a: '2026-11-24T00:00:00Z' },
      { a: { timeZones: { [anna]: 'America/New_York' } } },
      ['a', '2026-11-24', '2026-11-24T13:00:00.000Z'],
    ],
  ])('%s', (_, dues, rules, expected) => {
    expect(homeOf(dues, rules)).toEqual(expected);
  });
});

const zones = [
  'UTC',
  'Europe/Berlin',
  'America/New_York',
  'Pacific/Auckland',
  'Pacific/Pago_Pago',
  'Africa/Cairo',
];
const zone = fc.constantFrom(...zones);
const localDate = fc
  .date({ min: new Date('2026-01-01'), max: new Date('2027-12-31'), noInvalidDate: true })
  .map((date) => date.toISOString().slice(0, 10));

test('a day is in the group of its date, whatever the zones of the connection and the recipient', () => {
  fc.assert(
    fc.property(localDate, fc.integer({ min: -2, max: 9 }), zone, zone, (today, by, of, mine) => {
      const date = new Date(at(`${today}T12:00:00Z`) + by * 86_400_000).toISOString().slice(0, 10);
      const dueAt = startOfDay(date, of);
      const days = digestDays(today, mine);
      const moment = momentIn(mine, dueAt, of);
      const group =
        moment < days.today
          ? 'overdue'
          : moment < days.tomorrow
            ? 'today'
            : moment < days.end
              ? 'week'
              : 'later';
      expect(group).toBe(by < 0 ? 'overdue' : by === 0 ? 'today' : by < 8 ? 'week' : 'later');
      // What the database counts by is the same.
      const start = dayStarts(today, mine, of).find((one) => one.dueAt === dueAt);
      expect(start?.at ?? dueAt).toBe(moment);
    }),
  );
});

test('a moment stays a moment', () => {
  expect(momentIn('America/New_York', at('2026-11-24T09:30:00Z'), 'Europe/Berlin')).toBe(
    at('2026-11-24T09:30:00Z'),
  );
});
