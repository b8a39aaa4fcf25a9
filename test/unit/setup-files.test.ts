import { mkdtempSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { loadConfig } from '../../src/config/load.ts';
import { Secret } from '../../src/config/secret.ts';
import { headingKey } from '../../src/config/values.ts';
import type { Answers } from '../../src/setup/answers.ts';
import { setupFiles } from '../../src/setup/setup-files.ts';
import { lawRuns } from '../support/law-runs.ts';

const folder = mkdtempSync(join(tmpdir(), 'leadsync-setup-'));
mkdirSync(join(folder, 'secrets'));
afterAll(() => rmSync(folder, { recursive: true }));

const plain: Answers = {
  connection: 'default',
  leadsUrl: 'https://api.example.com',
  leadsKey: { value: new Secret('key-of-the-service') },
  target: { type: 'workbook', path: join(folder, 'Kunden 2026.xlsx'), sheet: 'Tabelle1' },
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
      # Rows without an id that may be leads: \`leadsync match\` lists them, and you decide.
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
const target = fc.oneof(
  fc.constant({ type: 'workbook' as const, path: join(folder, 'a b', 'leads.csv') }),
  fc.constant({ type: 'workbook' as const, path: "/srv/it's/leads.xlsx", sheet: "Q4 'x' y" }),
  fc.constant({
    type: 'google-sheets' as const,
    spreadsheet: '1AbC',
    tab: 'Leads #1',
    credentials: join(folder, 'account.json'),
  }),
  secret.map((token) => ({ type: 'hubspot' as const, token })),
  fc.constant({
    type: 'postgres-table' as const,
    url: { value: new Secret('postgres://u:p%40ssw0rd@db/crm') },
    table: 'crm.leads',
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
        const { connections, googleCredentials, dataDir } = await loadConfig({
          env: {},
          cwd: '/',
          file: join(folder, 'leadsync.yaml'),
        });
        expect(dataDir).toBe(join(folder, 'data'));
        const [found] = connections;
        expect(found?.leads.apiKey.reveal()).toBe(answers.leadsKey.value.reveal());
        expect(found?.fields.map(({ field, column }) => [field, column])).toEqual(answers.fields);
        expect(found?.sync).toMatchObject({
          timeZone: 'Europe/Berlin',
          match: answers.hasRows ? 'propose' : 'off',
        });
        expect(found?.reminders?.rules.to ?? []).toEqual(answers.recipients);
        const { type, ...where } = answers.target;
        expect(found?.target).toMatchObject({ type, idColumn: answers.idColumn });
        if ('path' in where) expect(found?.target).toMatchObject(where);
        if ('credentials' in where) expect(googleCredentials).toBe(where.credentials);
        if ('url' in where) expect(found?.target).toMatchObject({ url: where.url.value, table: where.table });
      }),
      { numRuns: lawRuns(150) },
    );
    expect(readFileSync(join(folder, 'leadsync.yaml'), 'utf8')).not.toBe('');
  });
});
