import type { Setting } from './settings.ts';

/** What the process as a whole is told, by the environment alone. */
export const processVariables = [
  {
    variable: 'LEADSYNC_CONFIG',
    meaning:
      'The configuration file, as --config. Default: leadsync.yaml in the current folder when it exists.',
  },
  {
    variable: 'DATABASE_URL',
    secret: true,
    meaning:
      'Postgres for state and jobs: postgres://user:password@host/database. Without it: one is started under DATA_DIR.',
  },
  {
    variable: 'DATABASE_POOL_MAX',
    default: '20',
    meaning:
      'Connections to Postgres that each process opens for the state at most, 8 or more: with 20 it runs four connections at a time, with 12 two, with 8 one. Without REDIS_URL the jobs take 10 more, and 2 for each connection of leadsync.yaml.',
  },
  {
    variable: 'REDIS_URL',
    secret: true,
    meaning:
      'Redis (6.2 or newer) for the jobs: redis://user:password@host:6379/0, rediss:// for TLS; redis-sentinel://user:password@host:26379,host:26379/0?master=name (with &sentinelUsername= and &sentinelPassword= where Sentinels ask for them); redis-cluster://user:password@host:6379,host:6379; rediss-sentinel:// and rediss-cluster:// likewise. Without it: jobs run on the same Postgres.',
  },
  {
    variable: 'REDIS_PREFIX',
    default: 'leadsync',
    meaning: 'What all keys in Redis begin with: one for each leadsync that shares a Redis.',
  },
  {
    variable: 'DATA_DIR',
    default: './data',
    meaning: 'Folder for state, locks and the outbox.',
  },
  {
    variable: 'SMTP_URL',
    secret: true,
    meaning:
      'Mail server: smtp://user:password@host:587 or smtps://…. Without it: mails become .eml files under DATA_DIR/outbox.',
  },
  {
    variable: 'SMTP_RATE',
    meaning:
      'At most so many mails a second from each process that sends, such as 10 or 0.5: with two workers, set half. Default: as many as the mail server takes.',
  },
  {
    variable: 'GOOGLE_APPLICATION_CREDENTIALS',
    meaning:
      "File with the key of a Google service account, or the description of a workload identity. Required for google-sheets; share the spreadsheet with the account's address, which leadsync check tells.",
  },
  {
    variable: 'GOOGLE_SHEETS_URL',
    default: 'https://sheets.googleapis.com',
    meaning: 'Root of the Google Sheets API: another one for tests or behind a proxy.',
  },
  {
    variable: 'HUBSPOT_URL',
    default: 'https://api.hubapi.com',
    meaning: "Root of HubSpot's API: another one for tests or behind a proxy.",
  },
  {
    variable: 'HOST',
    default: '127.0.0.1',
    meaning: "Address that the worker's HTTP port is bound to.",
  },
  {
    variable: 'PORT',
    default: '3000',
    meaning: "The worker's HTTP port; 0 takes a free one.",
  },
  {
    variable: 'ADMIN_TOKEN',
    secret: true,
    meaning:
      'Token for everything but /healthz and /readyz; at least 16 characters unless HOST is this machine alone. Unset: the pages are open on 127.0.0.1 and closed on any other HOST.',
  },
  {
    variable: 'LOG_LEVEL',
    default: 'info',
    meaning: 'fatal, error, warn, info, debug, trace or silent.',
  },
  {
    variable: 'OTEL_EXPORTER_OTLP_ENDPOINT',
    meaning:
      "Where traces are sent to; none are made unless this or one of the next two is set. OpenTelemetry's other variables mean what they always do.",
  },
  {
    variable: 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT',
    meaning: 'The same, for traces alone.',
  },
  {
    variable: 'OTEL_TRACES_EXPORTER',
    meaning: 'otlp, console or none.',
  },
  {
    variable: 'OTEL_SDK_DISABLED',
    meaning: 'true: no traces.',
  },
] as const satisfies readonly Setting[];
