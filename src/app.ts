import { join } from 'node:path';
import type pg from 'pg';
import type { Logger } from 'pino';
import { systemClock } from './sync/clock.ts';
import type { Config, ConnectionConfig } from './config/config.ts';
import { parseRedisAddress } from './config/redis-address.ts';
import { createLeadsClient } from './leads-api/leads-client.ts';
import { Places } from './places.ts';
import { openQueues, type QueueBackend, type Queues } from './queue/queue.ts';
import { type MailWaits, usualWaits } from './reminders/deliver.ts';
import { createMailer, type Mailer } from './reminders/mail.ts';
import { Pauses } from './reminders/pauses.ts';
import { openTemplates, type Templates } from './reminders/templates.ts';
import { openDatabase } from './store/database.ts';
import { startEmbeddedPostgres } from './store/embedded-postgres.ts';
import { createMailLedger, type MailLedger } from './store/mail-ledger.ts';
import { migrate } from './store/migrate.ts';
import { createThrottle } from './store/throttles.ts';
import type { SyncContext } from './sync/context.ts';
import { type GoogleAccount, openGoogleAccount } from './targets/google-sheets/google-account.ts';
import { createGoogleSheetsTarget } from './targets/google-sheets/google-sheets-target.ts';
import { createHubSpotTarget } from './targets/hubspot/hubspot-target.ts';
import { createPostgresTableTarget } from './targets/postgres-table/postgres-table-target.ts';
import type { Target } from './targets/target.ts';
import { createWorkbookTarget } from './targets/workbook/workbook-target.ts';

/** Everything a command or a job works with. Disposing it releases all of it in reverse order. */
export interface App extends AsyncDisposable {
  readonly config: Config;
  readonly log: Logger;
  readonly pool: pg.Pool;
  readonly queues: Queues;
  readonly mailer: Mailer;
  readonly ledger: MailLedger;
  readonly pauses: Pauses;
  readonly waits: MailWaits;
  /** What mails are made with, by connection. */
  readonly templates: ReadonlyMap<string, Templates>;
  /** One for each connection of the configuration, by its name. */
  readonly contexts: ReadonlyMap<string, SyncContext>;
  /** For each run that goes on at this moment; a run needs up to three database connections at once. */
  readonly runs: Places;
}

/** Runs of different connections in one process; more of them wait for their turn. */
const runsAtOnce = 4;

/** The only place that builds things: database (embedded when none is named), schema, queues, clients and targets. */
export async function openApp(config: Config, log: Logger): Promise<App> {
  await using stack = new AsyncDisposableStack();
  const connectionString = config.databaseUrl?.reveal() ?? (await useEmbedded(config, stack));
  const pool = stack.adopt(openDatabase({ connectionString }), (opened) => opened.end());
  await migrate(pool);
  const queues = stack.use(await openQueues(queueBackend(config, connectionString), log, workersFor(config)));
  const { smtpUrl, smtpRate: rate } = config;
  const outbox = join(config.dataDir, 'outbox');
  const mailer = stack.use(createMailer(smtpUrl, outbox, rate === undefined ? {} : { rate }));
  const templates = new Map<string, Templates>();
  const contexts = new Map<string, SyncContext>();
  const account = openGoogleAccount(config.googleCredentials);
  for (const connection of config.connections) {
    const target = openTarget(connection, config, account, stack);
    contexts.set(connection.name, openConnection(connection, target, pool, log, stack));
    const { name, reminders } = connection;
    const warn = (message: string): void => log.warn({ connection: name }, message);
    templates.set(name, await openTemplates(reminders?.templates ?? null, warn));
  }
  const owned = stack.move();
  return {
    config,
    log,
    pool,
    queues,
    mailer,
    ledger: createMailLedger(pool),
    pauses: new Pauses(),
    waits: usualWaits,
    templates,
    contexts,
    runs: new Places(runsAtOnce),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

function queueBackend({ redisUrl, redisPrefix: prefix }: Config, connectionString: string): QueueBackend {
  if (redisUrl === undefined) return { kind: 'postgres', connectionString };
  return { kind: 'redis', address: parseRedisAddress(redisUrl.reveal()), prefix };
}

/** Each connection has a queue of runs and one of mails; planning and housekeeping have theirs. */
function workersFor({ connections }: Config): number {
  return 2 * connections.length + 2;
}

async function useEmbedded(config: Config, stack: AsyncDisposableStack): Promise<string> {
  const server = stack.adopt(await startEmbeddedPostgres(config.dataDir), (started) => started.close());
  return server.connectionString;
}

function openTarget(
  { name, target, fields }: ConnectionConfig,
  config: Config,
  account: GoogleAccount,
  stack: AsyncDisposableStack,
): Target {
  switch (target.type) {
    case 'workbook':
      return createWorkbookTarget({ ...target, fields });
    case 'google-sheets': {
      const apiUrl = `${config.googleSheetsUrl}/`;
      const clock = systemClock;
      return createGoogleSheetsTarget({ ...target, fields, apiUrl, account, clock, connection: name });
    }
    case 'hubspot': {
      const { token: accessToken } = target;
      const apiUrl = config.hubspotUrl;
      return stack.use(createHubSpotTarget({ ...target, fields, apiUrl, accessToken, clock: systemClock }));
    }
    case 'postgres-table':
      return createPostgresTableTarget({ ...target, fields });
    default:
      return target satisfies never;
  }
}

function openConnection(
  connection: ConnectionConfig,
  target: Target,
  pool: pg.Pool,
  log: Logger,
  stack: AsyncDisposableStack,
): SyncContext {
  const { baseUrl, apiKey, query } = connection.leads;
  const throttle = createThrottle(pool, baseUrl, apiKey.reveal());
  const child = log.child({ connection: connection.name });
  const leads = stack.use(
    createLeadsClient({
      baseUrl,
      apiKey,
      query,
      throttle,
      log: (level, fields, message) => child[level](fields, message),
    }),
  );
  return { connection, pool, leads, target, log: child, clock: systemClock };
}
