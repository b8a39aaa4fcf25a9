import { mkdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { configFolder, connection, mistakeAt as at, withLines } from './config-file-scene.ts';

const { folder, mistakesOf } = configFolder();

describe('mistakes in the target and the fields', () => {
  const a = 'connections.a';

  test.each<[string, string, ReturnType<typeof at>[]]>([
    [
      'a field that every object has',
      connection('    fields: { constructor: City }'),
      [at(5, `${a}.fields.constructor`, 'cannot be mapped')],
    ],
    ...(
      [
        ['http://dav.example.com/leads.xlsx', 'must begin with https://'],
        ['https://anna:pw@dav.example.com/leads.xlsx', 'must not contain a user name', '[secret]'],
        ['https://dav.example.com/leads/', 'must end with the name of a file'],
        ['https://dav.example.com/a#1.xlsx', '"#" as %23'],
        ['https://dav.example.com/100%.xlsx', '"%" in a name as %25'],
      ] as const
    ).map(([path, message, found]): [string, string, ReturnType<typeof at>[]] => [
      `the address ${path}`,
      connection('', `{ type: workbook, path: "${path}" }`),
      [at(4, `${a}.target.path`, message, found ?? JSON.stringify(path))],
    ]),
    [
      'a user without a password',
      connection('', '{ type: workbook, path: "https://dav.example.com/a.xlsx", user: anna }'),
      [at(4, `${a}.target.password`, 'is missing: user has a password')],
    ],
    [
      'a login for a file of this machine',
      connection('', '{ type: workbook, path: a.xlsx, user: anna }'),
      [at(4, `${a}.target.user`, 'path is a file of this machine', '"anna"')],
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
      'words that cannot be told apart',
      connection(
        [
          '    fields:',
          '      stage: { column: Phase, values: { neu: new, Neu : new, Frisch: new, Angebot: " ", alt: New, "": lost } }',
          '      segment: { column: Art, direction: to-leads, values: { A: one, B: one, C: One } }',
          '      nextFollowUpAt: { column: When, values: { heute: today } }',
          '      city: { column: Ort, values: {} }',
          '      region: { column: Land, values: 7 }',
        ].join('\n'),
      ),
      [
        at(6, `${a}.fields.stage.values.Angebot`, 'must be the word of the service', '" "'),
        at(6, `${a}.fields.stage.values.Neu`, 'must be another word than "neu": case and spaces', '"new"'),
        at(
          6,
          `${a}.fields.stage.values.Frisch`,
          'must be another word than that of "neu": what the service has could not be told apart on its way back. Leave one of the two and correct the cells, or set direction: to-leads',
          '"new"',
        ),
        at(6, `${a}.fields.stage.values.alt`, 'must be spelled as for "neu": "new"', '"New"'),
        at(6, `${a}.fields.stage.values[""]`, 'must not be empty', '"lost"'),
        at(7, `${a}.fields.segment.values.C`, 'must be spelled as for "A": "one"', '"One"'),
        at(8, `${a}.fields.nextFollowUpAt.values`, 'an instant is not chosen from a list', 'a mapping'),
        at(9, `${a}.fields.city.values`, 'must name at least one word', 'a mapping'),
        at(10, `${a}.fields.region.values`, 'a list of words, or a mapping of words of the table', '7'),
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
        '{ type: hubspot, object: companies, idColumn: Lead ID }',
      ),
      [
        at(4, `${a}.target.token`, 'is missing: Access token of HubSpot'),
        at(
          4,
          `${a}.target.object`,
          'allowed here: type, token, idColumn, statusColumn, pauseColumn, timeZone',
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
        at(
          4,
          `${a}.target.tab`,
          'allowed here: type, url, table, idColumn, statusColumn, pauseColumn, timeZone',
        ),
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
      connection('', '{ type: workbook, path: a.xml }'),
      [at(4, `${a}.target.path`, 'a path ending in .xlsx', '"a.xml"')],
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
        at(4, `${a}.target.path`, 'allowed here: type, spreadsheet, tab, idColumn,'),
      ],
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
  ])('%s', async (_, content, expected) => {
    expect(withLines(await mistakesOf(content))).toEqual(expected);
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
});
