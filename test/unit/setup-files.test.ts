import { mkdtempSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { loadConfig } from '../../src/config/load.ts';
import { Secret } from '../../src/config/secret.ts';
import { headingKey } from '../../src/core/lead/heading-line.ts';
import type { Answers, TargetAnswer } from '../../src/setup/answers.ts';
import { setupFiles } from '../../src/setup/setup-files.ts';
import { lawRuns } from '../support/law-runs.ts';

const folder = mkdtempSync(join(tmpdir(), 'leadsync-setup-'));
mkdirSync(join(folder, 'secrets'));
afterAll(() => rmSync(folder, { recursive: true }));

const plain: Answers = {
  connection: 'default',
  leadsUrl: 'https://api.example.com',
  leadsKey: { value: new Secret('key-of-the-service') },
  target: {
    type: 'workbook',
    settings: { path: { file: join(folder, 'Kunden 2026.xlsx') }, sheet: 'Tabelle1' },
    variables: new Map(),
  },
  idColumn: 'Lead ID',
  fields: [
    ['companyName', 'Firma'],
    ['nextFollowUpAt', 'Wiedervorlage'],
  ],
  hasRows: true,
  schedule: '0 2 * * *',
  timeZone: 'Europe/Berlin',
  recipients: ['anna@example.com', 'ben@example.com'],
  sender: 'Sales <sales@example.com>',
  smtpUrl: { value: new Secret('smtp://anna:s3cret@mail.example.com:587'), file: '/etc/mail key' },
};

test('a file as people read it', () => {
  const { yaml, env, secrets } = setupFiles(plain, folder);
  expect(yaml).toBe(`# Every setting: docs/settings.md. What \${…} names is in leadsync.env.

connections:
  default:
    leads:
      baseUrl: https://api.example.com
      apiKey: "\${LEADS_API_KEY}"
    target:
      type: workbook
      path: ./Kunden 2026.xlsx
      sheet: Tabelle1
      idColumn: Lead ID
    # Lead field: heading of its column. What is not here is left alone on both sides.
    fields:
      companyName: Firma
      nextFollowUpAt: Wiedervorlage
    sync:
      # minute hour day-of-month month day-of-week
      schedule: 0 2 * * *
      timeZone: Europe/Berlin
      # Rows without an id that may be leads: \`leadsync conflicts\` lists them, and you decide.
      match: propose
    # Mails about follow-ups that are due; quiet hours, digests, chats: docs/reminders.md
    reminders:
      from: Sales <sales@example.com>
      to: [ anna@example.com, ben@example.com ]
`);
  expect(env.split('\n').slice(2)).toEqual([
    'LEADS_API_KEY_FILE=secrets/leads-api-key',
    "SMTP_URL_FILE='/etc/mail key'",
    'DATA_DIR=data',
    '',
  ]);
  expect([...secrets]).toEqual([['secrets/leads-api-key', 'key-of-the-service\n']]);
});

const key = fc.string({
  unit: fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code)),
  minLength: 12,
});
const secret = key.map((value) => ({ value: new Secret(`key-${value}`) }));
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
/** A kind of place, its settings, and those that a variable holds. */
const place = (
  type: TargetAnswer['type'],
  settings: TargetAnswer['settings'],
  kept: Readonly<Record<string, string>> = {},
) =>
  secret.map(
    (key): TargetAnswer => ({
      type,
      settings: {
        ...settings,
        ...Object.fromEntries(Object.entries(kept).map(([name, variable]) => [name, { variable }])),
      },
      variables: new Map(Object.values(kept).map((variable) => [variable, key])),
    }),
  );
