import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Config } from '../../src/config/config.ts';
import { ConfigError, type Mistake } from '../../src/config/config-error.ts';
import { loadConfig } from '../../src/config/load.ts';
import { LeadsyncError } from '../../src/errors.ts';
import { defaultFields } from '../../src/core/lead/mapping.ts';

const minimal = {
  LEADS_BASE_URL: 'https://api.example.com/',
  LEADS_API_KEY: 'top-secret',
  TARGET: 'leads.csv',
};

let cwd: string;
beforeEach(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'leadsync-config-'));
});
afterEach(() => rm(cwd, { recursive: true }));

function load(env: NodeJS.ProcessEnv): Promise<Config> {
  return loadConfig({ env, cwd });
}

async function mistakesOf(env: NodeJS.ProcessEnv): Promise<readonly Mistake[]> {
  const error = await load(env).catch((thrown: unknown) => thrown);
  if (!(error instanceof ConfigError)) throw new Error('a ConfigError was expected', { cause: error });
  expect(error.code).toBe('config.invalid');
  expect(JSON.stringify([error.message, error.mistakes, error.help])).not.toMatch(
    /secret-|top-secret|geheim/,
  );
  return error.mistakes;
}

describe('the environment alone', () => {
  test('three variables are enough; everything else has its documented default', async () => {
    const config = await load(minimal);
    expect(config).toEqual({
      configured: ['default'],
      connections: [
        {
          name: 'default',
          leads: {
            baseUrl: 'https://api.example.com',
            apiKey: expect.anything(),
            pageSize: 1000,
            query: {},
          },
          target: { type: 'workbook', path: join(cwd, 'leads.csv'), idColumn: 'Lead ID', timeZone: 'UTC' },
          fields: defaultFields,
          sync: {
            schedule: '0 2 * * *',
            timeZone: 'UTC',
            direction: 'two-way',
            onConflict: 'hold',
            onFirstSync: 'hold',
            onLeadDeleted: 'mark',
            onRowDeleted: 'restore',
            match: 'off',
            matchBy: ['companyName', 'city'],
            limits: {
              maxDeletes: { amount: 10, percent: true },
              maxChanges: { amount: 50, percent: true },
            },
          },
          retentionDays: 90,
        },
      ],
      googleSheetsUrl: 'https://sheets.googleapis.com',
      hubspotUrl: 'https://api.hubapi.com',
      dataDir: join(cwd, 'data'),
      http: { host: '127.0.0.1', port: 3000 },
      logLevel: 'info',
      databasePoolMax: 20,
      redisPrefix: 'leadsync',
    });
    expect(config.connections[0]?.leads.apiKey.reveal()).toBe('top-secret');
    expect(JSON.stringify(config)).not.toContain('top-secret');
  });

  test('every variable arrives', async () => {
    const config = await load({
      ...minimal,
      DATABASE_URL: 'postgres://u:p@h/d',
      DATA_DIR: '/var/lib/leadsync',
      SMTP_URL: 'smtps://u:p@mail:465',
      SMTP_RATE: '0.5',
      REMINDER_FROM: 'Sales <sales@example.com>',
      REMINDER_TO: 'anna@example.com, ben@example.com,',
      SCHEDULE: '30 1 * * 1-5',
      TZ_NAME: 'Europe/Berlin',
      DIRECTION: 'to-target',
      RETENTION: '365d',
      HOST: '0.0.0.0',
      PORT: '0',
      ADMIN_TOKEN: 'sixteen-and-more',
      LOG_LEVEL: 'debug',
    });
    const [connection] = config.connections;
    expect(config.databaseUrl?.reveal()).toBe('postgres://u:p@h/d');
    expect(config.smtpUrl?.reveal()).toBe('smtps://u:p@mail:465');
    expect(config.smtpRate).toBe(0.5);
    expect(config.dataDir).toBe('/var/lib/leadsync');
    expect(config.http).toMatchObject({ host: '0.0.0.0', port: 0 });
    expect(config.http.adminToken?.reveal()).toBe('sixteen-and-more');
    expect(config.logLevel).toBe('debug');
    expect(connection?.sync).toMatchObject({
      schedule: '30 1 * * 1-5',
      timeZone: 'Europe/Berlin',
      direction: 'to-target',
    });
    expect(connection?.retentionDays).toBe(365);
    expect(connection?.target).toMatchObject({ timeZone: 'Europe/Berlin' });
    expect(connection?.fields.map((field) => field.direction)).toEqual(defaultFields.map(() => 'to-target'));
    expect(connection?.reminders).toEqual({
      from: 'Sales <sales@example.com>',
      rules: {
        timeZone: 'Europe/Berlin',
        before: [{ text: '0m', days: 0, ms: 0 }],
        quietHours: null,
        workingDays: [1, 2, 3, 4, 5, 6, 7],
        graceMs: 86_400_000,
        skipStages: [],
        onlyStages: null,
        to: ['anna@example.com', 'ben@example.com'],
        routes: [],
        toField: null,
        digestAt: null,
      },
      calendar: false,
      leadUrl: null,
      templates: null,
      onUnknown: 'resend',
    });
  });

  test('an empty variable counts as unset', async () => {
    const config = await load({
      ...minimal,
      REMINDER_TO: '',
      PORT: '',
      DATABASE_URL: '',
      LEADSYNC_CONFIG: '',
    });
    expect(config.http.port).toBe(3000);
    expect(config.databaseUrl).toBeUndefined();
    expect(config.connections[0]?.reminders).toBeUndefined();
  });

  test('the sender has a default only while mails stay on this machine', async () => {
    const env = { ...minimal, REMINDER_TO: 'anna@example.com' };
    expect((await load(env)).connections[0]?.reminders?.from).toBe('leadsync@localhost');
    expect(await mistakesOf({ ...env, SMTP_URL: 'smtp://mail' })).toMatchObject([{ where: 'REMINDER_FROM' }]);
  });

  test('the whole configuration is frozen', async () => {
    const frozen = (value: unknown): boolean =>
      typeof value !== 'object' ||
      value === null ||
      (Object.isFrozen(value) && Object.values(value).every(frozen));
    expect(frozen(await load({ ...minimal, REMINDER_TO: 'anna@example.com' }))).toBe(true);
  });
});

