import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { loadConfig } from '../../src/config/load.ts';
import { configFolder, connection, env } from './config-file-scene.ts';

const { folder, load, mistakesOf } = configFolder();

describe('leadsync.yaml', () => {
  test('describes several connections; order, short and long fields, and defaults', async () => {
    const config = await load(`
connections:
  berlin:
    leads: { baseUrl: "http://localhost:8080/api/", apiKey: "\${LEADS_API_KEY}", pageSize: 25, query: { stage: won } }
    target: { type: workbook, path: ./b.CSV, idColumn: Id, statusColumn: State }
    fields:
      nextFollowUpAt: When
      companyName: Company
      stage: { column: Stage, direction: to-leads }
      founded: { column: Founded, type: instant }
    sync: { schedule: "0  3 * * *", timeZone: Europe/Berlin, limits: { maxDeletes: 5, maxChanges: 20% } }
    reminders: { from: sales@example.com, to: [anna@example.com], timeZone: America/New_York }
  hamburg:
    leads: { baseUrl: https://api.example.com, apiKey: other }
    target: { type: workbook, path: h.xlsx, sheet: Our leads, timeZone: Asia/Tokyo }
`);
    const [berlin, hamburg] = config.connections;
    expect(config.connections.map(({ name }) => name)).toEqual(['berlin', 'hamburg']);
    expect(berlin?.leads).toMatchObject({
      baseUrl: 'http://localhost:8080/api',
      pageSize: 25,
      query: { stage: 'won' },
    });
    expect(berlin?.leads.apiKey.reveal()).toBe('top-secret');
    expect(berlin?.target).toEqual({
      type: 'workbook',
      path: join(folder(), 'b.CSV'),
      idColumn: 'Id',
      statusColumn: 'State',
      timeZone: 'Europe/Berlin',
    });
    expect(berlin?.fields).toEqual([
      { field: 'nextFollowUpAt', column: 'When', type: 'instant', direction: 'two-way' },
      { field: 'companyName', column: 'Company', type: 'text', direction: 'two-way' },
      { field: 'stage', column: 'Stage', type: 'text', direction: 'to-leads' },
      { field: 'founded', column: 'Founded', type: 'instant', direction: 'two-way' },
    ]);
    expect(berlin?.sync.schedule).toBe('0 3 * * *');
    expect(berlin?.sync.limits).toEqual({
      maxDeletes: { amount: 5, percent: false },
      maxChanges: { amount: 20, percent: true },
    });
    expect(berlin?.reminders?.rules.timeZone).toBe('America/New_York');
    expect(hamburg?.leads.apiKey.reveal()).toBe('other');
    expect(hamburg?.target).toMatchObject({
      path: join(folder(), 'h.xlsx'),
      sheet: 'Our leads',
      timeZone: 'Asia/Tokyo',
    });
    expect(hamburg?.reminders).toBeUndefined();
  });

  test('sync.direction narrows the fields', async () => {
    const config = await load(
      connection(
        '    fields: { city: City, stage: { column: Stage, direction: two-way } }\n    sync: { direction: to-leads }',
      ),
    );
    expect(config.connections[0]?.fields.map(({ direction }) => direction)).toEqual(['to-leads', 'to-leads']);
  });

  test('process-wide settings come from the environment; a connection described there is ignored', async () => {
    const config = await load(connection(''), {
      env: {
        ...env,
        PORT: '4000',
        LEADS_BASE_URL: 'nonsense',
        TARGET: 'x.xlsx',
        SCHEDULE: 'x',
        REMINDER_TO: 'x',
      },
    });
    expect(config.http.port).toBe(4000);
    expect(config.connections).toHaveLength(1);
    expect(config.connections[0]?.leads.baseUrl).toBe('https://api.example.com');
  });

  test('--config goes before LEADSYNC_CONFIG, which goes before leadsync.yaml; paths are relative to the file', async () => {
    await load(connection(''), { at: 'two/b.yaml', file: 'two/b.yaml' });
    await writeFile(join(folder(), 'leadsync.yaml'), 'connections: nonsense');
    const both = { ...env, LEADSYNC_CONFIG: join(folder(), 'one/a.yaml') };
    const byVariable = await load(connection(''), { at: 'one/a.yaml', env: both });
    expect(byVariable.connections[0]?.target).toMatchObject({ path: join(folder(), 'one/a.csv') });
    const byOption = await loadConfig({ env: both, cwd: folder(), file: 'two/b.yaml' });
    expect(byOption.connections[0]?.target).toMatchObject({ path: join(folder(), 'two/a.csv') });
  });

  test('a named file that is missing is a mistake, not an empty configuration', async () => {
    const error = await loadConfig({ env: {}, cwd: folder(), file: 'no.yaml' }).catch(
      (thrown: unknown) => thrown,
    );
    expect(error).toMatchObject({
      code: 'config.invalid',
      mistakes: [{ where: 'no.yaml', message: expect.stringContaining('no such file') }],
    });
  });

  test('a file that is not UTF-8 is refused: headings would not be found', async () => {
    expect(await mistakesOf(Buffer.from('connections: {} # \xfc', 'latin1'))).toMatchObject([
      { message: expect.stringContaining('UTF-8') },
    ]);
  });

  test('aliases share settings', async () => {
    const config = await load(
      `${connection('    fields: &f { city: Town }')}  b:\n    leads: { baseUrl: https://x, apiKey: k }\n    target: { type: workbook, path: b.csv }\n    fields: *f\n`,
    );
    expect(config.connections[1]?.fields).toEqual(config.connections[0]?.fields);
  });
});

