import { expect, test } from 'vitest';
import { defaultFields } from '../../src/core/lead/mapping.ts';
import { composeReminder, type ReminderContent } from '../../src/reminders/compose/compose-reminder.ts';
import { localTime } from '../../src/reminders/plan/local-time.ts';
import { openTemplates } from '../../src/reminders/compose/templates.ts';
import { shown, structure } from '../support/mail-html.ts';

const id = '019aa0c2-7b1e-7c4d-9d3f-0a1b2c3d4e5f';
const timeZone = 'Europe/Berlin';
const at = (text: string): number => Date.parse(text);

const warnings: string[] = [];
const all = await openTemplates(null, (message) => warnings.push(message));
const templates = all.in('en');

const content: ReminderContent = {
  kind: 'reminder',
  lead: {
    id,
    cells: {
      companyName: 'Bäckerei Sonnenhof',
      stage: 'qualified',
      city: 'Freiburg',
      region: null,
      nextFollowUpAt: '2026-11-21T13:30:00.000Z',
    },
  },
  fields: defaultFields,
  dueAt: at('2026-11-21T13:30:00Z'),
  offsetText: '0m',
  timeZone,
  dayZone: timeZone,
  now: at('2026-11-21T08:00:00Z'),
  changes: [],
  row: { target: 'leads.xlsx', number: 17 },
  leadUrl: 'https://app.example.com/leads/{id}?from={id}',
  notes: {},
  reason: null,
  hasEntry: false,
  templates,
};

function reminder(change: Partial<ReminderContent> = {}) {
  return composeReminder({ ...content, ...change });
}

function named(companyName: string | null, stage: string | null = 'new') {
  return reminder({ lead: { id, cells: { companyName, stage } } });
}

test('company, stage, local day and time; where the row is and the way to the lead', () => {
  const { subject, text, html } = reminder();
  expect(subject).toBe('Follow-up: Bäckerei Sonnenhof · qualified · Sat 21 Nov 2026, 14:30');
  for (const body of [text, shown(html)]) {
    expect(body).toContain('Due today');
    expect(body).toMatch(/Saturday 21 November 2026, +14:30 +CET \(Europe\/Berlin\)/);
    expect(body).toMatch(/City:? +Freiburg/);
    expect(body).toContain('Row 17 of leads.xlsx');
    expect(body).not.toContain('Region');
    expect(body).not.toMatch(/Changed since|note|undefined|null/i);
  }
  expect(text).toContain(`https://app.example.com/leads/${id}?from=${id}`);
  expect(html).toContain(`href="https://app.example.com/leads/${id}?from=${id}"`);
});

test('what changed since the last reminder, instants in local time', () => {
  const changes = [
    { field: 'stage', before: 'new', after: 'qualified' },
    { field: 'city', before: null, after: 'Freiburg' },
    {
      field: 'nextFollowUpAt',
      before: { unreadable: 'next Tuesday' },
      after: '2026-11-21T13:30:00.000Z',
    },
    { field: 'unmapped', before: 'a', after: null },
  ];
  const { text, html } = reminder({ changes });
  expect(text).toContain(
    [
      'Changed since the last reminder:',
      '- Stage: new → qualified',
      '- City: (empty) → Freiburg',
      '- Next follow-up: next Tuesday → Sat 21 Nov 2026, 14:30 CET',
      '- unmapped: a → (empty)',
    ].join('\n'),
  );
  expect(shown(html)).toMatch(/Next follow-up +next Tuesday → +Sat 21 Nov 2026, 14:30 CET/);
});

test('notes come first; without a link, a row number or any field the mail is whole', () => {
  const { text, html } = reminder({
    notes: { lateSince: at('2026-11-21T05:00:00Z'), uncheckedSince: null },
    row: { target: 'leads.csv', number: null },
    leadUrl: null,
    lead: { id, cells: {} },
  });
  expect(text.startsWith('This mail is late: it was due at 06:00 CET on Sat 21 Nov 2026. ')).toBe(true);
  expect(shown(html)).toMatch(/what was last known\. +Due today/);
  expect(text).toContain(`Due today: Lead ${id}`);
  expect(text).toContain('In leads.csv');
  expect(html).not.toContain('href');
});

test('a row of a Google spreadsheet is linked', () => {
  const url = 'https://docs.google.com/spreadsheets/d/abc/edit';
  const { text, html } = reminder({ row: { target: 'Leads', url, number: 7 } });
  expect(text).toContain(`Row 7 of Leads when it was last read: ${url}\n`);
  expect(html).toContain(`<a class="link" href="${url}"`);
  expect(shown(html)).toContain('Row 7 of Leads when it was last read');
});