const database = { value: new Secret('postgres://u:p%40ssw0rd@db/crm') };
const target = fc.oneof(
  place('workbook', { path: { file: join(folder, 'a b', 'leads.csv') } }),
  place('workbook', { path: { file: "/srv/it's/leads.xlsx" }, sheet: "Q4 'x' y" }),
  place(
    'workbook',
    { path: 'https://cloud.example.com/dav/a%20b/leads.xlsx', user: "o'neil" },
    { password: 'WEBDAV_PASSWORD' },
  ),
  place('workbook', { path: 'https://cloud.example.com/leads.csv' }, { accessToken: 'WEBDAV_TOKEN' }),
  fc.constant<TargetAnswer>({
    type: 'workbook',
    settings: { drive: 'b!x', path: 'Sales/leads.xlsx' },
    variables: new Map([['MSGRAPH_TENANT', 'contoso.onmicrosoft.com']]),
  }),
  fc.constant<TargetAnswer>({
    type: 'google-sheets',
    settings: { spreadsheet: '1AbC', tab: 'Leads #1' },
    variables: new Map([['GOOGLE_APPLICATION_CREDENTIALS', join(folder, 'account.json')]]),
  }),
  place('hubspot', {}, { token: 'HUBSPOT_TOKEN' }),
  fc.constant<TargetAnswer>({
    type: 'postgres-table',
    settings: { url: { variable: 'POSTGRES_TABLE_URL' }, table: 'crm.leads' },
    variables: new Map([['POSTGRES_TABLE_URL', database]]),
  }),
);
const anyAnswers: fc.Arbitrary<Answers> = fc
  .record({
    leadsKey: secret,
    target,
    columns: fc.uniqueArray(name, { minLength: 2, maxLength: 6, selector: headingKey }),
    hasRows: fc.boolean(),
    isReminded: fc.boolean(),
  })
  .map(({ columns, isReminded, ...others }) => {
    const isHubSpot = others.target.type === 'hubspot';
    const usable = isHubSpot ? columns.map((_, index) => `property_${index}`) : columns;
    const [idColumn = '', ...rest] = usable;
    const fields = ['nextFollowUpAt', 'companyName', 'city', 'notes', 'owner'];
    const mapped = rest.map((column, index) => [fields[index] ?? `f${index}`, column] as const);
    return {
      ...plain,
      ...others,
      idColumn,
      fields: mapped,
      recipients: isReminded ? plain.recipients : [],
      smtpUrl: null,
    };
  });

describe('law: what was answered is what is configured', () => {
  test('for any answers; no secret is in leadsync.yaml and leadsync.env', async () => {
    await fc.assert(
      fc.asyncProperty(anyAnswers, async (answers) => {
        const { yaml, env, secrets } = setupFiles(answers, folder);
        writeFileSync(join(folder, 'leadsync.yaml'), yaml);
        writeFileSync(join(folder, 'leadsync.env'), env);
        for (const [path, content] of secrets) {
          writeFileSync(join(folder, path), content);
          expect(yaml + env).not.toContain(content.trim());
        }
        const config = await loadConfig({ env: {}, cwd: '/', file: join(folder, 'leadsync.yaml') });
        const { connections, googleCredentials, msgraph, dataDir } = config;
        expect(dataDir).toBe(join(folder, 'data'));
        const [found] = connections;
        expect(found?.leads.apiKey.reveal()).toBe(answers.leadsKey.value.reveal());
        expect(found?.fields.map(({ field, column }) => [field, column])).toEqual(answers.fields);
        expect(found?.sync).toMatchObject({
          timeZone: 'Europe/Berlin',
          match: answers.hasRows ? 'propose' : 'off',
        });
        expect(found?.reminders?.rules.to ?? []).toEqual(answers.recipients);
        const { type, settings, variables } = answers.target;
        const read = Object.entries(settings).map(([name, setting]) => {
          if (typeof setting === 'string') return [name === 'spreadsheet' ? 'spreadsheetId' : name, setting];
          if ('file' in setting) return [name, setting.file];
          const kept = variables.get(setting.variable);
          return [name, typeof kept === 'object' ? kept.value : kept];
        });
        expect(found?.target).toMatchObject({
          type,
          idColumn: answers.idColumn,
          ...Object.fromEntries(read),
        });
        expect(googleCredentials).toBe(variables.get('GOOGLE_APPLICATION_CREDENTIALS'));
        expect(msgraph.tenant).toBe(variables.get('MSGRAPH_TENANT'));
      }),
      { numRuns: lawRuns(150) },
    );
    expect(readFileSync(join(folder, 'leadsync.yaml'), 'utf8')).not.toBe('');
  });
});
