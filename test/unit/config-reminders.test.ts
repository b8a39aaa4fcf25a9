import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { leadUrl } from '../../src/config/addresses.ts';
import { closedStages } from '../../src/config/config.ts';
import { loadConfig } from '../../src/config/load.ts';
import { remindersSchema } from '../../src/config/reminder-schema.ts';
import { Secret } from '../../src/config/secret.ts';
import { offset, quietHours, timeOfDay } from '../../src/config/values.ts';
import { mistakeOf, parseOffset, parseQuietHours } from '../support/config-values.ts';
import { mistakesIn } from './config-file-scene.ts';

const { grace } = remindersSchema.shape;

let cwd: string;
beforeEach(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'leadsync-config-'));
});
afterEach(() => rm(cwd, { recursive: true }));

/** A connection with reminders; the lines that are added begin with line 6. */
async function load(lines: readonly string[], fields = '') {
  const content = `connections:
  a: ${fields === '' ? '' : `\n    fields: ${fields}`}
    leads: { baseUrl: https://x, apiKey: k }
    target: { type: workbook, path: a.csv }
    reminders:
${lines.map((line) => `      ${line}\n`).join('')}`;
  await writeFile(join(cwd, 'leadsync.yaml'), content.replace('  a: \n', '  a:\n'));
  return loadConfig({ env: {}, cwd });
}

function mistakesOf(lines: readonly string[], fields = '') {
  return mistakesIn(load(lines, fields));
}

const to = 'to: [anna@example.com]';

describe('each value', () => {
  test.each([
    [
      'time before',
      mistakeOf(offset),
      ['0m', '0d', '30m', '2h', '1d', '365d', '8760h'],
      ['', '1', 'm', '1w', '-1d', '1.5h', '366d', '8761h', '1 d', '1D', '1d2h', '525601m'],
    ],
    [
      'grace period',
      mistakeOf(grace),
      ['1m', '24h', '30d'],
      ['', '0m', '0d', '24', '31d', '721h', 'forever'],
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
    ['90m', 5_400_000],
    ['24h', 86_400_000],
    ['2d', 172_800_000],
  ])('the grace %s', (text, expected) => expect(grace.parse(text)).toBe(expected));

  test.each([
    ['20:00-08:30', { from: 1200, to: 510 }],
    ['12:00-24:00', { from: 720, to: 0 }],
  ])('the quiet hours %s', (text, expected) => expect(parseQuietHours(text)).toEqual(expected));
});

test('all settings', async () => {
  await mkdir(join(cwd, 'mails'));
  await writeFile(join(cwd, 'mails', 'digest.text.liquid'), 'x');
  const config = await load(
    [
      to,
      'timeZone: America/New_York',
      'language: de',
      'dateOnlyAt: "10:00"',
      'before: [1d, 90m, 0h]',
      'quietHours: 20:00-08:00',
      'workingDays: [mon, sun]',
      'grace: 2d',
      'skipStages: [won, lost]',
      'routes: [{ when: { region: [BY, BW] }, to: [south@example.com] }]',
      'toColumn: " owner"',
      'digest: 08:00',
      'calendar: true',
      'caldav: { Anna@example.com: { url: https://dav.example.com/anna/leads, username: anna, password: pw, as: both } }',
      'caldavDone: clear',
      'leadUrl: "https://app.example.com/leads/{id}"',
      'templates: ./mails',
      'onUnknown: hold',
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
      dateOnlyAt: 600,
      before: [
        { text: '1d', days: 1, ms: 0 },
        { text: '90m', days: 0, ms: 5_400_000 },
        { text: '0m', days: 0, ms: 0 },
      ],
      quietHours: { from: 1200, to: 480 },
      workingDays: [1, 7],
      graceMs: 172_800_000,
      skipStages: ['won', 'lost'],
      onlyStages: null,
      to: ['anna@example.com'],
      routes: [{ when: { region: ['BY', 'BW'] }, to: ['south@example.com'] }],
      toField: 'ownerEmail',
      digestAt: 480,
    },
    language: 'de',
    languages: {},
    calendar: true,
    calendarFeed: false,
    calendars: [
      {
        recipient: 'anna@example.com',
        url: 'https://dav.example.com/anna/leads/',
        username: 'anna',
        password: expect.any(Secret) as Secret,
        components: ['event', 'task'],
      },
    ],
    onCalendarDone: 'clear',
    leadUrl: 'https://app.example.com/leads/{id}',
    templates: join(cwd, 'mails'),
    onUnknown: 'hold',
  });
});

