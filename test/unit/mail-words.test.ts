import ICAL from 'ical.js';
import { expect, test } from 'vitest';
import { calendarAttachment } from '../../src/reminders/compose/calendar.ts';
import {
  composeFor,
  followUpEvent,
  type CancelReason,
} from '../../src/reminders/compose/compose-reminder.ts';
import { sampleViews } from '../../src/reminders/compose/template-mistakes.ts';
import { openTemplates } from '../../src/reminders/compose/templates.ts';
import { defaultFields } from '../../src/core/lead/mapping.ts';
import { shown } from '../support/mail-html.ts';
import { reminderConnection } from '../support/reminder-rules.ts';

const templates = await openTemplates(null, (message) => {
  throw new Error(message);
});
const languages = ['en', 'de'] as const;
const kinds = ['reminder', 'moved', 'cancelled', 'digest'] as const;

/** Words in their order, without addresses, which HTML has in links. */
function words(text: string): readonly string[] {
  return text.replaceAll(/https?:\S+/g, '').match(/[\p{L}\p{N}]+/gu) ?? [];
}

function bodyOf(html: string): string {
  return shown(html.slice(html.indexOf('<body')));
}

test.each(languages.flatMap((language) => kinds.map((kind) => [kind, language] as const)))(
  'the text and the HTML of a %s in %s say the same, with everything and with little',
  (kind, language) => {
    const made = templates.in(language);
    const views = sampleViews(defaultFields, made)[kind];
    expect(views.length).toBeGreaterThan(1);
    for (const view of views) {
      const text = made.render(`${kind}.text`, view);
      expect(words(text)).toEqual(words(bodyOf(made.render(`${kind}.html`, view))));
      expect(text).not.toMatch(/\{\{|\{%|undefined|null|  $|\n\n\n/m);
    }
  },
);

const connection = reminderConnection('berlin', { timeZone: 'Europe/Berlin', dayZone: 'Europe/Berlin' });

/** A follow-up of Anna, in German. */
function facts(due: string, cells: object = {}, now = '2026-11-21T08:00:00Z') {
  return {
    connection: { ...connection, target: { type: 'workbook', path: '/x/leads.xlsx' } as never },
    settings: {
      ...connection.reminders,
      leadUrl: 'https://app.example.com/{id}',
      calendar: true,
      language: 'de',
    },
    recipient: 'anna@example.com',
    leadId: 'l1',
    cells: { companyName: 'Bäckerei', stage: 'won', nextFollowUpAt: due, ...cells },
    dueAt: Date.parse(due),
    sequence: 2,
    row: 17,
    now: Date.parse(now),
    kind: 'reminder' as const,
    offsetText: '0m',
    changes: [],
    notes: {},
  };
}

const reminderOf = (due: string, now?: string) => composeFor(facts(due, {}, now), templates);

test.each([
  [
    '2026-11-18T06:00:00.000Z',
    'Seit 3 Tagen überfällig: Bäckerei\nMittwoch, 18. November 2026, 07:00 Uhr MEZ (Europe/Berlin)\n',
  ],
  ['2026-11-20T06:00:00.000Z', 'Seit gestern überfällig: Bäckerei\n'],
  ['2026-11-21T13:30:00.000Z', 'Heute fällig: Bäckerei\n'],
  ['2026-11-22T06:00:00.000Z', 'Morgen fällig: Bäckerei\n'],
  ['2026-11-23T23:00:00.000Z', 'In 3 Tagen fällig: Bäckerei\nDienstag, 24. November 2026\n'],
])('in German, due at %s', (due, expected) => {
  const { text, subject } = reminderOf(due);
  expect(text).toContain(expected);
  expect(text).toContain('Zeile 17 in leads.xlsx (beim letzten Einlesen)\n');
  expect(subject).toMatch(/^Wiedervorlage: Bäckerei · won · (?:Mi|Fr|Sa|So|Di)\., \d\d\. Nov\. 2026/);
});

test.each<[CancelReason, string, string]>([
  ['deleted', 'Der Lead wurde gelöscht.', 'The lead was deleted.'],
  ['cleared', 'Das Wiedervorlagedatum wurde entfernt.', 'The date of the follow-up was cleared.'],
  [
    'unreadable',
    'Das Wiedervorlagedatum ist nicht mehr lesbar.',
    'The date of the follow-up can no longer be read.',
  ],
  [
    'closed',
    'Der Lead ist jetzt in einer Phase ohne Erinnerungen: „won“.',
    'The lead is now in a stage without reminders: “won”.',
  ],
  [
    'reassigned',
    'Die Erinnerungen zu diesem Lead gehen jetzt an eine andere Person.',
    'Reminders of this lead now go to somebody else.',
  ],
  [
    'outside',
    'Der Filter der Liste („leads.query“) zeigt diesen Lead nicht mehr.',
    'The filter of the list (leads.query) no longer shows this lead.',
  ],
])('a cancelled follow-up has its true reason in mail and entry: %s', (reason, german, said) => {
  const about = { ...facts('2026-11-23T23:00:00.000Z'), kind: 'cancelled', reason } as const;
  const mail = composeFor(about, templates);
  expect(mail.subject).toBe('Wiedervorlage entfällt: Bäckerei, Di., 24. Nov. 2026');
  expect(mail.text.startsWith(`${german} Der angehängte Kalendereintrag entfernt den bisherigen`)).toBe(true);
  expect(mail.calendar?.replaceAll('\r\n ', '')).toContain(`DESCRIPTION:${german}\\n\\n`);
  expect(mail.calendar).toContain('STATUS:CANCELLED');
  expect(mail.text.includes('https://app.example.com/l1')).toBe(reason !== 'deleted');
  const english = { ...about, settings: { ...about.settings, language: 'en' } };
  const other = composeFor(english, templates);
  expect(other.text).toContain(said);
  expect(other.subject).toBe('Follow-up cancelled: Bäckerei, Tue 24 Nov 2026');
});

test('what is past when the mail leaves gets no entry; a day is not past before it is over', () => {
  const due = '2026-11-21T13:30:00.000Z';
  expect(reminderOf(due, '2026-11-21T13:30:02Z').calendar).toContain('DTSTART:20261121T133000Z');
  expect(reminderOf(due, '2026-11-21T13:45:00Z').calendar).toBeUndefined();
  const day = '2026-11-20T23:00:00.000Z';
  expect(reminderOf(day, '2026-11-21T22:59:00Z').calendar).toContain('DTSTART;VALUE=DATE:20261121');
  expect(reminderOf(day, '2026-11-21T23:00:00Z').calendar).toBeUndefined();
});

test('the entry of a follow-up, in the language of its connection', () => {
  const text = calendarAttachment(followUpEvent(facts('2026-11-21T13:30:00.000Z'), templates));
  const [, , [event]] = ICAL.parse(text) as [string, unknown, [unknown[]]];
  const { summary, description } = new ICAL.Event(new ICAL.Component(event));
  expect(summary).toBe('Wiedervorlage: Bäckerei');
  expect(description).toBe('Stage: won\nZeile 17 in leads.xlsx (beim letzten Einlesen)\nLead l1');
});
