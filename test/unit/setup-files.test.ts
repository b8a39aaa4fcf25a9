import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { loadConfig } from '../../src/config/load.ts';
import { headingKey } from '../../src/core/lead/mapping.ts';
import {
  type Answers,
  assertLoads,
  filesToWrite,
  setupFiles,
  writeSetup,
} from '../../src/setup/setup-files.ts';
import { schemaPath } from '../../src/lib/version.ts';
import { lawRuns } from '../support/law-runs.ts';

const folder = mkdtempSync(join(tmpdir(), 'leadsync-setup-'));
const yamlFile = join(folder, 'leadsync.yaml');
afterAll(() => rmSync(folder, { recursive: true }));

const plain: Answers = {
  connection: 'default',
  env: {
    LEADS_BASE_URL: 'https://api.example.com',
    LEADS_API_KEY: 'key-of-the-service',
    TARGET: join(folder, 'Kunden 2026.xlsx'),
    SMTP_URL_FILE: '/etc/mail key',
    REMINDER_TO: 'anna@example.com, ben@example.com',
    REMINDER_FROM: 'Sales <sales@example.com>',
    TZ_NAME: 'Europe/Berlin',
    LANG: 'de_DE.UTF-8',
  },
  part: 'Tabelle1',
  idColumn: 'Lead ID',
  fields: [
    ['companyName', 'Firma'],
    ['nextFollowUpAt', 'Wiedervorlage'],
  ],
  hasRows: true,
};

test('a file as people read it', () => {
  const files = Object.fromEntries(
    [...setupFiles(plain, yamlFile)].map(([path, content]) => [path.slice(folder.length + 1), content]),
  );
  expect(files['leadsync.yaml']).toBe(`# yaml-language-server: $schema=${schemaPath(folder)}
# Every setting: docs/settings.md. What \${…} names is in leadsync.env.

connections:
  default:
    leads:
      baseUrl: https://api.example.com
      apiKey: \${LEADS_API_KEY}
    target:
      type: workbook
      path: ./Kunden 2026.xlsx
      sheet: Tabelle1
      idColumn: Lead ID
    fields:
      companyName: Firma
      nextFollowUpAt: Wiedervorlage
    sync:
      schedule: 0 2 * * *
      timeZone: Europe/Berlin
      match: propose
      onLeadDeleted: ask
      onRowDeleted: ask
    reminders:
      from: Sales <sales@example.com>
      to:
        - anna@example.com
        - ben@example.com
      language: de
`);
  expect(files['leadsync.env']?.split('\n').slice(1)).toEqual([
    'LEADS_API_KEY_FILE=secrets/leads-api-key',
    "SMTP_URL_FILE='/etc/mail key'",
    'DATA_DIR=data',
    '',
  ]);
  expect(files['secrets/leads-api-key']).toBe('key-of-the-service\n');
});

test.each([
  [{}, 'en'],
  [{ LANG: 'de_AT.UTF-8' }, 'de'],
  [{ LANG: 'de_DE', LC_ALL: 'en_GB.UTF-8' }, 'en'],
  [{ LANG: 'den_CA' }, 'en'],
  [{ LC_MESSAGES: 'de', LANG: 'C' }, 'de'],
])('the language of mails is that of the locale: %j', async (locale, language) => {
  const { LANG: _, SMTP_URL_FILE: __, ...env } = plain.env;
  const files = setupFiles({ ...plain, env: { ...env, ...locale } }, yamlFile);
  expect(/language: (.*)/.exec(files.get(yamlFile) ?? '')?.[1] ?? 'en').toBe(language);
});

const key = fc.string({
  unit: fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code)),
  minLength: 12,
});
const name = fc
  .oneof(
    fc.string({ minLength: 1 }),
    fc.constantFrom(
      '${HOME}',
      '$${X}',
      'Next\nfollow-up',
      '- a',
      'a: b',
      '#x',
      'yes',
      'null',
      '1',
      "it's",
      '"',
      '*a',
      '&b',
    ),
  )
  .filter((text) => text.trim() !== '' && text.isWellFormed() && !/\p{Cc}(?<!\n)/u.test(text));
/** A place, what is expected of its settings, and the variables that it needs: secrets get a value of their own. */
const places: readonly (readonly [env: NodeJS.ProcessEnv, settings: object, secrets: readonly string[]])[] = [
  [{ TARGET: join(folder, 'a b', 'leads.csv') }, { path: join(folder, 'a b', 'leads.csv') }, []],
  [{ TARGET: "/srv/it's/leads.csv" }, { path: "/srv/it's/leads.csv" }, []],
  [
    { TARGET: 'https://cloud.example.com/dav/a%20b/leads.csv', WEBDAV_USER: "o'neil" },
    { path: 'https://cloud.example.com/dav/a%20b/leads.csv', user: "o'neil" },
    ['WEBDAV_PASSWORD'],
  ],
  [
    {
      TARGET: 'msgraph:b!x/Sales/leads.xlsx',
      MSGRAPH_TENANT: 'contoso.onmicrosoft.com',
      MSGRAPH_CLIENT_ID: '9a1f5b4e-6a0c-4b6e-8d2d-0c1b2a3d4e5f',
    },
    { drive: 'b!x', path: 'Sales/leads.xlsx' },
    ['MSGRAPH_CLIENT_SECRET'],
  ],
  [
    { TARGET: 'google-sheets:1AbC', GOOGLE_APPLICATION_CREDENTIALS: join(folder, 'account.json') },
    { type: 'google-sheets', spreadsheetId: '1AbC' },
    [],
  ],
  [
    {
      TARGET: 'https://docs.google.com/spreadsheets/d/1AbC/edit#gid=0',
      GOOGLE_APPLICATION_CREDENTIALS: join(folder, 'account.json'),
    },
    { type: 'google-sheets', spreadsheetId: '1AbC' },
    [],
  ],
  [{ TARGET: 'hubspot' }, { type: 'hubspot' }, ['HUBSPOT_TOKEN']],
  [
    { TARGET: 'postgres-table:crm.leads', POSTGRES_TABLE_URL: 'postgres://u:p%40ssw0rd@db/crm' },
    { type: 'postgres-table', table: 'crm.leads' },
    [],
  ],
];

