import { expect, test } from 'vitest';
import {
  cancelEntry,
  type Change,
  changeEntry,
  hasNotes,
  makeEntry,
  readEntry,
} from '../../src/caldav/entry-text.ts';

const timeZone = 'Europe/Berlin';
const now = Date.UTC(2026, 10, 23);
const at = Date.UTC(2027, 10, 17, 9);
const moment = { at, day: null };
const day = { at: Date.UTC(2027, 10, 16, 23), day: '2027-11-17' };
const content = {
  title: 'Call Hoffmann; Söhne, KG',
  description: 'Stage: new\nCity: Bonn',
  url: 'https://x.example/1',
};
const sequence = 3;

const made = (component: 'event' | 'task', when: Change['when'] = moment): string =>
  makeEntry(component, 'u@x', when, content, { sequence, now, alarm: -600 });

const change = (more: Partial<Change> = {}): Change => ({
  when: { at: at + 3_600_000, day: null },
  content,
  written: content,
  sequence: 0,
  timeZone,
  now,
  ...more,
});

/** The entry as a person's program leaves it: a property replaced, or added. */
function edited(text: string, line: string): string {
  const [name = ''] = line.split(/[:;]/);
  const without = text.replace(new RegExp(`^${name}[:;].*\r\n`, 'm'), '');
  return without.replace('END:VEVENT', `${line}\r\nEND:VEVENT`);
}

test.each(['event', 'task'] as const)(
  'a new %s shows its moment or its day, and remembers it',
  (component) => {
    expect(readEntry(made(component), component, timeZone)).toEqual({
      kind: 'entry',
      at,
      isDone: false,
      mark: at,
    });
    expect(readEntry(made(component, day), component, timeZone)).toMatchObject({ at: day.at, mark: day.at });
    expect(made(component, day)).toMatch(/^(?:DTSTART|DUE);VALUE=DATE:20271117\r$/m);
    expect(made(component)).toMatch(/^UID:u@x\r$/m);
    expect(made(component)).not.toMatch(/ATTENDEE|ORGANIZER|METHOD/);
  },
);

test.each([
  ['in a zone', 'DTSTART;TZID=Europe/Berlin:20271117T110000', Date.UTC(2027, 10, 17, 10)],
  ['on another day', 'DTSTART;VALUE=DATE:20271118', Date.UTC(2027, 10, 17, 23)],
  ['in UTC', 'DTSTART:20271117T113000Z', Date.UTC(2027, 10, 17, 11, 30)],
])('a date that a person moved: %s', (_, line, expected) => {
  expect(readEntry(edited(made('event'), line), 'event', timeZone)).toMatchObject({ at: expected, mark: at });
});

test('a zone that has a name of its own is read as the entry itself describes it', () => {
  const zone = [
    'BEGIN:VTIMEZONE',
    'TZID:Customized',
    'BEGIN:STANDARD',
    'DTSTART:19700101T000000',
    'TZOFFSETFROM:+0500',
    'TZOFFSETTO:+0500',
    'END:STANDARD',
    'END:VTIMEZONE',
    '',
  ].join('\r\n');
  const text = edited(made('event'), 'DTSTART;TZID=Customized:20271117T120000');
  expect(readEntry(text, 'event', timeZone)).toEqual({ kind: 'unclear', why: 'zone' });
  const described = text.replace('BEGIN:VEVENT', `${zone}BEGIN:VEVENT`);
  expect(readEntry(described, 'event', timeZone)).toMatchObject({ at: Date.UTC(2027, 10, 17, 7) });
});

test.each([
  ['floating', 'DTSTART:20271117T110000'],
  ['repeats', 'RRULE:FREQ=WEEKLY'],
])('a date that is no moment is unclear: %s', (why, line) => {
  expect(readEntry(edited(made('event'), line), 'event', timeZone)).toEqual({ kind: 'unclear', why });
});

