import { describe, expect, test } from 'vitest';
import { configFolder, connection, env, mistakeAt as at, withLines } from './config-file-scene.ts';

const { load, mistakesOf } = configFolder();

describe('mistakes in the file', () => {
  const a = 'connections.a';

  test.each<[string, string, ReturnType<typeof at>[]]>([
    ['an empty file', '', [{ ...at(0, 'connections', 'is missing'), where: 'leadsync.yaml' }]],
    ['no connection', 'connections: {}', [at(1, 'connections', 'at least one', 'a mapping')]],
    ['a list of connections', '\nconnections: [a]', [at(2, 'connections', 'must be a mapping', 'a list')]],
    [
      'a misspelt key',
      connection('    snyc: {}'),
      [at(5, `${a}.snyc`, 'allowed here: leads, target, fields, sync, reminders; did you mean "sync"?')],
    ],
    [
      'a key one level too high',
      connection('    schedule: x'),
      [at(5, `${a}.schedule`, 'it belongs at connections.NAME.sync.schedule')],
    ],
    [
      'a process-wide key',
      connection('    databaseUrl: geheim'),
      [at(5, `${a}.databaseUrl`, 'set DATABASE_URL in the environment')],
    ],
    [
      'alerts without an address',
      connection('alerts: {}'),
      [at(5, 'alerts', 'without one of them alerts go nowhere', 'a mapping')],
    ],
    [
      'a network wider than its kind of address, and an empty name',
      connection('statusPage: { trustedProxy: [10.0.0.0/33, "fd00::/129"], deciders: [""] }'),
      [
        at(5, 'statusPage.trustedProxy[0]', 'IP address', '"10.0.0.0/33"'),
        at(5, 'statusPage.trustedProxy[1]', 'IP address', '"fd00::/129"'),
        at(5, 'statusPage.deciders[0]', 'must be a name', '""'),
      ],
    ],
    [
      'every address as the proxy',
      connection('statusPage: { trustedProxy: [10.0.0.5, 0.0.0.0/0, "::/0"] }'),
      [
        at(
          5,
          'statusPage.trustedProxy[1]',
          'anybody could then name themselves in `userHeader`',
          '"0.0.0.0/0"',
        ),
        at(5, 'statusPage.trustedProxy[2]', "Name the proxy's own", '"::/0"'),
      ],
    ],
    [
      'lists of nothing',
      connection('    fields: { stage: { column: Stage, values: [] } }\nstatusPage: { trustedProxy: [] }'),
      [
        at(5, `${a}.fields.stage.values`, 'at least one', 'a list'),
        at(6, 'statusPage.trustedProxy', 'at least one', 'a list'),
      ],
    ],
    [
      'reminders to nobody',
      connection('    reminders:\n      from: a@b.c'),
      [at(5, `${a}.reminders.to`, 'is missing')],
    ],
    [
      'reminders to an empty list',
      connection('    reminders: { to: [] }'),
      [at(5, `${a}.reminders.to`, 'at least one', 'a list')],
    ],
    [
      'a bad recipient',
      connection('    reminders:\n      to:\n        - a@b.c\n        - a@b, c@d'),
      [at(8, `${a}.reminders.to[1]`, 'one e-mail address', '"a@b, c@d"')],
    ],
    ['no value', connection('    sync:'), [at(5, `${a}.sync`, 'must be a mapping', 'nothing')]],
    [
      'a number for text',
      connection('    fields: { city: 2024 }'),
      [at(5, `${a}.fields.city`, 'must be a heading', '2024')],
    ],
    [
      'a filter that paging sets',
      connection('').replace('baseUrl', 'query: { cursor: x }, baseUrl'),
      [at(3, `${a}.leads.query.cursor`, 'paging')],
    ],
    [
      'a page of none',
      connection('').replace('baseUrl', 'pageSize: 0, baseUrl'),
      [at(3, `${a}.leads.pageSize`, 'must be auto, or a whole number from 1 to 1000', '0')],
    ],
    [
      'a key that is a number',
      connection('').replace('"${LEADS_API_KEY}"', '471100815'),
      [at(3, `${a}.leads.apiKey`, 'put it in quotes', '[secret]')],
    ],
    [
      'a connection named like a queue part',
      connection('').replace(' a:', ' "a:b":'),
      [at(2, 'connections["a:b"]', 'letters from a to z')],
    ],
    [
      'a key written twice, the second one wrong',
      connection('    sync: {}\n    sync: x'),
      [at(6, '', 'this key is here already'), at(6, `${a}.sync`, 'must be a mapping', '"x"')],
    ],
    [
      'a name that objects keep for themselves',
      `${connection('')}  __proto__: {}\n`,
      [at(6, 'connections.__proto__', 'cannot be a name')],
    ],
    [
      'an alias of its own mapping',
      connection('    sync: &s\n      limits: *s'),
      [at(6, `${a}.sync.limits`, 'must not contain itself')],
    ],
    ['a closed list left open', connection('    reminders: { to: [geheim'), [expect.anything()]],
    ['a tab', connection('\tsync: {}'), [expect.anything()]],
    ['an unquoted ${NAME} in braces', connection('    sync: { schedule: ${X} }'), [at(5, '', '"${NAME}"')]],
    ['two documents', `${connection('')}---\nx: 1\n`, [at(6, '', 'one file holds one')]],
    ['an unknown tag', connection('    sync: !x {}'), [at(5, '', '"!"')]],
    ['an alias of nothing', connection('    sync: *nothing'), [at(5, `${a}.sync`, 'has no anchor')]],
    [
      '60,000 connections',
      `connections:\n${Array.from({ length: 60_000 }, (_, index) => `  c${index}: {}\n`).join('')}`,
      [at(0, '', 'has 60000 connections, and may have 1000')],
    ],
    [
      'connections by an alias',
      `x: &x\n${Array.from({ length: 1_001 }, (_, index) => `  c${index}: {}\n`).join('')}connections: *x\n`,
      [at(0, '', 'has 1001 connections, and may have 1000')],
    ],
    ['a file of megabytes', `# ${'x'.repeat(1024 * 1024)}`, [at(0, '', 'and may have 1048576')]],
    [
      'aliases that repeat each other',
      `a: &a [x, x, x, x, x, x, x, x, x, x]\n${'bcdef'
        .split('')
        .map(
          (name, index) =>
            `${name}: &${name} [${Array.from({ length: 10 }, () => `*${'abcde'[index]}`).join(', ')}]\n`,
        )
        .join('')}`,
      [at(0, '', 'aliases (*name) repeat too much')],
    ],
  ])('%s', async (_, content, expected) => {
    expect(withLines(await mistakesOf(content))).toEqual(expected);
  });

  test('a sender is required as soon as mails leave the machine', async () => {
    const content = connection('    reminders: { to: [anna@example.com] }');
    expect((await load(content)).connections[0]?.reminders?.from).toBe('leadsync@localhost');
    expect(await mistakesOf(content, { env: { ...env, SMTP_URL: 'smtp://mail' } })).toEqual([
      at(5, 'connections.a.reminders.from', 'SMTP_URL'),
    ]);
  });

  test('those of all connections and of the environment are listed together, in reading order', async () => {
    const content = `connection: {}
connections:
  "a:b":
    leads: { baseUrl: "https://u:geheim@x", pageSize: 5000 }
    target: { type: workbook, path: x.csv }
    fields: { city: City, region: City }
  c:
    leads: { baseUrl: https://x, apiKey: k }
    target: { type: workbook, path: ./x.csv }
    sync: { limits: { maxDeletes: 101% }, onConflict: newest, retention: 2w }
`;
    const mistakes = await mistakesOf(content, { env: { PORT: 'x' } });
    expect(mistakes.map(({ where, line, path }) => [line ?? where, path])).toEqual([
      ['PORT', ''],
      [1, 'connection'],
      [3, 'connections["a:b"]'],
      [4, 'connections["a:b"].leads.baseUrl'],
      [4, 'connections["a:b"].leads.apiKey'],
      [4, 'connections["a:b"].leads.pageSize'],
      [6, 'connections["a:b"].fields.region'],
      [9, 'connections.c.target.path'],
      [10, 'connections.c.sync.onConflict'],
      [10, 'connections.c.sync.limits.maxDeletes'],
      [10, 'connections.c.sync.retention'],
    ]);
  });
});