test('law: what was answered is what is configured, and no secret is in leadsync.yaml or leadsync.env', async () => {
  const answers = fc.record({
    place: fc.constantFrom(...places),
    columns: fc.uniqueArray(name, { minLength: 2, maxLength: 6, selector: headingKey }),
    secrets: fc.array(key, { minLength: 2, maxLength: 2 }),
    hasRows: fc.boolean(),
    isReminded: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(answers, async ({ place, columns, secrets: made, hasRows, isReminded }) => {
      const [variables, settings, needed] = place;
      const [leadsKey = '', placeKey = ''] = made.map((secret) => `key-${secret}`);
      const { REMINDER_FROM: _, SMTP_URL_FILE: __, REMINDER_TO, ...rest } = plain.env;
      const env: NodeJS.ProcessEnv = {
        ...rest,
        ...variables,
        LEADS_API_KEY: leadsKey,
        ...Object.fromEntries(needed.map((secret) => [secret, placeKey])),
        ...(isReminded && { REMINDER_TO }),
      };
      const { TARGET, GOOGLE_APPLICATION_CREDENTIALS, MSGRAPH_TENANT } = env;
      const usable = TARGET === 'hubspot' ? columns.map((_one, index) => `property_${index}`) : columns;
      const [idColumn = '', ...headings] = usable;
      const names = ['nextFollowUpAt', 'companyName', 'city', 'notes', 'owner'];
      const fields = headings.map((column, index) => [names[index] ?? `f${index}`, column] as const);
      const files = setupFiles({ ...plain, env, part: undefined, idColumn, fields, hasRows }, yamlFile);
      for (const file of ['leadsync.yaml', 'leadsync.env'])
        for (const secret of [leadsKey, placeKey])
          expect(files.get(join(folder, file))).not.toContain(secret);
      await assertLoads(files, yamlFile, env);
      for (const [path, content] of files) {
        mkdirSync(join(path, '..'), { recursive: true });
        writeFileSync(path, content);
      }
      const config = await loadConfig({ env: {}, cwd: '/', file: yamlFile });
      const [found] = config.connections;
      expect(config.dataDir).toBe(join(folder, 'data'));
      expect(found?.leads.apiKey.reveal()).toBe(leadsKey);
      expect(found?.fields.map(({ field, column }) => [field, column])).toEqual(fields);
      expect(found?.sync).toMatchObject({ timeZone: 'Europe/Berlin', match: hasRows ? 'propose' : 'off' });
      expect(found?.reminders?.rules.to ?? []).toEqual(
        isReminded ? ['anna@example.com', 'ben@example.com'] : [],
      );
      expect(found?.target).toMatchObject({ ...settings, idColumn });
      expect(config.googleCredentials).toBe(GOOGLE_APPLICATION_CREDENTIALS);
      expect(config.msgraph.tenant).toBe(MSGRAPH_TENANT);
      rmSync(folder, { recursive: true });
      mkdirSync(folder);
    }),
    { numRuns: lawRuns(100) },
  );
});

const modeOf = (path: string) => (statSync(join(folder, path)).mode & 0o777).toString(8);

test('only the owner can read what is written, git ignores it, and what is replaced is kept', async () => {
  const files = setupFiles(plain, yamlFile);
  // As somebody may have made it.
  mkdirSync(join(folder, 'secrets'), { mode: 0o755 });
  writeFileSync(join(folder, 'secrets/leads-api-key'), 'key-of-the-service\n');
  expect(await filesToWrite(files, true)).toEqual([]);
  const written = await writeSetup(files);
  expect(written.map((path) => path.slice(folder.length + 1))).toEqual([
    'secrets/.gitignore',
    'data/.gitignore',
    'leadsync.env',
    'leadsync.yaml',
  ]);
  expect(['secrets', 'data', 'leadsync.env', 'leadsync.yaml'].map(modeOf)).toEqual([
    '700',
    '700',
    '600',
    '600',
  ]);
  expect(await writeSetup(files)).toEqual([]);

  writeFileSync(yamlFile, 'mine\n');
  expect(await filesToWrite(files, true)).toEqual([yamlFile]);
  expect(await writeSetup(files)).toEqual([yamlFile]);
  const [old = ''] = readdirSync(folder).filter((one) => one.startsWith('leadsync.yaml.old-'));
  expect(readFileSync(join(folder, old), 'utf8')).toBe('mine\n');
  expect(readFileSync(yamlFile, 'utf8')).toBe(files.get(yamlFile));
});

test('a folder that is a file is a fault', async () => {
  writeFileSync(join(folder, 'file'), '');
  const files = setupFiles(plain, join(folder, 'file', 'leadsync.yaml'));
  await expect(writeSetup(files)).rejects.toMatchObject({
    code: 'setup.not-written',
    message: expect.stringContaining('none of its files was'),
  });
});
