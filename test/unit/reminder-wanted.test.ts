import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseOffset, parseQuietHours } from '../support/config-values.ts';
import type { Cells } from '../../src/core/lead/value.ts';
import { isStageWanted, recipientsOf, spelledAddress } from '../../src/reminders/plan/recipients.ts';
import { wantedReminders } from '../../src/reminders/plan/send-time.ts';
import type { ReminderRules } from '../../src/config/config.ts';
import { plainRules } from '../support/reminder-rules.ts';

const rules: ReminderRules = { ...plainRules, timeZone: 'Europe/Berlin' };

describe('to whom', () => {
  const south = { when: { region: ['BY', 'BW'] }, to: ['south@example.com'] };
  const bigSouth = {
    when: { region: ['by'], segment: ['Großkunden'] },
    to: ['Big@Example.com', 'ben@example.com'],
  };
  const routes = [bigSouth, south];

  test.each<[string, Cells, Partial<ReminderRules>, readonly string[]]>([
    ['to, when nothing else is set', {}, {}, ['anna@example.com']],
    ['to, when no route matches', { region: 'NI' }, { routes }, ['anna@example.com']],
    ['to, when the field is empty', { region: null }, { routes }, ['anna@example.com']],
    ['to, when the field is unreadable', { region: { unreadable: 'BY' } }, { routes }, ['anna@example.com']],
    ['the route that matches', { region: 'BW', segment: 'x' }, { routes }, ['south@example.com']],
    ['without case and blanks around', { region: ' bw ' }, { routes }, ['south@example.com']],
    [
      'umlauts in another form',
      { region: 'BY', segment: 'GROßKUNDEN'.normalize('NFD') },
      { routes },
      ['big@example.com', 'ben@example.com'],
    ],
    [
      'the first of two that match',
      { region: 'BY', segment: 'großkunden' },
      { routes },
      ['big@example.com', 'ben@example.com'],
    ],
    ['all fields of a route have to match', { segment: 'großkunden' }, { routes }, ['anna@example.com']],
    [
      'the column, before routes and to',
      { owner: 'Carl@Example.com', region: 'BY' },
      { routes, toField: 'owner' },
      ['carl@example.com'],
    ],
    ['with blanks around', { owner: ' carl@example.com\n' }, { toField: 'owner' }, ['carl@example.com']],
    [
      'no address in the column',
      { owner: 'Carl', region: 'BY' },
      { routes, toField: 'owner' },
      ['south@example.com'],
    ],
    ['two addresses in the column', { owner: 'a@b.c, d@e.f;' }, { toField: 'owner' }, ['a@b.c', 'd@e.f']],
    ['a header in the column', { owner: 'a@b.c\nBcc: d@e.f' }, { toField: 'owner' }, ['anna@example.com']],
    [
      'a name in the column',
      { owner: 'Carl <carl@example.com>' },
      { toField: 'owner' },
      ['carl@example.com'],
    ],
    ['an empty column', { owner: null }, { toField: 'owner' }, ['anna@example.com']],
    ['an unreadable column', { owner: { unreadable: 'a@b.c' } }, { toField: 'owner' }, ['anna@example.com']],
    ['a column that is not there', {}, { toField: 'owner' }, ['anna@example.com']],
    [
      'nobody twice',
      {},
      { to: ['anna@example.com', 'ANNA@example.com', 'ben@x.y'] },
      ['anna@example.com', 'ben@x.y'],
    ],
  ])('%s', (_, cells, given, expected) => {
    expect(recipientsOf(cells, { ...rules, ...given })).toEqual(expected);
  });
});

test('an address is spelled as it is for the lead, else as in the settings', () => {
  const given = { ...rules, toField: 'owner', to: ['Anna@Example.com'] };
  expect(spelledAddress('carl@example.com', { owner: 'Carl <Carl@example.com>' }, given)).toBe(
    'Carl@example.com',
  );
  expect(spelledAddress('anna@example.com', { owner: 'carl@example.com' }, given)).toBe('Anna@Example.com');
  expect(spelledAddress('ben@example.com', {}, given)).toBe('ben@example.com');
});

describe('of which stages', () => {
  test.each<[string, Cells, Partial<ReminderRules>, boolean]>([
    ['all, when none is named', { stage: 'won' }, {}, true],
    ['none of the skipped', { stage: 'won' }, { skipStages: ['lost', 'Won'] }, false],
    [
      'a skipped one that the table has no word for',
      { stage: { unreadable: 'lost', why: 'unmapped' } },
      { skipStages: ['lost'] },
      false,
    ],
    ['the others', { stage: 'new' }, { skipStages: ['lost', 'won'] }, true],
    ['without a stage, skipping', { stage: null }, { skipStages: ['won'] }, true],
  ])('%s', (_, cells, given, expected) => {
    expect(isStageWanted(cells, { ...rules, ...given })).toBe(expected);
  });
});