test.each([
  'DTSTART:tomorrow',
  'DTSTART:20271117',
  'DTSTART:2027-11-17T11:00:00Z',
  'DTSTART:20271317T110000Z',
  'DTSTART:20270230T110000Z',
  'DTSTART;VALUE=DATE:20270230',
  'DTSTART;TZID=GMT+01:00:20271117T110000',
  'DTSTART;VALUE=PERIOD:20271117T110000Z/PT1H',
  'DTSTART:',
])('what is no date is none, and stops nothing: %s', (line) => {
  expect(readEntry(edited(made('event'), line), 'event', timeZone)).toEqual({
    kind: 'unclear',
    why: 'unreadable',
  });
});

test.each([
  'TZOFFSETFROM:+05:00\r\nTZOFFSETTO:+05:00\r\nDTSTART:19700101T000000',
  'TZOFFSETFROM:+0500\r\nTZOFFSETTO:+0500\r\nDTSTART:always',
  '',
])('a zone whose own description cannot be read is none: %j', (lines) => {
  const inside = lines === '' ? '' : `BEGIN:STANDARD\r\n${lines}\r\nEND:STANDARD\r\n`;
  const zone = `BEGIN:VTIMEZONE\r\nTZID:Customized\r\n${inside}END:VTIMEZONE\r\n`;
  const text = edited(made('event'), 'DTSTART;TZID=Customized:20271117T120000');
  expect(readEntry(text.replace('BEGIN:VEVENT', `${zone}BEGIN:VEVENT`), 'event', timeZone)).toEqual({
    kind: 'unclear',
    why: 'zone',
  });
});

test('what else is wrong in an entry does not keep it from being moved', () => {
  const strange = ['DTEND:later', 'SEQUENCE:many', 'LAST-MODIFIED:never'].reduce(edited, made('event'));
  const moved = changeEntry(strange, 'event', change());
  expect(readEntry(moved, 'event', timeZone)).toMatchObject({ at: at + 3_600_000 });
  expect(moved).toContain('DTEND:20271117T101500Z');
  expect(moved).toContain('SEQUENCE:1');
  expect(cancelEntry(strange, 'event', now)).toContain('STATUS:CANCELLED');
});

test('what is no calendar is unreadable, and a task without a date has none', () => {
  expect(readEntry('<html>', 'event', timeZone)).toEqual({ kind: 'unclear', why: 'unreadable' });
  expect(readEntry(made('task'), 'event', timeZone)).toEqual({ kind: 'unclear', why: 'unreadable' });
  expect(readEntry(made('task').replace(/DUE.*\r\n/, ''), 'task', timeZone)).toEqual({
    kind: 'unclear',
    why: 'no-date',
  });
});

const alarm = 'BEGIN:VALARM\r\nACTION:DISPLAY\r\nTRIGGER:-PT15M\r\nDESCRIPTION:Soon\r\nEND:VALARM';

test('a change keeps what people and programs added, and the length', () => {
  let text = made('event').replace(/DTEND.*\r\n/, 'DTEND:20271117T110000Z\r\n');
  for (const line of [
    'CATEGORIES:hot',
    'X-MOZ-LASTACK:20261123T000000Z',
    'COMMENT;X-A=b:ask for Ms. Roth',
    alarm,
  ])
    text = text.replace('END:VEVENT', `${line}\r\nEND:VEVENT`);
  const changed = changeEntry(text, 'event', change());
  expect(changed).toContain('DTSTART:20271117T100000Z\r\n');
  expect(changed).toContain('DTEND:20271117T120000Z\r\n');
  expect(changed).toContain(`SEQUENCE:${sequence + 1}\r\n`);
  for (const kept of [
    'CATEGORIES:hot',
    'X-MOZ-LASTACK:20261123T000000Z',
    'ask for Ms. Roth',
    'TRIGGER:-PT15M',
  ])
    expect(changed).toContain(kept);
  expect(readEntry(changed, 'event', timeZone)).toMatchObject({ at: at + 3_600_000, mark: at + 3_600_000 });
});

