import { describe, expect, test } from 'vitest';
import { ConfigError } from '../../src/config/mistakes.ts';
import { knownEndings } from '../../src/config/file-formats.ts';
import { LeadsyncError } from '../../src/lib/errors.ts';
import { environmentFolder, minimal } from './config-file-scene.ts';

const { load, mistakesOf } = environmentFolder();

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
    ['TARGET', '~/leads.xlsx', '"~/leads.xlsx"', 'home folder written out'],
    ['DATA_DIR', '~anna/data', '"~anna/data"', 'home folder written out'],
    ['TARGET', 'file:///srv/leads.xlsx', '"file:///srv/leads.xlsx"', 'a path, not an address'],
    ['TARGET', 'google-sheets:a b/Leads', '"a b"', 'must be the address of a spreadsheet'],
    ['TARGET', 'hubspot:deals', '"hubspot:deals"', 'no target of a known kind'],
    ['TARGET', 'postgres-table', '"postgres-table"', 'no target of a known kind'],
    ['TARGET', 'leads.ods', '"leads.ods"', '(.ods): open it, save it as "Excel workbook (.xlsx)"'],
    ['TARGET', 'leads.xls', '"leads.xls"', '(.xls): open it, save it as'],
    ['TARGET', 'leads.XLSB', '"leads.XLSB"', '(.xlsb): open it, save it as'],
    ['TARGET', 'leads', '"leads"', `a path ending in ${knownEndings}`],
    ['DATABASE_URL', 'mysql://u:geheim@h/d', '[secret]', 'postgres://'],
    ['DATABASE_URL', 'postgres://u:ge#heim-geheim@h/d', '[secret]', '%23'],
    ['REDIS_URL', 'redis://geheim@h', '[secret]', 'a user without a password'],
    ['SMTP_URL', 'http://mail', '[secret]', 'smtp://'],
    ['SMTP_URL', 'smtp://u:100%zz-geheim@mail', '[secret]', '%25'],
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

test.each(['SMTPURL', 'SMTP_URL__FILE', 'REMINDERTO', 'DATABASEURL'])(
  '%s is no setting, and is not passed over in silence',
  async (name) => {
    const env = { LEADS_BASE_URL: 'https://x', LEADS_API_KEY: 'k', TARGET: './a.csv', [name]: 'x' };
    await expect(load(env)).rejects.toThrow(new RegExp(`${name}: is no setting; did you mean`));
  },
);

test('a variable that only looks like ours is no mistake', async () => {
  const usual = { LEADS_BASE_URL: 'https://x', LEADS_API_KEY: 'k', TARGET: './a.csv' };
  const env = { ...usual, LEADSAPIKEY: 'x', hostname: 'y', HOSTNAME: 'y', SMTP_HOST: 'z' };
  expect((await load(env)).connections).toHaveLength(1);
});
