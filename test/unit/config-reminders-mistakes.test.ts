import { describe, expect, test } from 'vitest';
import { leadFields } from '../../src/core/lead/lead-fields.ts';
import { reminderFiles, to } from './config-reminders-scene.ts';

const { mistakesOf } = reminderFiles();

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
    ['an empty stage', ['skipStages: [""]'], [at(7, '.skipStages[0]', 'must not be empty')]],
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
          `mapped are ${Object.keys(leadFields).join(', ')}; did you mean "region"?`,
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
        '  c@b.c: { url: https://dav.example.com/x/ }',
        '  d@b.c: { url: https://apidata.googleusercontent.com/caldav/v2/d@b.c/events, username: d, password: pw }',
      ],
      [
        at(8, '.caldav["a@b.c"].url', 'must begin with https://'),
        at(9, '.caldav.anna', 'one e-mail address'),
        at(10, '.caldav["c@b.c"].username', 'only apidata.googleusercontent.com'),
        at(11, '.caldav["d@b.c"].password', 'must be left out'),
      ],
    ],
    ['an address without an id', ['leadUrl: https://x/leads'], [at(7, '.leadUrl', '{id}')]],
    ['no folder', ['templates: ./nowhere'], [at(7, '.templates', 'there is no such file or folder')]],
    ['a file for a folder', ['templates: ./leadsync.yaml'], [at(7, '.templates', 'is not a folder')]],
    ['a folder without templates', ['templates: .'], [at(7, '.templates', 'de/reminder.text.liquid')]],
    [
      'a setting of before',
      ['onUnknown: hold'],
      [at(7, '.onUnknown', 'is no longer a setting: a mail of unknown outcome')],
    ],
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