test('a list of values is offered; a map of them also says what the service calls them, in any kind of table', async () => {
  const lines = (target?: string) =>
    connection(
      '    fields:\n      stage: { column: Phase, values: { neu: new, "Angebot, mündlich": proposal } }\n      region: { column: Land, direction: to-leads, values: { BY: south, BW: south } }',
      target,
    );
  for (const target of [undefined, '{ type: workbook, path: a.xlsx }']) {
    const { connections } = await load(lines(target));
    expect(connections[0]?.fields.map(({ values, words }) => ({ values, words }))).toEqual([
      {
        values: ['neu', 'Angebot, mündlich'],
        words: [
          ['neu', 'new'],
          ['Angebot, mündlich', 'proposal'],
        ],
      },
      {
        values: ['BY', 'BW'],
        words: [
          ['BY', 'south'],
          ['BW', 'south'],
        ],
      },
    ]);
  }
  const list = connection(
    '    fields:\n      stage: { column: Stage, values: [new, won] }',
    '{ type: workbook, path: a.xlsx }',
  );
  const { connections } = await load(list);
  expect(connections[0]?.fields).toEqual([
    { field: 'stage', column: 'Stage', type: 'text', direction: 'two-way', values: ['new', 'won'] },
  ]);
});

describe('${NAME}', () => {
  test('takes values from variables and from NAME_FILE, also inside a text; $${ is literal', async () => {
    await writeFile(join(folder(), 'key'), 'from-file\n');
    const config = await load(
      connection('    fields: { city: "$${X} ${A}-${A}" }').replace('${LEADS_API_KEY}', '${KEY}'),
      { env: { KEY_FILE: join(folder(), 'key'), A: '${B}' } },
    );
    expect(config.connections[0]?.leads.apiKey.reveal()).toBe('from-file');
    expect(config.connections[0]?.fields[0]?.column).toBe('${X} ${B}-${B}');
  });

  test('may give numbers', async () => {
    const added = '    sync: { limits: { maxDeletes: "${MAX}" } }';
    const content = connection(added).replace('baseUrl:', 'pageSize: "${SIZE}", baseUrl:');
    const config = await load(content, { env: { ...env, SIZE: '50', MAX: '7' } });
    expect(config.connections[0]?.leads.pageSize).toBe(50);
    expect(config.connections[0]?.sync.limits.maxDeletes).toEqual({ amount: 7, percent: false });
  });

  test('unknown names, other forms and unreadable files are mistakes, each once', async () => {
    const content = connection(
      '    sync:\n      schedule: "${SCHEDUL}"\n      timeZone: "${TZ:-UTC}"\n      direction: "${DIR}"',
    );
    const mistakes = await mistakesOf(content, {
      env: { ...env, SCHEDULE: '0 2 * * *', DIR_FILE: '/no/such' },
    });
    expect(mistakes).toEqual([
      { where: 'DIR_FILE', path: '', found: '"/no/such"', message: expect.stringContaining('no such file') },
      {
        where: 'leadsync.yaml',
        line: 6,
        path: 'connections.a.sync.schedule',
        message: 'needs the environment variable SCHEDUL, which is not set or empty; did you mean SCHEDULE?',
      },
      {
        where: 'leadsync.yaml',
        line: 7,
        path: 'connections.a.sync.timeZone',
        message: expect.stringContaining('${NAME}'),
      },
    ]);
  });

  test('a secret in the wrong place is not shown; another value is', async () => {
    const content = connection('    sync:\n      schedule: "${LEADS_API_KEY}"\n      timeZone: "${ZONE}"');
    expect(await mistakesOf(content, { env: { ...env, ZONE: 'Nowhere/Land' } })).toMatchObject([
      { line: 6, found: '[secret]' },
      { line: 7, found: '"Nowhere/Land"' },
    ]);
  });
});