test('a title and a note that a person wrote stay; the others follow the lead', () => {
  const text = made('event').replace(/SUMMARY.*\r\n/, 'SUMMARY:My own words\r\n');
  const other = { ...content, title: 'Call Hoffmann AG', description: 'Stage: won' };
  const changed = changeEntry(text, 'event', change({ content: other }));
  expect(changed).toContain('SUMMARY:My own words');
  expect(changed).toContain('DESCRIPTION:Stage: won');
  expect(hasNotes(text, 'event', content)).toBe(true);
  expect(hasNotes(made('event'), 'event', content)).toBe(false);
  expect(hasNotes(made('event').replace('END:VEVENT', 'COMMENT:x\r\nEND:VEVENT'), 'event', content)).toBe(
    true,
  );
});

test('a date in a zone becomes UTC when it moves, and stays as the person wrote it when it does not', () => {
  const text = edited(made('event'), 'DTSTART;TZID=Europe/Berlin:20271117T110000');
  expect(changeEntry(text, 'event', change())).toContain('DTSTART;TZID=Europe/Berlin:20271117T110000');
  expect(changeEntry(text, 'event', change({ when: { at: at + 7_200_000, day: null } }))).toMatch(
    /^DTSTART:20271117T110000Z\r$/m,
  );
});

test('a moment becomes a day and a day a moment, each with an end that fits', () => {
  expect(changeEntry(made('event'), 'event', change({ when: day }))).toMatch(
    /^DTSTART;VALUE=DATE:20271117\r\nDTEND;VALUE=DATE:20271118\r$/m,
  );
  expect(changeEntry(made('event', day), 'event', change())).toMatch(
    /^DTSTART:20271117T100000Z\r\nDTEND:20271117T101500Z\r$/m,
  );
  const withLength = made('event').replace(/DTEND.*\r\n/, 'DURATION:PT2H\r\n');
  expect(changeEntry(withLength, 'event', change())).toContain('DURATION:PT2H');
  expect(changeEntry(withLength, 'event', change({ when: day }))).not.toContain('DURATION');
});

test('the start of a task moves with its date, in the same form', () => {
  const text = made('task').replace('END:VTODO', 'DTSTART:20271116T090000Z\r\nEND:VTODO');
  expect(changeEntry(text, 'task', change())).toContain('DTSTART:20271116T100000Z');
  expect(changeEntry(text, 'task', change({ when: day }))).toContain('DTSTART;VALUE=DATE:20271116');
});

test('a completed task is open again with a new date; a cancelled entry is done', () => {
  const text = made('task').replace(
    'STATUS:NEEDS-ACTION',
    'STATUS:COMPLETED\r\nCOMPLETED:20261123T000000Z\r\nPERCENT-COMPLETE:100',
  );
  expect(readEntry(text, 'task', timeZone)).toMatchObject({ isDone: true });
  const again = changeEntry(text, 'task', change());
  expect(again).toContain('STATUS:NEEDS-ACTION');
  expect(again).not.toMatch(/COMPLETED|PERCENT/);
  expect(readEntry(cancelEntry(made('event'), 'event', now), 'event', timeZone)).toMatchObject({
    isDone: true,
  });
});

test.each([
  ['a moment', { at: Date.UTC(9999, 11, 31, 23, 55), day: null }],
  ['a day', { at: Date.UTC(9999, 11, 30, 23), day: '9999-12-31' }],
])(
  '%s at the end of the last year that calendars know: no end there, and one again when it moves',
  (_, last) => {
    const moved = changeEntry(made('event'), 'event', change({ when: last }));
    for (const text of [made('event', last), moved]) {
      expect(readEntry(text, 'event', timeZone)).toMatchObject({ at: last.at, mark: last.at });
      expect(text).not.toMatch(/DTEND|\+/);
    }
    expect(changeEntry(moved, 'event', change())).toMatch(/^DTEND:20271117T101500Z\r$/m);
  },
);
