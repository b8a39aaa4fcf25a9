import { mkdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { configFolder, connection, env } from './config-file-scene.ts';

const { folder, load, mistakesOf } = configFolder();

describe('mistakes in the file', () => {
  const at = (line: number, path: string, message: string, found?: string) => ({
    where: 'leadsync.yaml',
    line,
    path,
    message: expect.stringContaining(message),
    ...(found === undefined ? {} : { found }),
  });
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
      'a field that every object has',
      connection('    fields: { constructor: City }'),
      [at(5, `${a}.fields.constructor`, 'cannot be mapped')],
    ],
    [
      'alerts without an address',
      connection('alerts: {}'),
      [at(5, 'alerts', 'without one of them alerts go nowhere', 'a mapping')],
    ],
    [
      'a sheet of a CSV file',
      connection('', '{ type: workbook, path: a.csv, sheet: X }'),
      [at(4, `${a}.target.sheet`, 'a CSV file has no sheets', '"X"')],
    ],
    [
      'lists to choose from in a CSV file, and for a moment',
      connection(
        '    fields:\n      stage: { column: Stage, values: [new, won] }\n      nextFollowUpAt: { column: When, values: [today] }',
      ),
      [
        at(6, `${a}.fields.stage.values`, 'a CSV file has no lists', 'a list'),
        at(7, `${a}.fields.nextFollowUpAt.values`, 'an instant is not chosen from a list', 'a list'),
      ],
    ],
    [
      'lists that Excel does not take',
      connection(
        `    fields:\n      stage: { column: Stage, values: ["a,b"] }\n      city: { column: City, values: ["${'x'.repeat(256)}"] }`,
        '{ type: workbook, path: a.xlsx }',
      ),
      [
        at(6, `${a}.fields.stage.values[0]`, 'must not be empty or hold a comma', '"a,b"'),
        at(7, `${a}.fields.city.values`, 'must not have more than 255 characters', 'a list'),
      ],
    ],
    [
      'a sheet that Excel does not take',
      connection('', '{ type: workbook, path: a.xlsx, sheet: "a/b" }'),
      [at(4, `${a}.target.sheet`, '1 to 31 characters', '"a/b"')],
    ],
    [
      'a company without a token, and with columns that are no properties',
      connection(
        '    fields:\n      city: City\n      stage: { column: lead stage }',
        '{ type: hubspot, object: companies, idColumn: Lead ID, portal: EU1 }',
      ),
      [
        at(4, `${a}.target.token`, 'is missing: Access token of HubSpot'),
        at(4, `${a}.target.portal`, 'the number of the portal', '"EU1"'),
        at(
          4,
          `${a}.target.object`,
          'allowed here: type, token, portal, idColumn, statusColumn, marker, timeZone',
        ),
        at(4, `${a}.target.idColumn`, 'internal name of a company property', '"Lead ID"'),
        at(6, `${a}.fields.city`, 'internal name of a company property', '"City"'),
        at(7, `${a}.fields.stage.column`, 'internal name of a company property', '"lead stage"'),
      ],
    ],
    [
      'a table of no name, in a database of another kind, with a list',
      connection(
        '    fields:\n      stage: { column: stage, values: [new] }',
        '{ type: postgres-table, url: "mysql://u:geheim@h/d", table: a.b.c, tab: x }',
      ),
      [
        at(4, `${a}.target.url`, 'must be an address such as postgres://', '[secret]'),
        at(4, `${a}.target.table`, 'TABLE or SCHEMA.TABLE', '"a.b.c"'),
        at(4, `${a}.target.tab`, 'allowed here: type, url, table, idColumn, statusColumn, marker, timeZone'),
        at(6, `${a}.fields.stage.values`, 'a table has no lists', 'a list'),
      ],
    ],
    [
      'a target of no kind',
      connection('', '{ type: workbok, path: a.xls }'),
      [
        at(
          4,
          `${a}.target.type`,
          'one of workbook, google-sheets, hubspot, postgres-table; did you mean "workbook"?',
          '"workbok"',
        ),
      ],
    ],
    [
      'a path of no kind',
      connection('', '{ type: workbook, path: a.xls }'),
      [at(4, `${a}.target.path`, 'a path ending in .xlsx', '"a.xls"')],
    ],
    [
      'a Google spreadsheet with settings of a file, and an address of something else',
      connection(
        '',
        '{ type: google-sheets, spreadsheet: "https://docs.google.com/document/d/x", tab: "", path: a.csv }',
      ),
      [
        at(
          4,
          `${a}.target.spreadsheet`,
          'must be the address of a spreadsheet',
          '"https://docs.google.com/document/d/x"',
        ),
        at(4, `${a}.target.tab`, 'must be the name of a tab', '""'),
        at(4, `${a}.target.path`, 'allowed here: type, spreadsheet, tab, dates,'),
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
      'the id as a field',
      connection('    fields:\n      id: Id'),
      [at(6, `${a}.fields.id`, 'cannot be mapped')],
    ],
    ['no field', connection('    fields: {}'), [at(5, `${a}.fields`, 'at least one field', 'a mapping')]],
    [
      'a blank heading',
      connection('    fields: { city: " " }'),
      [at(5, `${a}.fields.city`, 'heading', '" "')],
    ],
    [
      'a blank heading that is no property either: once',
      connection('    fields: { city: " " }', '{ type: hubspot, token: t }'),
      [at(5, `${a}.fields.city`, 'must be the heading of a column', '" "')],
    ],
    [
      'a default column used twice, in a target of no kind',
      connection('', '{ type: workbok, path: a.csv, statusColumn: Stage }'),
      [
        at(4, `${a}.target.type`, 'did you mean "workbook"?', '"workbok"'),
        at(4, `${a}.target.statusColumn`, 'column of stage already', '"Stage"'),
      ],
    ],
    [
      'wrong keys of a field',
      connection('    fields:\n      city: { colum: City, direction: both }'),
      [
        at(6, `${a}.fields.city.column`, 'is missing'),
        at(6, `${a}.fields.city.direction`, 'two-way, to-target, to-leads', '"both"'),
        at(6, `${a}.fields.city.colum`, 'did you mean "column"?'),
      ],
    ],
    [
      'a column used twice',
      connection('    fields:\n      city: Place\n      region: { column: "place " }'),
      [at(7, `${a}.fields.region.column`, 'column of city already', '"place "')],
    ],
    [
      "the id's column used twice",
      connection('    fields:\n      city: Lead ID'),
      [at(6, `${a}.fields.city`, 'column of the id already', '"Lead ID"')],
    ],
    [
      'a default column used twice',
      connection('', '{ type: workbook, path: a.csv, statusColumn: Stage }'),
      [at(4, `${a}.target.statusColumn`, 'column of stage already', '"Stage"')],
    ],
    [
      'directions that exclude each other',
      connection(
        '    sync: { direction: to-target }\n    fields:\n      city: { column: City, direction: to-leads }',
      ),
      [at(7, `${a}.fields.city.direction`, 'must be to-target or two-way', '"to-leads"')],
    ],
    [
      'a filter that paging sets',
      connection('').replace('baseUrl', 'query: { cursor: x }, baseUrl'),
      [at(3, `${a}.leads.query.cursor`, 'paging')],
    ],
    [
      'a page of none',
      connection('').replace('baseUrl', 'pageSize: 0, baseUrl'),
      [at(3, `${a}.leads.pageSize`, '1 to 1000', '0')],
    ],
    [
      'a key that is a number',
      connection('').replace('"${LEADS_API_KEY}"', '471100815'),
      [at(3, `${a}.leads.apiKey`, 'put it in quotes', '[secret]')],
    ],
    [
      'a connection named like a queue part',
      connection('').replace(' a:', ' "a:b":'),
      [at(2, 'connections["a:b"]', 'letters, digits')],
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
  ])('%s', async (_, content, expected) => {
    const mistakes = await mistakesOf(content);
    expect(mistakes.map(({ line, ...rest }) => ({ line: line ?? 0, ...rest }))).toEqual(expected);
  });

  test('two connections on one file, also through a link', async () => {
    await mkdir(join(folder(), 'real'));
    await symlink('real', join(folder(), 'link'));
    const content = connection('', '{ type: workbook, path: real/a.csv }');
    const other =
      '  b:\n    leads: { baseUrl: https://x, apiKey: k }\n    target: { type: workbook, path: link/../link/a.csv }\n';
    expect(await mistakesOf(`${content}${other}`)).toEqual([
      at(
        8,
        'connections.b.target.path',
        'must be another file: connection a writes to this one',
        '"link/../link/a.csv"',
      ),
    ]);
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
