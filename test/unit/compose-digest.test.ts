import { expect, test } from 'vitest';
import { defaultFields } from '../../src/core/lead/mapping.ts';
import {
  composeDigest,
  type DigestContent,
  type DigestItem,
  digestView,
  groupFollowUps,
} from '../../src/reminders/compose/compose-digest.ts';
import { digestDays } from '../../src/reminders/plan/local-time.ts';
import { openTemplates } from '../../src/reminders/compose/templates.ts';
import { shown, structure } from '../support/mail-html.ts';

const id = '019aa0c2-7b1e-7c4d-9d3f-0a1b2c3d4e5f';
const timeZone = 'Europe/Berlin';
const at = (text: string): number => Date.parse(text);

const warnings: string[] = [];
const all = await openTemplates(null, (message) => warnings.push(message));
const templates = all.in('en');

const now = at('2026-11-21T07:00:00Z');
const days = digestDays('2026-11-21', timeZone);

function item(dueAt: string, change: Partial<DigestItem> = {}): DigestItem {
  return {
    connection: 'berlin',
    fields: defaultFields,
    leadId: id,
    cells: { companyName: `Due ${dueAt}`, stage: 'new' },
    dueAt: at(dueAt),
    day: null,
    dayZone: timeZone,
    row: { target: 'leads.xlsx', number: 7 },
    leadUrl: 'https://app.example.com/leads/{id}',
    ...change,
  };
}

function digest(items: readonly DigestItem[], change: Partial<DigestContent> = {}) {
  const groups = groupFollowUps(items, days, timeZone);
  const { overdue, today, week } = groups;
  return composeDigest({
    ...groups,
    counts: { overdue: overdue.length, today: today.length, week: week.length },
    recipient: 'anna@example.com',
    feedUrl: null,
    waiting: [],
    decideUrl: null,
    timeZone,
    now,
    templates,
    ...change,
  });
}

test('the groups go by the calendar of the recipient', () => {
  const dates = (items: readonly { dueAt: number }[]) =>
    items.map(({ dueAt }) => new Date(dueAt).toISOString());
  const all = [
    '2025-01-01T00:00:00.000Z',
    '2026-11-20T22:59:59.999Z',
    '2026-11-20T23:00:00.000Z',
    '2026-11-21T22:59:59.999Z',
    '2026-11-21T23:00:00.000Z',
    '2026-11-28T22:59:59.999Z',
    '2026-11-28T23:00:00.000Z',
  ];
  const groups = groupFollowUps(
    all.map((due) => item(due)),
    days,
    timeZone,
  );
  expect(dates(groups.overdue)).toEqual(all.slice(0, 2).toReversed());
  expect(dates(groups.today)).toEqual(all.slice(2, 4));
  expect(dates(groups.week)).toEqual(all.slice(4, 6));
});

test('a day without a time is that day in every zone, before the hours of the day', () => {
  const zone = 'America/New_York';
  // As a table in Berlin means it: the evening before in New York.
  const onDay = item('2026-11-20T23:00:00Z', { day: '2026-11-21' });
  const groups = groupFollowUps([item('2026-11-21T15:00:00Z'), onDay], digestDays('2026-11-21', zone), zone);
  expect(groups.today.map(({ day }) => day)).toEqual(['2026-11-21', null]);
  const view = digestView({
    ...groups,
    counts: { overdue: 0, today: 2, week: 0 },
    recipient: 'anna@example.com',
    feedUrl: null,
    waiting: [],
    decideUrl: null,
    timeZone: zone,
    templates,
    now: at('2026-11-21T16:00:00Z'),
  });
  const shownItems = view.groups[0]?.items.map(({ due, isPast, daysOverdue }) => {
    return { day: due.day, isDay: due.isDay, isPast, daysOverdue };
  });
  const day = 'Sat 21 Nov 2026';
  expect(shownItems).toEqual([
    { day, isDay: true, isPast: false, daysOverdue: 0 },
    { day, isDay: false, isPast: true, daysOverdue: 0 },
  ]);
});