describe('mistakes in the environment', () => {
  test('nothing set at all is its own error and shows how to begin', async () => {
    const error = await load({ PORT: 'x' }).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(LeadsyncError);
    expect(error).toMatchObject({
      code: 'config.missing',
      help: expect.stringMatching(/LEADS_BASE_URL=[^]*LEADS_API_KEY=[^]*TARGET=[^]*demo/),
    });
  });

  test('what is missing is named, with what it is for and what may have been meant', async () => {
    const mistakes = await mistakesOf({ TARGET: 'leads.csv', LEADS_BASEURL: 'https://api.example.com' });
    expect(mistakes).toMatchObject([
      { where: 'LEADS_BASE_URL', path: '', message: expect.stringContaining('LEADS_BASEURL is set') },
      { where: 'LEADS_API_KEY', path: '', message: expect.stringContaining('is missing') },
    ]);
    expect(mistakes[0]).not.toHaveProperty('found');
  });

  test.each([
    ['LEADS_BASE_URL', 'api.example.com', '"api.example.com"', 'absolute'],
    ['LEADS_BASE_URL', 'http://api.example.com', '"http://api.example.com"', 'https://'],
    ['LEADS_BASE_URL', 'https://anna:geheim@api.example.com', '[secret]', 'user name'],
    ['LEADS_BASE_URL', 'htps://anna:geheim@api.example.com', '[secret]', 'absolute'],
    ['LEADS_BASE_URL', 'https://api.example.com/?key=geheim', '[secret]', 'no "?"'],
    ['LEADS_API_KEY', 'secret-\n1', '[secret]', 'one line'],
    ['TARGET', 'leads.xls', '"leads.xls"', 'no target of a known kind; supported: a path ending in .xlsx'],
    ['TARGET', 'google-sheets:a b/Leads', '"a b"', 'must be the address of a spreadsheet'],
    ['TARGET', 'hubspot:deals', '"hubspot:deals"', 'no target of a known kind'],
    ['TARGET', 'postgres-table', '"postgres-table"', 'no target of a known kind'],
    ['TARGET', 'leads', '"leads"', 'a path ending in .xlsx, .xlsm or .csv'],
    ['DATABASE_URL', 'mysql://u:geheim@h/d', '[secret]', 'postgres://'],
    ['DATABASE_URL', 'postgres://u:ge#heim-geheim@h/d', '[secret]', '%23'],
    ['REDIS_URL', 'redis://geheim@h', '[secret]', 'a user without a password'],
    ['REDIS_PREFIX', 'a:b', '"a:b"', 'letters, digits'],
    ['SMTP_URL', 'http://mail', '[secret]', 'smtp://'],
    ['SMTP_URL', 'smtp://u:100%zz-geheim@mail', '[secret]', '%25'],
    ['SMTP_RATE', '0', '"0"', 'above 0'],
    ['DATABASE_POOL_MAX', '7', '"7"', 'from 8 to 999'],
    ['SMTP_RATE', 'fast', '"fast"', 'mails a second'],
    ['SCHEDULE', '0 2 * *', '"0 2 * *"', 'five fields'],
    ['TZ_NAME', 'Europe/Berln', '"Europe/Berln"', 'did you mean "Europe/Berlin"?'],
    ['DIRECTION', 'twoway', '"twoway"', 'two-way, to-target, to-leads; did you mean "two-way"?'],
    ['REMINDER_TO', 'anna@example.com,ben', '"ben"', 'e-mail'],
    ['REMINDER_TO', 'a@example.com,A@example.com', 'a list', 'twice'],
    ['HOST', 'not a host', '"not a host"', 'host name'],
    ['PORT', '65536', '"65536"', '0 to 65535'],
    ['PORT', '3000x', '"3000x"', '0 to 65535'],
    ['ADMIN_TOKEN', 'geheim geheim', '[secret]', 'no blanks'],
    ['LOG_LEVEL', 'verbose', '"verbose"', 'fatal, error, warn, info, debug, trace, silent'],
  ])('%s=%j', async (variable, value, found, message) => {
    expect(await mistakesOf({ ...minimal, [variable]: value })).toEqual([
      { where: variable, path: '', found, message: expect.stringContaining(message) },
    ]);
  });

  test.each(['0.0.0.0', '::', '192.168.1.5', 'leadsync.internal'])(
    'on %s a token that can be guessed is refused, with the command that makes a good one',
    async (HOST) => {
      for (const ADMIN_TOKEN of ['change-me', 'geheim-geheim-g'])
        expect(await mistakesOf({ ...minimal, HOST, ADMIN_TOKEN })).toEqual([
          {
            where: 'ADMIN_TOKEN',
            path: '',
            found: '[secret]',
            message: expect.stringMatching(/at least 16 characters on HOST .*: node -p/),
          },
        ]);
      const { http } = await load({ ...minimal, HOST, ADMIN_TOKEN: 'geheim-geheim-ge' });
      expect(http.adminToken?.reveal()).toBe('geheim-geheim-ge');
    },
  );

  test.each(['127.0.0.1', '::1', 'localhost'])('on %s any token is taken', async (HOST) => {
    const { http } = await load({ ...minimal, HOST, ADMIN_TOKEN: 'x' });
    expect(http.adminToken?.reveal()).toBe('x');
  });

  test('all are listed at once, each on a line of the message', async () => {
    const env = {
      LEADS_API_KEY: 'top-secret',
      TARGET: 'a.xls',
      PORT: 'x',
      LOG_LEVEL: 'x',
      SCHEDULE: 'x',
      REDIS_URL: 'x',
    };
    const error = await load(env).catch((thrown: unknown) => thrown);
    if (!(error instanceof ConfigError)) throw new Error('a ConfigError was expected', { cause: error });
    const variables = ['LEADS_BASE_URL', 'LOG_LEVEL', 'PORT', 'REDIS_URL', 'SCHEDULE', 'TARGET'];
    expect(error.mistakes.map(({ where }) => where).toSorted()).toEqual(variables);
    for (const variable of variables) expect(error.message).toMatch(new RegExp(`^ +${variable}: `, 'm'));
    expect(error.retry).toBe('never');
  });
});

