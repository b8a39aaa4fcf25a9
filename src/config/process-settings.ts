import { isIP } from 'node:net';
import { resolve } from 'node:path';
import { z } from 'zod';
import { baseUrlMistake, normalizeBaseUrl } from './base-url.ts';
import { postgresUrl, secretToken, secretUrl, text } from './checked-text.ts';
import type { Config } from './config.ts';
import type { Mistake } from './config-error.ts';
import type { Environment } from './environment.ts';
import { isLoopback } from '../loopback.ts';
import { redisAddressMistake } from './redis-address.ts';
import { schemaMistakes } from './schema-mistakes.ts';
import { Secret } from './secret.ts';
import { settingOf } from './settings-lookup.ts';
import type { Source } from './source.ts';
import { wantsTraces } from './tracing.ts';

/** Shorter ones (characters) can be guessed. */
const leastToken = 16;
const makeToken = `node -p "crypto.randomBytes(24).toString('base64url')"`;
/** One run, the help for two others, and what else a worker does: with fewer they would wait for each other. */
const leastPool = 8;

const schema = z
  .object({
    DATABASE_URL: postgresUrl().optional(),
    DATABASE_POOL_MAX: text((value) =>
      /^\d{1,3}$/.test(value) && Number(value) >= leastPool
        ? null
        : `must be a whole number from ${leastPool} to 999`,
    )
      .transform(Number)
      .prefault('20'),
    REDIS_URL: text(redisAddressMistake)
      .transform((value) => new Secret(value))
      .optional(),
    REDIS_PREFIX: text((value) =>
      /^[A-Za-z0-9._-]{1,64}$/.test(value) ? null : 'must be at most 64 letters, digits and the signs . _ -',
    ).default('leadsync'),
    DATA_DIR: text((value) => (value.includes('\0') ? 'must be the path of a folder' : null)).default(
      './data',
    ),
    SMTP_URL: secretUrl(['smtp:', 'smtps:'], 'smtp://user:password@host:587').optional(),
    SMTP_RATE: text((value) =>
      /^\d{1,4}(\.\d{1,3})?$/.test(value) && Number(value) > 0
        ? null
        : 'must be a number of mails a second above 0, such as 10 or 0.5',
    )
      .transform(Number)
      .optional(),
    GOOGLE_APPLICATION_CREDENTIALS: text((value) =>
      value.includes('\0') ? 'must be the path of a file' : null,
    ).optional(),
    GOOGLE_SHEETS_URL: text(baseUrlMistake)
      .transform(normalizeBaseUrl)
      .prefault('https://sheets.googleapis.com'),
    HUBSPOT_URL: text(baseUrlMistake).transform(normalizeBaseUrl).prefault('https://api.hubapi.com'),
    HOST: text((value) =>
      isIP(value) > 0 || /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/i.test(value)
        ? null
        : 'must be an IP address or a host name',
    ).default('127.0.0.1'),
    PORT: text((value) =>
      /^\d{1,5}$/.test(value) && Number(value) <= 65_535 ? null : 'must be a whole number from 0 to 65535',
    )
      .transform(Number)
      .prefault('3000'),
    ADMIN_TOKEN: secretToken('the token for the status page').optional(),
    LOG_LEVEL: z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('info'),
  })
  .check(({ value: { HOST, ADMIN_TOKEN }, issues }) => {
    if (ADMIN_TOKEN === undefined || isLoopback(HOST) || ADMIN_TOKEN.reveal().length >= leastToken) return;
    const message = `must have at least ${leastToken} characters on HOST ${HOST}, which other machines reach; this makes one: ${makeToken}`;
    issues.push({ code: 'custom', path: ['ADMIN_TOKEN'], message, input: ADMIN_TOKEN });
  });

type ProcessSettings = Omit<Config, 'connections' | 'configured'>;

interface ProcessRead {
  /** Absent when there are mistakes. */
  readonly settings?: ProcessSettings;
  readonly mistakes: readonly Mistake[];
  readonly smtpIsSet: boolean;
}

/** The settings of the process as a whole, which stand in the environment alone. */
export function readProcessSettings(environment: Environment, cwd: string): ProcessRead {
  const names = schema.keyof().options;
  const entries = names.map((name) => [name, environment.get(name)] as const);
  const raw = Object.fromEntries(entries.filter(([, value]) => value !== undefined));
  const smtpIsSet = environment.isSet('SMTP_URL');
  const parsed = schema.safeParse(raw);
  if (!parsed.success)
    return { mistakes: schemaMistakes(variables(raw, cwd), parsed.error.issues), smtpIsSet };
  const {
    DATABASE_URL,
    DATABASE_POOL_MAX,
    DATA_DIR,
    SMTP_URL,
    SMTP_RATE,
    HOST,
    PORT,
    ADMIN_TOKEN,
    LOG_LEVEL,
  } = parsed.data;
  const { REDIS_URL, REDIS_PREFIX } = parsed.data;
  const { GOOGLE_APPLICATION_CREDENTIALS: credentials, GOOGLE_SHEETS_URL, HUBSPOT_URL } = parsed.data;
  return {
    settings: {
      dataDir: resolve(cwd, DATA_DIR),
      ...(DATABASE_URL === undefined ? {} : { databaseUrl: DATABASE_URL }),
      databasePoolMax: DATABASE_POOL_MAX,
      ...(REDIS_URL === undefined ? {} : { redisUrl: REDIS_URL }),
      redisPrefix: REDIS_PREFIX,
      ...(SMTP_URL === undefined ? {} : { smtpUrl: SMTP_URL }),
      ...(SMTP_RATE === undefined ? {} : { smtpRate: SMTP_RATE }),
      ...(credentials === undefined ? {} : { googleCredentials: resolve(cwd, credentials) }),
      googleSheetsUrl: GOOGLE_SHEETS_URL,
      hubspotUrl: HUBSPOT_URL,
      http: { host: HOST, port: PORT, ...(ADMIN_TOKEN === undefined ? {} : { adminToken: ADMIN_TOKEN }) },
      ...(wantsTraces(environment) && { tracing: true as const }),
      logLevel: LOG_LEVEL,
    },
    mistakes: [],
    smtpIsSet,
  };
}

function variables(raw: unknown, folder: string): Source {
  return {
    raw,
    folder,
    locate: ([name]) => ({ where: String(name), path: '' }),
    hint: () => '',
    isSecret: ([name]) => settingOf(String(name))?.secret === true,
    isKnownBad: () => false,
  };
}
