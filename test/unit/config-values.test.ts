import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { baseUrl, leadsUrl } from '../../src/config/addresses.ts';
import { effectiveDirection } from '../../src/config/config.ts';
import { nearestName } from '../../src/core/lead/wording.ts';
import { sheetName, tablePath } from '../../src/config/target-schema.ts';
import {
  limit,
  recipient,
  retention,
  schedule,
  sender,
  shortestGap,
  timeZone,
  waitingTime,
} from '../../src/config/values.ts';
import { mistakeOf } from '../support/config-values.ts';

/** Each row: the check, what it takes, what it refuses. */
const checks: readonly [string, (text: string) => string | null, readonly string[], readonly string[]][] = [
  [
    'base URL',
    mistakeOf(baseUrl),
    [
      'https://api.example.com',
      'https://x/a/b//',
      'http://localhost:1',
      'http://127.9.0.1',
      'http://[::1]:3',
      'HTTPS://X',
    ],
    [
      '',
      'api',
      '/v1',
      'https:api',
      'ftp://x',
      'http://x',
      'http://localhost.example.com',
      'http://127.0.0.1.example.com',
      'https://u@x',
      'https://x?',
      'https://x#',
      'https://x y',
      ' https://x',
      'https://x\\y',
      'https://',
    ],
  ],
  [
    'schedule',
    mistakeOf(schedule),
    [
      '0 2 * * *',
      '*/5 * * * *',
      '0 2 * * MON-FRI',
      '0 2 L * *',
      '0 2 * MAR THU',
      ' 0 2 * * * ',
      'every 5m',
      'every 2h',
    ],
    [
      '',
      '0 2 * *',
      '0 0 2 * * *',
      '@daily',
      '61 2 * * *',
      '0 2 * * 8',
      '0 0 31 2 *',
      'H 2 * * *',
      '0 H(1-3) * * *',
      'a b c d e',
      '*/0 * * * *',
      'every 7m',
      'every 5h',
      'every 0m',
      'every 120m',
      'every 2d',
      'every day',
    ],
  ],
  [
    'waiting time',
    mistakeOf(waitingTime),
    ['0m', '30m', '6h', '30d'],
    ['', '6', '6 h', '-1h', '1.5h', '31d', '1w'],
  ],
  [
    'time zone',
    mistakeOf(timeZone),
    ['UTC', 'Europe/Berlin', 'America/New_York'],
    ['', 'Berlin', '+02:00', 'Europe/Nowhere', 'local'],
  ],
  [
    'recipient',
    mistakeOf(recipient),
    ['anna@example.com', 'a.b+c@x-y.example', 'leadsync@localhost'],
    [
      '',
      'anna',
      'a@',
      '@b',
      'a@b',
      'a..b@example.com',
      '.a@example.com',
      'a.@example.com',
      'a@example..com',
      'a@b, c@d',
      'Anna <a@b>',
      'a@b\r\nBcc: c@d',
      'a@-b',
      'a b@c',
      'ä@b',
      'a@b;c@d',
      `${'a'.repeat(65)}@b`,
    ],
  ],
  [
    'sender',
    mistakeOf(sender),
    [
      'sales@example.com',
      'Sales <sales@example.com>',
      '"Sales, Berlin" <s@example.com>',
      'Büro <s@example.com>',
      'S<s@example.com>',
    ],
    [
      '',
      'Sales',
      'Sales <s>',
      '<s@b> x',
      'A, B <s@b>',
      'A <s@b>, B <t@b>',
      'A\r\nBcc: x <s@b>',
      '"A\nB" <s@b>',
    ],
  ],
  [
    'limit',
    mistakeOf(limit),
    ['0', '10', '0%', '10%', '100%'],
    ['', '-1', '101%', '1.5', '10 %', '%', 'all', '1e3', '9999999999'],
  ],
  [
    'retention',
    mistakeOf(retention),
    ['1', '90', '90d', '3650d'],
    ['', '0', '0d', '-1d', '3651d', '1.5d', '90 d', '12w', '90D', '1e3', 'forever'],
  ],
  [
    'sheet',
    mistakeOf(sheetName),
    ['Leads', 'Überblick 2026', 'x'.repeat(31), "Anna's"],
    ['', ' ', 'x'.repeat(32), 'a/b', 'a:b', '[a]', 'a?', 'a*', 'a\\b', "'a", "a'", 'a\nb'],
  ],
  [
    'target',
    mistakeOf(tablePath),
    ['a.csv', 'a.tsv', 'a.txt', '/x/Y.CSV', './a b.csv', '../a.csv', 'a.xlsx', 'A.XLSM'],
    [
      '',
      '.csv',
      'x/.csv',
      '.xlsx',
      'a',
      'a.xls',
      'a.xlsb',
      'a.csv/',
      'hubspot:companies',
      'hubspot:a.csv',
      'a\0.csv',
    ],
  ],
];