describe('secrets from files', () => {
  test.each(['LEADS_API_KEY', 'DATABASE_URL', 'REDIS_URL', 'SMTP_URL', 'ADMIN_TOKEN'])(
    '%s_FILE, without its last line break',
    async (name) => {
      const protocols: Readonly<Record<string, string>> = {
        DATABASE_URL: 'postgres',
        REDIS_URL: 'redis',
        SMTP_URL: 'smtp',
      };
      const value = name in protocols ? `${protocols[name]}://u:secret-1@h/0` : 'secret-1';
      const file = join(cwd, 'secret');
      await writeFile(file, `${value}\r\n`);
      const { [name as 'LEADS_API_KEY']: _, ...others } = minimal;
      const config = await load({ ...others, [`${name}_FILE`]: file });
      const read = {
        LEADS_API_KEY: config.connections[0]?.leads.apiKey,
        DATABASE_URL: config.databaseUrl,
        REDIS_URL: config.redisUrl,
        SMTP_URL: config.smtpUrl,
        ADMIN_TOKEN: config.http.adminToken,
      };
      expect(read[name as keyof typeof read]?.reveal()).toBe(value);
    },
  );

  test('both set, missing, empty or a folder: one mistake each, and not also "missing"', async () => {
    const empty = join(cwd, 'empty');
    await writeFile(empty, '\n');
    const { LEADS_API_KEY: _, ...others } = minimal;
    expect(await mistakesOf({ ...minimal, LEADS_API_KEY_FILE: empty })).toEqual([
      { where: 'LEADS_API_KEY', path: '', message: 'is set and so is LEADS_API_KEY_FILE: unset one of them' },
    ]);
    for (const [file, reason] of [
      [join(cwd, 'nowhere'), 'no such file'],
      [cwd, 'folder'],
      [empty, 'empty'],
    ] as const) {
      expect(await mistakesOf({ ...others, LEADS_API_KEY_FILE: file })).toEqual([
        {
          where: 'LEADS_API_KEY_FILE',
          path: '',
          found: JSON.stringify(file),
          message: expect.stringContaining(reason),
        },
      ]);
    }
  });
});

test.each(['SMTPURL', 'SMTP_URL__FILE', 'REMINDERTO', 'DATABASEURL'])(
  '%s is no setting, and is not passed over in silence',
  async (name) => {
    const env = { LEADS_BASE_URL: 'https://x', LEADS_API_KEY: 'k', TARGET: './a.csv', [name]: 'x' };
    await expect(loadConfig({ env, cwd })).rejects.toThrow(
      new RegExp(`${name}: is no setting; did you mean`),
    );
  },
);

test('a variable that only looks like ours is no mistake', async () => {
  const usual = { LEADS_BASE_URL: 'https://x', LEADS_API_KEY: 'k', TARGET: './a.csv' };
  const env = { ...usual, LEADSAPIKEY: 'x', hostname: 'y', HOSTNAME: 'y', SMTP_HOST: 'z' };
  expect((await loadConfig({ env, cwd })).connections).toHaveLength(1);
});