test('leads that are over are skipped, unless the settings say which stages', async () => {
  const skipped = async (line: string) =>
    (await load([to, line])).connections[0]?.reminders?.rules.skipStages;
  expect(await skipped('calendar: false')).toEqual(closedStages);
  expect(await skipped('skipStages: []')).toEqual([]);
  expect(await skipped('onlyStages: [won]')).toEqual([]);
});

test('the digest alone', async () => {
  const config = await load([to, 'before: []', 'digest: "08:00"', 'onlyStages: [new]']);
  expect(config.connections[0]?.reminders?.rules).toMatchObject({
    before: [],
    digestAt: 480,
    onlyStages: ['new'],
    skipStages: [],
  });
});

describe('mistakes', () => {
  const at = (line: number, path: string, message: string) => ({
    line,
    path: `connections.a.reminders${path}`,
    message: expect.stringContaining(message),
  });

  test.each<[string, readonly string[], ReturnType<typeof at>[]]>([
    [
      'a time before',
      ['before: [1d, soon, 2w]'],
      [at(7, '.before[1]', 'from 0m to 365d'), at(7, '.before[2]', 'from 0m to 365d')],
    ],
    ['the same time twice', ['before: [60m, 1h]'], [at(7, '.before', 'no time twice')]],
    ['no list', ['before: 1d'], [at(7, '.before', 'must be a list')]],
    ['no time and no digest', ['before: []'], [at(7, '.before', 'nothing would be sent')]],
    [
      'a calendar without single mails',
      ['before: []', 'digest: "08:00"', 'calendar: true'],
      [at(9, '.calendar', 'no mail that would carry an entry')],
    ],
    ['quiet hours', ['quietHours: at night'], [at(7, '.quietHours', 'such as 20:00-08:00')]],
    ['quiet all day', ['quietHours: 00:00-24:00'], [at(7, '.quietHours', 'the whole day')]],
    ['a day that is none', ['workingDays: [mon, tues]'], [at(7, '.workingDays[1]', 'did you mean "tue"?')]],
    ['no working day', ['workingDays: []'], [at(7, '.workingDays', 'must leave a working day: mon, tue')]],
    ['a day twice', ['workingDays: [mon, mon]'], [at(7, '.workingDays', 'no day twice')]],
    ['too long a grace', ['grace: 1y'], [at(7, '.grace', 'from 1m to 30d')]],
    ['an empty stage', ['skipStages: [""]'], [at(7, '.skipStages[0]', 'must not be empty')]],
    ['no stage', ['onlyStages: []'], [at(7, '.onlyStages', 'at least one value')]],
    ['both', ['skipStages: [won]', 'onlyStages: [new]'], [at(8, '.onlyStages', 'skipStages is set')]],
    [
      'a route without fields',
      ['routes: [{ when: {}, to: [a@b.c] }]'],
      [at(7, '.routes[0].when', 'at least one field')],
    ],
    [
      'a route without recipients',
      ['routes:', '  - when: { region: [BY] }'],
      [at(8, '.routes[0].to', 'is missing')],
    ],
    [
      'a recipient of a route',
      ['routes: [{ when: { region: [BY] }, to: [b] }]'],
      [at(7, '.routes[0].to[0]', 'one e-mail address')],
    ],
    [
      'an unknown key of a route',
      ['routes: [{ when: { region: [BY] }, to: [a@b.c], too: x }]'],
      [at(7, '.routes[0].too', 'allowed here: when, to; did you mean "to"?')],
    ],
    [
      'a value that is no list',
      ['routes: [{ when: { region: BY }, to: [a@b.c] }]'],
      [at(7, '.routes[0].when.region', 'must be a list')],
    ],
    [
      'a field that is not mapped',
      [
        'routes:',
        '  - when: { region: [BY] }',
        '    to: [a@b.c]',
        '  - when: { regoin: [BY] }',
        '    to: [a@b.c]',
      ],
      [
        at(
          10,
          '.routes[1].when.regoin',
          'mapped are companyName, segment, city, region, stage, nextFollowUpAt; did you mean "region"?',
        ),
      ],
    ],
    [
      'a column that is not mapped',
      ['toColumn: Owner'],
      [
        at(
          7,
          '.toColumn',
          'must be the column of a mapped text field: Company, Segment, City, Region, Stage',
        ),
      ],
    ],
    ['a column of dates', ['toColumn: Next follow-up'], [at(7, '.toColumn', 'mapped text field')]],
    ['a digest time', ['digest: 8am'], [at(7, '.digest', '"08:00"')]],
    [
      'a digest in the quiet hours',
      ['quietHours: 20:00-08:00', 'digest: "07:59"'],
      [at(8, '.digest', 'not be in the quiet hours (20:00-08:00)')],
    ],
    ['no boolean', ['calendar: maybe'], [at(7, '.calendar', 'must be a boolean')]],
    [
      'a calendar without https, and one of nobody',
      [
        'caldav:',
        '  a@b.c: { url: http://dav.example.com/x/, username: a, password: pw }',
        '  anna: { url: https://dav.example.com/x/, username: a, password: pw }',
      ],
      [
        at(8, '.caldav["a@b.c"].url', 'must begin with https://'),
        at(9, '.caldav.anna', 'one e-mail address'),
      ],
    ],
    ['an address without an id', ['leadUrl: https://x/leads'], [at(7, '.leadUrl', '{id}')]],
    ['no folder', ['templates: ./nowhere'], [at(7, '.templates', 'there is no such file or folder')]],
    ['a file for a folder', ['templates: ./leadsync.yaml'], [at(7, '.templates', 'is not a folder')]],
    ['a folder without templates', ['templates: .'], [at(7, '.templates', 'de/reminder.text.liquid')]],
    ['another choice', ['onUnknown: ignore'], [at(7, '.onUnknown', 'one of resend, hold')]],
    ['an unknown key', ['quiethours: 20:00-08:00'], [at(7, '.quiethours', 'did you mean "quietHours"?')]],
  ])('%s', async (_, lines, expected) => {
    const mistakes = await mistakesOf([to, ...lines]);
    expect(mistakes.map(({ line, path, message }) => ({ line, path, message }))).toEqual(expected);
  });

  test('what has to be mapped', async () => {
    const told = (await mistakesOf([to, 'skipStages: [won]'], '{ city: City }')).map(
      ({ line, path, message }) => [line, path, message],
    );
    expect(told).toEqual([
      [6, 'connections.a.reminders', 'needs the field nextFollowUpAt to be mapped to a column'],
      [8, 'connections.a.reminders.skipStages', 'needs the field stage to be mapped to a column'],
    ]);
    expect(await mistakesOf([to], '{ nextFollowUpAt: { column: When, type: text } }')).toMatchObject([
      { message: 'needs the field nextFollowUpAt to be of type instant' },
    ]);
  });
});