test('the connection is named where there are several; city, owner and the row', () => {
  const owner = {
    field: 'assignedTo',
    column: 'Verantwortlich',
    type: 'text',
    direction: 'two-way',
  } as const;
  const cells = { companyName: 'Anna AG', city: 'Ulm', stage: 'new', assignedTo: 'Carla' };
  const url = 'https://docs.google.com/spreadsheets/d/abc/edit';
  const one = item('2026-11-10T09:00:00Z', {
    cells,
    fields: [...defaultFields, owner],
    row: { target: 'Leads', url, number: 7 },
  });
  expect(digest([one])?.text).toContain(
    [
      '- Anna AG',
      '  11 days overdue: Tue 10 Nov 2026, 10:00 · Ulm · new · Carla',
      `  Row 7 of Leads: ${url}`,
      `  https://app.example.com/leads/${id}`,
    ].join('\n'),
  );
  const both = digest([one, item('2026-11-21T09:00:00Z', { connection: 'hamburg' })]);
  expect(both?.text).toContain('Carla · berlin');
  expect(both?.text).toContain('new · hamburg');
});

test('a digest has counts, today first, and is never empty', () => {
  const mail = digest([
    item('2026-11-10T09:00:00Z'),
    item('2026-11-12T09:00:00Z'),
    item('2026-11-21T06:00:00Z'),
    item('2026-11-22T09:00:00Z'),
  ]);
  expect(mail?.subject).toBe('Follow-ups for Sat 21 Nov 2026: 1 today, 2 overdue, 1 in the next seven days');
  expect(mail?.text.match(/^(?:\w[\w ]+ \(\d+\)|- .*)$/gm)).toEqual([
    'Today (1)',
    '- Due 2026-11-21T06:00:00Z',
    'Overdue (2)',
    '- Due 2026-11-12T09:00:00Z',
    '- Due 2026-11-10T09:00:00Z',
    'Next seven days (1)',
    '- Due 2026-11-22T09:00:00Z',
  ]);
  expect(shown(mail?.html ?? '')).toMatch(/Today \(1\).*Overdue \(2\).*Next seven days \(1\)/);
  expect(mail?.html.match(/href="[^"]*"/g)).toHaveLength(4);
  expect(digest([])).toBeNull();
  expect(digest([item('2026-11-30T09:00:00Z')])).toBeNull();
});

test.each([
  [300, 0, 0, [50]],
  [300, 100, 100, [20, 20, 10]],
  [0, 100, 100, [40, 10]],
  [10, 5, 100, [5, 10, 35]],
  [20, 20, 10, [20, 20, 10]],
  [21, 20, 10, [20, 20, 10]],
  [45, 30, 0, [20, 30]],
])('%i overdue, %i today, %i coming: at most 50 are shown, each group has its share', (o, t, w, expected) => {
  const many = (count: number, due: string) =>
    Array.from({ length: count }, (_, index) => item(due, { leadId: `${due}-${index}` }));
  const mail = digest(
    [
      ...many(o, '2026-11-10T09:00:00Z'),
      ...many(t, '2026-11-21T09:00:00Z'),
      ...many(w, '2026-11-23T09:00:00Z'),
    ],
    { counts: { overdue: o > 0 ? o + 7 : 0, today: o > 0 ? t : t + 7, week: w } },
  );
  const groups = (mail?.text ?? '').split(/^\w[\w ]+ \(\d+\)$/m).slice(1);
  expect(groups.map((group) => group.match(/^- Due/gm)?.length)).toEqual(expected);
  const items = expected.reduce((sum, count) => sum + count, 0);
  const more = o + t + w + 7 - items;
  expect(mail?.text).toContain(`${more} more are not shown here, ${o + t + w + 7} in all.`);
  expect(shown(mail?.html ?? '')).toContain(`${more} more are not shown here`);
});

test('hostile names in a digest add no element', () => {
  const hostile = { ...item('2026-11-10T09:00:00Z'), cells: { companyName: '<script>"\'', stage: '<b>' } };
  const harmless = { ...hostile, cells: { companyName: 'a', stage: 'b' } };
  const mail = digest([hostile]);
  expect(structure(mail?.html ?? '')).toEqual(structure(digest([harmless])?.html ?? ''));
  expect(shown(mail?.html ?? '')).toContain('<script>"\'');
});

test('our own templates never fail', () => {
  expect(warnings).toEqual([]);
});
