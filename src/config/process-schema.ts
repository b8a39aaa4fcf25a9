import { isIP } from 'node:net';
import { z } from 'zod';
import { isLoopback } from '../lib/loopback.ts';
import { baseUrl, postgresUrl, secretUrl } from './addresses.ts';
import { redisAddressMistake } from './redis-address.ts';
import { count, filePath, secret, secretToken, text } from './values.ts';

/** Shorter ones (characters) can be guessed. */
const leastToken = 16;
const makeToken = `node -p "crypto.randomBytes(24).toString('base64url')"`;
const logFormats = ['auto', 'pretty', 'json', 'named'] as const;
const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;

const http = z
  .object({
    host: z
      .string()
      .refine(
        (value) => isIP(value) > 0 || /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/i.test(value),
        'must be an IP address or a host name',
      )
      .default('127.0.0.1')
      .meta({ env: 'HOST', description: "Address of the worker's HTTP port." }),
    port: count(0, 65_535)
      .prefault('3000')
      .meta({ env: 'PORT', description: "The worker's HTTP port; 0: any free one." }),
    adminToken: secretToken('the token for the status page')
      .exactOptional()
      .meta({
        env: 'ADMIN_TOKEN',
        description: `Token for all pages but probes, feeds and mail links; at least ${leastToken} characters unless HOST is this machine. Unset: open on 127.0.0.1 alone.`,
      }),
  })
  .check(({ value: { host, adminToken }, issues }) => {
    if (adminToken === undefined || isLoopback(host) || adminToken.reveal().length >= leastToken) return;
    const message = `must have at least ${leastToken} characters on HOST ${host}, which other machines reach; this makes one: ${makeToken}`;
    issues.push({ code: 'custom', path: ['adminToken'], message, input: adminToken });
  });

const msgraph = z.object({
  tenant: text((value) =>
    /^[A-Za-z0-9][A-Za-z0-9.-]{0,252}$/.test(value) && !/^(?:common|organizations|consumers)$/i.test(value)
      ? null
      : 'must be the Directory (tenant) ID of your organisation, or one of its domains',
  )
    .exactOptional()
    .meta({
      env: 'MSGRAPH_TENANT',
      description:
        'Directory (tenant) ID at Microsoft Entra, or a domain of it. Required for Microsoft 365, as the next.',
    }),
  clientId: text((value) =>
    /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(value)
      ? null
      : 'must be the Application (client) ID of an app: 32 hexadecimal digits with hyphens',
  )
    .exactOptional()
    .meta({
      env: 'MSGRAPH_CLIENT_ID',
      description: "Application (client) ID of leadsync's app there.",
    }),
  clientSecret: secret(
    text((value) =>
      /-----BEGIN |^[!-~]+$/.test(value)
        ? null
        : 'must be the value of a client secret, or a private key and its certificate as PEM',
    ),
  )
    .exactOptional()
    .meta({
      env: 'MSGRAPH_CLIENT_SECRET',
      description: "The app's client secret, or its private key and certificate as PEM.",
    }),
});

export const processSchema = z.object({
  configFile: z.string().exactOptional().meta({
    env: 'LEADSYNC_CONFIG',
    description: 'The configuration file, as --config. Default: leadsync.yaml in the current folder, if any.',
  }),
  databaseUrl: postgresUrl.exactOptional().meta({
    env: 'DATABASE_URL',
    description:
      'Postgres for state and jobs: postgres://user:password@host/database?sslmode=verify-full (no sslmode on this machine). Without it leadsync starts one under DATA_DIR.',
  }),
  redisUrl: secret(text(redisAddressMistake)).exactOptional().meta({
    env: 'REDIS_URL',
    description:
      'Redis for the jobs: rediss://user:password@host:6379/0 (redis:// on this machine), Sentinel or Cluster (docs/operations.md). Without it they are in the same Postgres.',
  }),
  requireTls: z
    .enum(['true', 'false'])
    .default('false')
    .transform((value) => value === 'true')
    .meta({
      env: 'REQUIRE_TLS',
      description:
        'true: nothing starts while DATABASE_URL, REDIS_URL or a PostgreSQL table leads to another machine without TLS; else check warns.',
    }),
  dataDir: filePath('folder')
    .default('./data')
    .meta({ env: 'DATA_DIR', description: 'Folder for state, locks, outbox.' }),
  smtpUrl: secretUrl(['smtp:', 'smtps:'], 'smtp://user:password@host:587').exactOptional().meta({
    env: 'SMTP_URL',
    description:
      'Mail server: smtp://user:password@host:587 or smtps://…. Without it mails become files in DATA_DIR/outbox.',
  }),
  googleCredentials: filePath('file').exactOptional().meta({
    env: 'GOOGLE_APPLICATION_CREDENTIALS',
    description:
      'File with the key of a Google service account, or of a workload identity. Required for google-sheets.',
  }),
  googleSheetsUrl: baseUrl.prefault('https://sheets.googleapis.com').meta({
    env: 'GOOGLE_SHEETS_URL',
    description: 'Root of the Google Sheets API: another for tests or behind a proxy.',
  }),
  hubspotUrl: baseUrl.prefault('https://api.hubapi.com').meta({
    env: 'HUBSPOT_URL',
    description: "Root of HubSpot's API, likewise.",
  }),
  msgraphUrl: baseUrl.prefault('https://graph.microsoft.com').meta({
    env: 'MSGRAPH_URL',
    description: 'Root of Microsoft Graph: another for a national cloud, or for tests.',
  }),
  msgraph,
  http,
  logLevel: z
    .enum(logLevels)
    .default('info')
    .meta({ env: 'LOG_LEVEL', description: 'fatal, error, warn, info, debug, trace or silent.' }),
  logFormat: z.enum(logFormats).default('auto').meta({
    env: 'LOG_FORMAT',
    description:
      'pretty (for people), json (pino\'s own: level 30, time in ms), named (JSON with level "info" and ISO time), auto (pretty on a terminal, else json).',
  }),
});

export type ProcessSettings = z.output<typeof processSchema>;
