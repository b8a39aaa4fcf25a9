import { expect, test } from 'vitest';
import { calendarEntry } from '../../src/reminders/compose/calendar.ts';

const content = {
  leadId: '019aa0c2-7b1e-7c4d-9d3f-0a1b2c3d4e5f',
  connection: 'berlin',
  title: 'Follow-up: Bäckerei',
  startAt: Date.UTC(2026, 10, 21, 13, 30),
  sequence: 3,
  cancelled: false,
  domain: 'example.com',
  now: Date.UTC(2026, 10, 21, 8),
};

/** Lines of an iCalendar object by the rules of RFC 5545, 3.1 (folding) and 3.3.11 (escapes); throws where they are broken. */
function parse(text: string): [string, string][] {
  if (!text.endsWith('\r\n')) throw new Error('the last line does not end');
  const lines = text.slice(0, -2).split('\r\n');
  for (const line of lines) {
    if (Buffer.byteLength(line) > 75) throw new Error(`more than 75 octets: ${line}`);
    if (/[\r\n]/.test(line)) throw new Error('a bare line end');
    if (line.includes('\uFFFD')) throw new Error('a character was cut');
  }
  const unfolded = text
    .slice(0, -2)
    .replaceAll(/\r\n[ \t]/g, '')
    .split('\r\n');
  return unfolded.map((line) => {
    const [, name, value] = /^([A-Z-]+)(?:;[^:]*)?:(.*)$/.exec(line) ?? [];
    if (name === undefined || value === undefined) throw new Error(`no content line: ${line}`);
    return [name, value.replaceAll(/\\([\\;,nN])/g, (_, char: string) => (/n/i.test(char) ? '\n' : char))];
  });
}

function entry(change: Partial<typeof content> = {}): Record<string, string> {
  return Object.fromEntries(parse(calendarEntry({ ...content, ...change })));
}

test('an entry in UTC that asks nobody for an answer', () => {
  const text = calendarEntry(content);
  expect(parse(text).map(([name, value]) => `${name}:${value}`)).toEqual(
    expect.arrayContaining(['BEGIN:VCALENDAR', 'VERSION:2.0', 'BEGIN:VEVENT', 'END:VEVENT', 'END:VCALENDAR']),
  );
  expect(entry()).toMatchObject({
    METHOD: 'PUBLISH',
    SEQUENCE: '3',
    DTSTAMP: '20261121T080000Z',
    DTSTART: '20261121T133000Z',
    DTEND: '20261121T134500Z',
    SUMMARY: 'Follow-up: Bäckerei',
    STATUS: 'CONFIRMED',
    TRANSP: 'TRANSPARENT',
  });
  expect(text).not.toMatch(/VTIMEZONE|TZID|ATTENDEE/);
});

test('a moved or cleared date is the same entry, another lead or connection is another', () => {
  const { UID } = entry();
  expect(UID).toMatch(/^follow-up\.[0-9a-f]{32}@example\.com$/);
  const moved = entry({ startAt: 0, sequence: 4, title: 'other', now: 0 });
  expect(moved).toMatchObject({ UID, SEQUENCE: '4', DTSTART: '19700101T000000Z' });
  expect(entry({ cancelled: true, sequence: 5 })).toMatchObject({ UID, SEQUENCE: '5', STATUS: 'CANCELLED' });
  expect(entry({ leadId: 'a' })['UID']).not.toBe(UID);
  expect(entry({ connection: 'a' })['UID']).not.toBe(UID);
});

test.each([
  [
    'line ends and properties',
    'Acme\r\nATTENDEE:mailto:x@y\nBEGIN:VALARM',
    'Acme ATTENDEE:mailto:x@y BEGIN:VALARM',
  ],
  ['what must be escaped', 'a\\b;c,d\\n:"e"', 'a\\b;c,d\\n:"e"'],
  ['emoji at every fold', `x${'😀'.repeat(60)}`, `x${'😀'.repeat(60)}`],
  ['10,000 characters', 'ä'.repeat(10_000), `${'ä'.repeat(200)}…`],
])('a title with %s', (_, title, shown) => {
  expect(entry({ title })['SUMMARY']).toBe(shown);
  expect(parse(calendarEntry({ ...content, title }))).toHaveLength(parse(calendarEntry(content)).length);
});
