import { closedStages } from '../../src/config/config.ts';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { defaultFields } from '../../src/core/lead/mapping.ts';
import { environmentFolder, minimal } from './config-file-scene.ts';

const { folder, load, mistakesOf } = environmentFolder();

describe('the environment alone', () => {
  test('three variables are enough; everything else has its documented default', async () => {
    const config = await load(minimal);
    expect(config).toEqual({
      configured: [expect.objectContaining({ name: 'default' })],
      connections: [
        {
          name: 'default',
          leads: {
            baseUrl: 'https://api.example.com',
            apiKey: expect.anything(),
            pageSize: 1000,
            query: {},
          },
          target: {
            type: 'workbook',
            path: join(folder(), 'leads.csv'),
            idColumn: 'Lead ID',
            timeZone: 'UTC',
          },
          fields: defaultFields,
          sync: {
            schedule: '0 2 * * *',
            timeZone: 'UTC',
            direction: 'two-way',
            onConflict: 'hold',
            onFirstSync: 'hold',
            onLeadDeleted: 'mark',
            onRowDeleted: 'restore',
            proveAfter: 0,
            match: 'off',
            matchBy: ['companyName', 'city'],
            limits: {
              maxDeletes: { amount: 10, percent: true },
              maxChanges: { amount: 50, percent: true },
            },
          },
          retentionDays: 90,
          timeZone: 'UTC',
        },
      ],
      msgraph: {},
      dataDir: join(folder(), 'data'),
      http: { host: '127.0.0.1', port: 3000 },
      logLevel: 'info',
      logFormat: 'auto',
      requireTls: false,
      googleSheetsUrl: 'https://sheets.googleapis.com',
      hubspotUrl: 'https://api.hubapi.com',
      msgraphUrl: 'https://graph.microsoft.com',
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
      PUBLIC_URL: 'https://leadsync.example.com/app/',
    });
    expect(config.publicUrl).toBe('https://leadsync.example.com/app');
    const [connection] = config.connections;
    expect(config.databaseUrl?.reveal()).toBe('postgres://u:p@h/d');
    expect(config.smtpUrl?.reveal()).toBe('smtps://u:p@mail:465');
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
      chat: null,
      from: 'Sales <sales@example.com>',
      rules: {
        channel: null,
        timeZone: 'Europe/Berlin',
        timeZones: {},
        dayZone: 'Europe/Berlin',
        dateOnlyAt: 480,
        before: [{ text: '0m', days: 0, ms: 0 }],
        quietHours: null,
        workingDays: [1, 2, 3, 4, 5, 6, 7],
        graceMs: 86_400_000,
        skipStages: closedStages,
        to: ['anna@example.com', 'ben@example.com'],
        routes: [],
        toField: null,
        digestAt: null,
      },
      language: 'en',
      calendar: false,
      calendars: [],
      leadUrl: null,
      templates: null,
    });
  });

  test('publicUrl takes no key to anybody in the clear, and holds none', async () => {
    expect((await load({ ...minimal, PUBLIC_URL: 'http://127.0.0.1:3000' })).publicUrl).toBe(
      'http://127.0.0.1:3000',
    );
    for (const wrong of ['leadsync', 'http://leadsync.example.com', 'https://a:b@x', 'https://x/?a=b'])
      expect(await mistakesOf({ ...minimal, PUBLIC_URL: wrong })).toMatchObject([{ where: 'PUBLIC_URL' }]);
  });

  test('the path of publicUrl is none of a page, and none that an address or a cookie would read otherwise', async () => {
    for (const right of ['https://x', 'https://x/tools/lead_sync-2.0/~a', 'https://x/my-queues'])
      expect((await load({ ...minimal, PUBLIC_URL: `${right}/` })).publicUrl).toBe(right);
    for (const wrong of [
      '//y.example',
      '/a//b',
      '/a;b',
      '/%22',
      '/ü',
      '/a&b',
      '/queues',
      '/login/x',
      '/assets/',
    ])
      expect(await mistakesOf({ ...minimal, PUBLIC_URL: `https://x${wrong}` }), wrong).toMatchObject([
        { where: 'PUBLIC_URL' },
      ]);
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
      const file = join(folder(), 'secret');
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
    const empty = join(folder(), 'empty');
    await writeFile(empty, '\n');
    const { LEADS_API_KEY: _, ...others } = minimal;
    expect(await mistakesOf({ ...minimal, LEADS_API_KEY_FILE: empty })).toEqual([
      { where: 'LEADS_API_KEY', path: '', message: 'is set and so is LEADS_API_KEY_FILE: unset one of them' },
    ]);
    for (const [file, reason] of [
      [join(folder(), 'nowhere'), 'no such file'],
      [folder(), 'folder'],
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