describe('a chat channel', () => {
  const webhook = 'webhook: "https://hooks.slack.com/services/T0/B0/geheim"';

  test('gets reminders beside others, or alone; its address is a secret', async () => {
    for (const lines of [[webhook], [webhook, to]]) {
      const { connections } = await load(lines);
      const { chat, rules } = connections[0]?.reminders ?? {};
      expect(chat).toMatchObject({ kind: 'slack', host: 'hooks.slack.com', recipient: rules?.channel });
      expect(chat?.url.reveal()).toContain('geheim');
      expect(rules?.to).toHaveLength(lines.length - 1);
      expect(JSON.stringify(connections)).not.toContain('geheim');
    }
  });

  test('stands in the environment, or in a file', async () => {
    const file = join(cwd, 'hook');
    await writeFile(file, 'https://discord.com/api/webhooks/1/geheim\n');
    const env = {
      LEADS_BASE_URL: 'https://x',
      LEADS_API_KEY: 'k',
      TARGET: 'a.csv',
      REMINDER_WEBHOOK_FILE: file,
    };
    const { connections } = await loadConfig({ env, cwd });
    expect(connections[0]?.reminders?.chat).toMatchObject({ kind: 'discord' });
  });

  test.each([
    ['nobody at all', ['digest: "08:00"'], 'name the recipients, or a chat channel'],
    [
      'a server of one’s own',
      ['webhook: "https://chat.example.com/geheim"'],
      'must be slack, teams, discord',
    ],
    ['not encrypted', ['webhook: "http://hooks.slack.com/geheim"'], 'must begin with https://'],
    ['a kind alone', [to, 'webhookKind: slack'], 'there is no webhook'],
    ['another kind', [webhook, 'webhookKind: irc'], 'slack'],
  ])('mistake: %s', async (_, lines, said) => {
    const found = JSON.stringify(await mistakesOf(lines));
    expect(found).toContain(said);
    expect(found).not.toContain('geheim');
  });
});
