import ICAL from 'ical.js';
import nodeIcal, { type VEvent } from 'node-ical';
import { expect, test } from 'vitest';
import {
  calendarAttachment,
  calendarEvent,
  type CalendarFacts,
} from '../../src/reminders/compose/calendar.ts';

const facts: CalendarFacts = {
  leadId: '019aa0c2-7b1e-7c4d-9d3f-0a1b2c3d4e5f',
  connection: 'berlin',
  summary: 'Follow-up: Bäckerei',
  description: 'City: Ulm\nStage: new',
  url: 'https://app.example.com/leads/1?tabs=a,b;c',
  dueAt: Date.UTC(2026, 10, 21, 13, 30),
  day: null,
  dayAlarmAt: 8 * 60,
  sequence: 3,
  isCancelled: false,
  domain: 'example.com',
  now: Date.UTC(2026, 10, 21, 8),
};

/** As two parsers that know nothing of each other read it; throws where RFC 5545, 3.1, is broken. */
function read(change: Partial<CalendarFacts> = {}) {
  const text = calendarAttachment(calendarEvent({ ...facts, ...change }));
  expect(text.endsWith('\r\n')).toBe(true);
  for (const line of text.slice(0, -2).split('\r\n')) {
    expect(Buffer.byteLength(line)).toBeLessThanOrEqual(75);
    expect(line).not.toMatch(/[\r\n\uFFFD]/);
  }
  const calendar = new ICAL.Component(ICAL.parse(text) as unknown[]);
  const component = calendar.getFirstSubcomponent('vevent');
  if (component === null) throw new Error('no VEVENT');
  const [other] = Object.values(nodeIcal.sync.parseICS(text)).filter(
    (one): one is VEvent => one?.type === 'VEVENT',
  );
  const event = new ICAL.Event(component);
  const alarm = component.getFirstSubcomponent('valarm');
  return {
    text,
    calendar,
    component,
    event,
    other,
    value: (name: string) => String(component.getFirstPropertyValue(name) ?? ''),
    alarm: alarm === null ? null : String(alarm.getFirstPropertyValue('trigger')),
    action: alarm === null ? null : String(alarm.getFirstPropertyValue('action')),
  };
}

test('a moment: in UTC, with address, details and an alarm; nobody is asked for an answer', () => {
  const { text, calendar, event, value, other, alarm, action } = read();
  expect(calendar.getFirstPropertyValue('method')).toBe('PUBLISH');
  expect(calendar.getFirstPropertyValue('version')).toBe('2.0');
  expect(calendar.getAllSubcomponents().map(({ name }) => name)).toEqual(['vevent']);
  expect(event.startDate.toString()).toBe('2026-11-21T13:30:00Z');
  expect(event.endDate.toString()).toBe('2026-11-21T13:45:00Z');
  expect(event).toMatchObject({ summary: facts.summary, description: facts.description, sequence: 3 });
  expect(value('url')).toBe(facts.url);
  expect(value('status')).toBe('CONFIRMED');
  expect(value('transp')).toBe('TRANSPARENT');
  expect(value('dtstamp')).toBe('2026-11-21T08:00:00Z');
  expect([alarm, action]).toEqual(['-PT10M', 'DISPLAY']);
  const { summary, description } = facts;
  expect(other).toMatchObject({ datetype: 'date-time', summary, description, url: facts.url });
  expect(other?.start.getTime()).toBe(facts.dueAt);
  expect(text).not.toMatch(/VTIMEZONE|TZID|ATTENDEE|ORGANIZER/);
});

test('a day: all of it, wherever the calendar is, with an alarm in the morning', () => {
  // Midnight in Berlin is the day before in UTC.
  const { text, event, other, alarm } = read({ dueAt: Date.UTC(2026, 10, 20, 23), day: '2026-11-21' });
  expect(text).toContain('DTSTART;VALUE=DATE:20261121\r\n');
  expect(text).toContain('DTEND;VALUE=DATE:20261122\r\n');
  expect(event.startDate.isDate).toBe(true);
  expect(event.startDate.toString()).toBe('2026-11-21');
  expect(other?.datetype).toBe('date');
  expect(alarm).toBe('PT8H');
  expect(text, 'after its start, not its end').toContain('\r\nTRIGGER:PT8H\r\n');
});

test('a follow-up that is none any more: cancelled, without an alarm', () => {
  const { value, alarm } = read({ isCancelled: true, sequence: 4 });
  expect(value('status')).toBe('CANCELLED');
  expect(value('sequence')).toBe('4');
  expect(alarm).toBeNull();
});

test.each([
  ['a moment', { dueAt: Date.UTC(9999, 11, 31, 23, 59, 59) }],
  ['a day', { dueAt: Date.UTC(9999, 11, 31), day: '9999-12-31' }],
])('%s that would end after the last year that calendars know has no end', (_, change) => {
  const { event, component, text } = read(change);
  expect(event.startDate.year).toBe(9999);
  expect(component.hasProperty('dtend')).toBe(false);
  expect(text).not.toContain('+');
});

test('without an address and details', () => {
  const { component } = read({ url: null, description: '' });
  expect(component.hasProperty('url')).toBe(false);
  expect(component.hasProperty('description')).toBe(false);
});

test('a moved or cleared date is the same entry, another lead or connection is another', () => {
  const uid = (change: Partial<CalendarFacts> = {}): string => read(change).event.uid;
  expect(uid()).toMatch(/^follow-up\.[0-9a-f]{32}@example\.com$/);
  expect(uid({ dueAt: 0, sequence: 4, summary: 'other', now: 0 })).toBe(uid());
  expect(uid({ isCancelled: true })).toBe(uid());
  expect(uid({ leadId: 'a' })).not.toBe(uid());
  expect(uid({ connection: 'a' })).not.toBe(uid());
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
])('a summary with %s', (_, summary, shown) => {
  const { event, component } = read({ summary, description: summary });
  expect(event.summary).toBe(shown);
  expect(component.getAllProperties()).toHaveLength(read().component.getAllProperties().length);
});
