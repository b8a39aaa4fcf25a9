import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { leadUrl } from '../../src/config/addresses.ts';
import { closedStages } from '../../src/config/config.ts';
import { Secret } from '../../src/config/secret.ts';
import { offset, quietHours, timeOfDay } from '../../src/config/values.ts';
import { mistakeOf, parseOffset, parseQuietHours } from '../support/config-values.ts';
import { reminderFiles, to } from './config-reminders-scene.ts';

const { load, folder } = reminderFiles();

describe('each value', () => {
  test.each([
    [
      'time before',
      mistakeOf(offset),
      ['0m', '0d', '30m', '2h', '1d', '365d', '8760h'],
      ['', '1', 'm', '1w', '-1d', '1.5h', '366d', '8761h', '1 d', '1D', '1d2h', '525601m'],
    ],
    [
      'quiet hours',
      mistakeOf(quietHours),
      ['20:00-08:00', '12:00-13:30', '00:00-23:59', '20:00-24:00', '00:00-00:01'],
      [
        '',
        '20-8',
        '20:00',
        '8:00-9:00',
        '20:00-25:00',
        '20:60-08:00',
        '20:00 - 08:00',
        '08:00-08:00',
        '00:00-24:00',
        '00:00-00:00',
        '24:00-08:00',
        '20:00-24:01',
      ],
    ],
    [
      'time of the day',
      mistakeOf(timeOfDay),
      ['00:00', '08:00', '23:59'],
      ['', '8:00', '24:00', '08:60', '08', '08:00:00', '8am'],
    ],
    [
      'address of a lead',
      mistakeOf(leadUrl),
      ['https://app.example.com/leads/{id}', 'http://crm/?lead={id}#x', 'https://x/{id}/{id}'],
      [
        '',
        'https://x/leads',
        '/leads/{id}',
        'ftp://x/{id}',
        'javascript:{id}',
        'https://{id}.example.com/',
        'https://u:p@x/{id}',
        'https://x/a b{id}',
        'https://x/"{id}',
      ],
    ],
  ] as const)('%s', (_, check, right, wrong) => {
    for (const text of right) expect([text, check(text)]).toEqual([text, null]);
    for (const text of wrong) expect([text, check(text)]).toEqual([text, expect.stringMatching(/^must /)]);
  });

  test.each([
    ['0h', { text: '0m', days: 0, ms: 0 }],
    ['0d', { text: '0m', days: 0, ms: 0 }],
    ['30m', { text: '30m', days: 0, ms: 1_800_000 }],
    ['90m', { text: '90m', days: 0, ms: 5_400_000 }],
    ['120m', { text: '2h', days: 0, ms: 7_200_000 }],
    ['007h', { text: '7h', days: 0, ms: 25_200_000 }],
    ['24h', { text: '24h', days: 0, ms: 86_400_000 }],
    ['1d', { text: '1d', days: 1, ms: 0 }],
  ])('the time before %s has one name', (text, expected) => expect(parseOffset(text)).toEqual(expected));

  test.each([
    ['20:00-08:30', { from: 1200, to: 510 }],
    ['12:00-24:00', { from: 720, to: 0 }],
  ])('the quiet hours %s', (text, expected) => expect(parseQuietHours(text)).toEqual(expected));
});

test('all settings', async () => {
  await mkdir(join(folder(), 'mails'));
  await writeFile(join(folder(), 'mails', 'digest.text.liquid'), 'x');
  const config = await load(
    [
      to,
      'timeZone: America/New_York',
      'language: de',
      'before: [1d, 90m, 0h]',
      'quietHours: 20:00-08:00',
      'workingDays: [mon, sun]',
      'skipStages: [won, lost]',
      'routes: [{ when: { region: [BY, BW] }, to: [south@example.com] }]',
      'toColumn: " owner"',
      'digest: 08:00',
      'calendar: true',
      'caldav: { Anna@example.com: { url: https://dav.example.com/anna/leads, username: anna, password: pw, as: both } }',
      'leadUrl: "https://app.example.com/leads/{id}"',
      'templates: ./mails',
    ],
    '{ nextFollowUpAt: When, region: Region, stage: Stage, ownerEmail: Owner }',
  );
  expect(config.connections[0]?.reminders).toEqual({
    chat: null,
    from: 'leadsync@localhost',
    rules: {
      channel: null,
      timeZone: 'America/New_York',
      timeZones: {},
      dayZone: 'UTC',
      dateOnlyAt: 480,
      before: [
        { text: '1d', days: 1, ms: 0 },
        { text: '90m', days: 0, ms: 5_400_000 },
        { text: '0m', days: 0, ms: 0 },
      ],
      quietHours: { from: 1200, to: 480 },
      workingDays: [1, 7],
      graceMs: 86_400_000,
      skipStages: ['won', 'lost'],
      to: ['anna@example.com'],
      routes: [{ when: { region: ['BY', 'BW'] }, to: ['south@example.com'] }],
      toField: 'ownerEmail',
      digestAt: 480,
    },
    language: 'de',
    calendar: true,
    calendars: [
      {
        recipient: 'anna@example.com',
        url: 'https://dav.example.com/anna/leads/',
        login: { username: 'anna', password: expect.any(Secret) as Secret },
        components: ['event', 'task'],
      },
    ],
    leadUrl: 'https://app.example.com/leads/{id}',
    templates: join(folder(), 'mails'),
  });
});

test('leads that are over are skipped, unless the settings say otherwise', async () => {
  const skipped = async (line: string) =>
    (await load([to, line])).connections[0]?.reminders?.rules.skipStages;
  expect(await skipped('calendar: false')).toEqual(closedStages);
  expect(await skipped('skipStages: []')).toEqual([]);
});

test('the digest alone', async () => {
  const config = await load([to, 'before: []', 'digest: "08:00"', 'skipStages: []']);
  expect(config.connections[0]?.reminders?.rules).toMatchObject({
    before: [],
    digestAt: 480,
    skipStages: [],
  });
});