describe.each(checks)('%s', (_, check, right, wrong) => {
  test.each(right)('takes %j', (text) => expect(check(text)).toBeNull());
  test.each(wrong)('refuses %j', (text) => expect(check(text)).toMatch(/^(must|is) /));
});

test.each([
  ['https://API.example.com/', 'https://api.example.com'],
  ['https://x/a/b//', 'https://x/a/b'],
  ['http://localhost:8080', 'http://localhost:8080'],
])('the base URL %s is used as %s', (text, expected) => expect(baseUrl.parse(text)).toBe(expected));

test.each([
  ['https://api.example.com/v1', 'https://api.example.com'],
  ['https://api.example.com/crm/v1/leads/', 'https://api.example.com/crm'],
  ['https://api.example.com/dev1', 'https://api.example.com/dev1'],
])('the address of the Leads service %s is used as %s', (text, expected) =>
  expect(leadsUrl.parse(text)).toBe(expected),
);

test.each([
  [10, { amount: 10, percent: false }],
  ['10', { amount: 10, percent: false }],
  ['10%', { amount: 10, percent: true }],
])('the limit %j', (text, expected) => expect(limit.parse(text)).toEqual(expected));

test.each([
  ['90d', 90],
  ['7', 7],
  [365, 365],
])('the retention %j', (text, expected) => expect(retention.parse(text)).toBe(expected));

test.each([
  ['two-way', 'two-way', 'two-way'],
  ['two-way', 'to-target', 'to-target'],
  ['two-way', 'to-leads', 'to-leads'],
  ['to-target', 'two-way', 'to-target'],
  ['to-target', 'to-target', 'to-target'],
  ['to-target', 'to-leads', null],
  ['to-leads', 'two-way', 'to-leads'],
  ['to-leads', 'to-target', null],
  ['to-leads', 'to-leads', 'to-leads'],
] as const)('connection %s with field %s is %s', (connection, field, expected) => {
  expect(effectiveDirection(connection, field)).toBe(expected);
});

describe('the nearest name', () => {
  const names = ['baseUrl', 'apiKey', 'pageSize', 'query'];
  test.each([
    ['base_url', 'baseUrl'],
    ['apikey', 'apiKey'],
    ['apiKye', 'apiKey'],
    ['pageSizes', 'pageSize'],
    ['page', 'pageSize'],
    ['nothing', undefined],
    ['q', undefined],
  ])('of %s is %s', (name, expected) => expect(nearestName(name, names)).toBe(expected));

  test('a name with one letter lost is found again', () => {
    fc.assert(
      fc.property(fc.constantFrom(...names), fc.nat(), (name, at) => {
        const index = at % name.length;
        return nearestName(name.slice(0, index) + name.slice(index + 1), names) === name;
      }),
    );
  });
});

test.each([
  ['every 5m', '*/5 * * * *'],
  [' Every  1m ', '* * * * *'],
  ['every 60m', '0 * * * *'],
  ['every 1h', '0 * * * *'],
  ['every 2h', '0 */2 * * *'],
  ['every 24h', '0 0 * * *'],
  ['0  2 * * *', '0 2 * * *'],
])('the schedule %s is the pattern %s', (written, pattern) => expect(schedule.parse(written)).toBe(pattern));

test.each([
  ['0 2 * * *', 24],
  ['*/5 * * * *', 1 / 12],
  ['0 */6 * * *', 6],
  ['0 8,12 * * 1-5', 4],
  ['30 2 * * 1', 7 * 24],
])('between two times of %s are %d hours at the shortest', (pattern, hours) => {
  expect(shortestGap(pattern)).toBe(hours * 3_600_000);
});

test('a plain schedule that does not come evenly is refused with those that do', () => {
  expect(mistakeOf(schedule)('every 7m')).toMatch(/divide an hour evenly: .*5m, 6m, 10m/);
  expect(mistakeOf(schedule)('every 5h')).toMatch(/divide a day evenly: .*4h, 6h, 8h/);
});
