import { expect, test } from 'vitest';
import { recipientTimeZone } from '../../src/config/config.ts';
import { configFolder, connection, mistakeAt as at, withLines } from './config-file-scene.ts';

const { load, mistakesOf } = configFolder();

const reminders = '    reminders: { to: [anna@example.com], timeZone: Europe/Berlin, language: de }\n';

test('a person has a time zone of their own, however the address is written', async () => {
  const { connections } = await load(
    connection(
      `${reminders}recipients:\n  Anna@Example.com: { timeZone: America/New_York }\n  ben@example.com: {}`,
    ),
  );
  const settings = connections[0]?.reminders;
  if (settings === undefined) throw new Error('no reminders');
  const people = ['anna@example.com', 'ben@example.com', 'carla@example.com'];
  expect(people.map((person) => recipientTimeZone(settings.rules, person))).toEqual([
    'America/New_York',
    'Europe/Berlin',
    'Europe/Berlin',
  ]);
});

test.each([
  ['no address', 'anna', at(7, 'recipients.anna', 'must be one e-mail address')],
  [
    'a zone that does not exist',
    'a@b.c: { timeZone: Europe/Berln }',
    at(7, 'recipients["a@b.c"].timeZone', 'did you mean "Europe/Berlin"?'),
  ],
  [
    'an offset',
    'a@b.c: { timeZone: "+02:00" }',
    at(7, 'recipients["a@b.c"].timeZone', 'must be an IANA time zone'),
  ],
  [
    'a setting of before',
    'a@b.c: { language: de }',
    at(
      7,
      'recipients["a@b.c"].language',
      'is no longer a setting: the mails of a connection have one language',
    ),
  ],
  ['another key', 'a@b.c: { zone: UTC }', at(7, 'recipients["a@b.c"].zone', 'allowed here: timeZone')],
  ['an address twice', 'a@b.c: {}\n  A@b.c: {}', at(8, 'recipients["A@b.c"]', 'a@b.c is the same address')],
])('%s is a mistake', async (_, lines, expected) => {
  const mistakes = await mistakesOf(
    connection(`${reminders}recipients:\n  ${lines.includes(':') ? lines : `${lines}: {}`}`),
  );
  expect(withLines(mistakes)).toEqual([expect.objectContaining(expected)]);
});