describe('what is wanted', () => {
  const dueAt = Date.parse('2026-11-24T06:00:00.000Z');
  const followUp = { leadId: 'a', dueAt, cells: { stage: 'new' } };
  const wanted = (given: Partial<ReminderRules>) => wantedReminders(followUp, { ...rules, ...given });
  const before = ['0m', '1h', '1d'].map(parseOffset);

  test('a mail for each time before and each recipient, soonest first', () => {
    expect(wanted({ before, to: ['a@x', 'b@x'] })).toEqual({
      recipients: ['a@x', 'b@x'],
      reminders: [
        { offsetText: '1d', sendAt: dueAt - 86_400_000, recipient: 'a@x' },
        { offsetText: '1d', sendAt: dueAt - 86_400_000, recipient: 'b@x' },
        { offsetText: '1h', sendAt: dueAt - 3_600_000, recipient: 'a@x' },
        { offsetText: '1h', sendAt: dueAt - 3_600_000, recipient: 'b@x' },
        { offsetText: '0m', sendAt: dueAt, recipient: 'a@x' },
        { offsetText: '0m', sendAt: dueAt, recipient: 'b@x' },
      ],
    });
  });

  test('of two that the quiet hours move together, the one nearer to the due moment', () => {
    const { reminders } = wanted({ before: before.toReversed(), quietHours: parseQuietHours('20:00-08:00') });
    expect(reminders.map(({ offsetText, sendAt }) => [offsetText, new Date(sendAt).toISOString()])).toEqual([
      ['1d', '2026-11-23T07:00:00.000Z'],
      ['0m', '2026-11-24T07:00:00.000Z'],
    ]);
  });

  test('a day: in the morning of that day for everybody, and days and hours before that', () => {
    const day = { ...followUp, dueAt: Date.parse('2026-11-23T23:00:00.000Z') };
    const { reminders } = wantedReminders(day, {
      ...rules,
      dayZone: 'Europe/Berlin',
      dateOnlyAt: 8 * 60 + 30,
      before: ['0m', '2h', '1d'].map(parseOffset),
      to: ['anna@example.com', 'ny@example.com'],
      timeZones: { 'ny@example.com': 'America/New_York' },
    });
    const of = (person: string) =>
      reminders
        .filter(({ recipient }) => recipient === person)
        .map(({ offsetText, sendAt }) => [offsetText, new Date(sendAt).toISOString()]);
    expect(of('anna@example.com')).toEqual([
      ['1d', '2026-11-23T07:30:00.000Z'],
      ['2h', '2026-11-24T05:30:00.000Z'],
      ['0m', '2026-11-24T07:30:00.000Z'],
    ]);
    expect(of('ny@example.com')).toEqual([
      ['1d', '2026-11-23T13:30:00.000Z'],
      ['2h', '2026-11-24T11:30:00.000Z'],
      ['0m', '2026-11-24T13:30:00.000Z'],
    ]);
    expect(reminders).toEqual(reminders.toSorted((one, other) => one.sendAt - other.sendAt));
  });

  test('quiet hours and days off are those of the recipient', () => {
    const { reminders } = wantedReminders(followUp, {
      ...rules,
      quietHours: parseQuietHours('20:00-08:00'),
      workingDays: [1, 3],
      to: ['anna@example.com', 'tokyo@example.com', 'ny@example.com'],
      timeZones: { 'tokyo@example.com': 'Asia/Tokyo', 'ny@example.com': 'America/New_York' },
    });
    // Tuesday 07:00 in Berlin, 15:00 in Tokyo, 01:00 in New York.
    expect(reminders.map(({ recipient, sendAt }) => [recipient, new Date(sendAt).toISOString()])).toEqual([
      ['tokyo@example.com', '2026-11-25T06:00:00.000Z'],
      ['anna@example.com', '2026-11-25T07:00:00.000Z'],
      ['ny@example.com', '2026-11-25T13:00:00.000Z'],
    ]);
  });

  test('nothing and nobody in a stage that is skipped', () => {
    expect(wanted({ before, skipStages: ['new'] })).toEqual({ recipients: [], reminders: [] });
  });

  test('no times before: recipients alone, for the digest', () => {
    expect(wanted({ before: [] })).toEqual({ recipients: ['anna@example.com'], reminders: [] });
  });

  test('law: one key and one moment for each recipient, and the mail at the due moment is never left out', () => {
    const offset = fc.oneof(
      fc.nat(3).map((days) => parseOffset(`${days}d`)),
      fc.nat(900).map((minutes) => parseOffset(`${minutes}m`)),
    );
    const list = fc.uniqueArray(offset, { selector: ({ text }) => text, maxLength: 6 });
    const minutes = fc.tuple(fc.nat(1439), fc.nat(1439)).filter(([from, to]) => from !== to);
    fc.assert(
      fc.property(list, minutes, fc.nat(30 * 86_400_000), (others, [from, to], by) => {
        const all = [...others.filter(({ text }) => text !== '0m'), parseOffset('0m')];
        const { reminders } = wantedReminders(
          { ...followUp, dueAt: dueAt + by },
          { ...rules, before: all, quietHours: { from, to }, workingDays: [1, 3, 5] },
        );
        expect(new Set(reminders.map(({ sendAt }) => sendAt)).size).toBe(reminders.length);
        expect(new Set(reminders.map(({ offsetText }) => offsetText)).size).toBe(reminders.length);
        expect(reminders.at(-1)?.offsetText).toBe('0m');
        for (const { sendAt } of reminders) expect(sendAt).toBeLessThanOrEqual(reminders.at(-1)?.sendAt ?? 0);
      }),
    );
  });
});