test.each([
  ['2026-11-18T06:00:00Z', 'Overdue by 3 days'],
  ['2026-11-20T22:59:00Z', 'Overdue since yesterday'],
  ['2026-11-20T23:00:00Z', 'Due today'],
  ['2026-11-21T22:59:00Z', 'Due today'],
  ['2026-11-21T23:00:00Z', 'Due tomorrow'],
  ['2026-11-24T08:00:00Z', 'Due in 3 days'],
])('due at %s: %s', (due, words) => {
  expect(reminder({ dueAt: at(due) }).text).toMatch(new RegExp(`^${words}: `));
});

test('the two hours of an autumn night that are called the same are told apart', () => {
  expect(reminder({ dueAt: at('2026-10-25T00:30:00Z') }).text).toContain('02:30 CEST');
  expect(reminder({ dueAt: at('2026-10-25T01:30:00Z') }).text).toContain('02:30 CET');
});

test.each([
  ['markup', '<script>alert(1)</script><img src=x onerror=y>'],
  ['a way out of an attribute', '" onmouseover="x" \'><a href=//evil>'],
  ['references', '&lt;b&gt; &amp; &'],
  ['Liquid', '{{ lead.id }}{% raw %}'],
  ['RTL letters', 'شركة الاختبار'],
])('%s in every value is shown as it is and adds no element', (_, value) => {
  const cells = { companyName: value, stage: value, city: value, segment: value, region: value };
  const hostile = (text: string) => ({
    lead: { id: text, cells: Object.fromEntries(Object.keys(cells).map((name) => [name, text])) },
    changes: [{ field: text, before: text, after: text }],
    row: { target: text, number: null },
  });
  const { html, text } = reminder(hostile(value));
  expect(structure(html)).toEqual(structure(reminder(hostile('harmless')).html));
  expect(shown(html)).toContain(value);
  expect(text).toContain(`Stage: ${value}`);
  // The id is encoded in the link, so it cannot lead elsewhere.
  expect(html).not.toMatch(/href="(?!https:\/\/app\.example\.com\/leads\/[^"/<>]*")/);
});

test('no value ends a line, turns the direction of writing, or makes the mail long', () => {
  const value = `a\uD83D\r\nBcc: x\u202E\u2066\u2028${'z'.repeat(10_000)}`;
  const { subject, text, html } = named(value, value);
  // oxlint-disable-next-line no-control-regex -- that none is left is what is tested
  expect(subject).not.toMatch(/[\0-\x1f\x7f-\x9f\p{Bidi_Control}\u2028]/u);
  expect(text).not.toMatch(/^Bcc|\p{Bidi_Control}/mu);
  expect([subject, text, html].every((part) => part.isWellFormed())).toBe(true);
  expect(html.length + text.length).toBeLessThan(12_000);
});

test.each([
  ['long', 'x'.repeat(10_000)],
  ['long and with pairs', '😀'.repeat(5000)],
  ['joined emoji', '👩‍👩‍👧‍👦'.repeat(100)],
  ['one letter under a thousand marks', `e${'\u0301'.repeat(1000)}`],
  ['many spaces', ' '.repeat(10_000)],
])('a subject always has the date and at most 150 characters: %s', (_, value) => {
  const { subject } = named(value, value);
  expect(subject.length).toBeLessThanOrEqual(150);
  expect(subject).toContain('Sat 21 Nov 2026, 14:30');
  expect(subject.isWellFormed()).toBe(true);
});

test('nothing is loaded from elsewhere', () => {
  const { html } = reminder();
  expect(html).not.toMatch(/<(?:img|link|script|iframe)|url\(|@import|src=/i);
});

test('our own templates never fail', () => {
  expect(warnings).toEqual([]);
});

test.each([
  ['America/New_York', 'EST', 'EDT'],
  ['Europe/Berlin', 'CET', 'CEST'],
  ['Australia/Sydney', 'AEDT', 'AEST'],
  ['Asia/Tokyo', 'GMT+9', 'GMT+9'],
  ['UTC', 'UTC', 'UTC'],
])('the name of the zone %s', (zone, january, july) => {
  expect(localTime(Date.UTC(2026, 0, 21), zone).zone).toBe(january);
  expect(localTime(Date.UTC(2026, 6, 21), zone).zone).toBe(july);
});

test('links that move the follow-up stand in both parts, in the language of the reader; a cancelled one has none', () => {
  const page = 'https://leadsync.example.com/follow-up/sealed';
  const links = { page, day: `${page}?do=day`, week: `${page}?do=week`, done: `${page}?do=done` };
  const { text, html } = reminder({ links });
  expect(text).toContain(`+1 day: ${page}?do=day\n+1 week: ${page}?do=week\nDone: ${page}?do=done\n`);
  for (const by of ['day', 'week', 'done']) expect(html).toContain(`href="${page}?do=${by}"`);
  expect(reminder({ links, templates: all.in('de') }).text).toContain('Erledigt: https:');
  expect(reminder().text).not.toContain('+1 day');
});
