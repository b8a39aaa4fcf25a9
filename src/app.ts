import type pg from 'pg';
import type { Logger } from 'pino';
import { steadyClock, systemClock } from './ports/clock.ts';
import { type Config, type ConnectionConfig, hasGoogleCalendars } from './config/config.ts';
import { redisAddressOf } from './config/redis-address.ts';
import type { LeadsyncError } from './lib/errors.ts';
import type { OnReply } from './http/exchange.ts';
import { LeadsClient, retryReads } from './leads-api/leads-client.ts';
import { Activity } from './ops/activity.ts';
import { type OutageWatch, watchDatabase, watchQueue } from './ops/outage-watch.ts';
import { Semaphore } from './lib/waiting.ts';
import type { QueueBackend, Queues } from './queue/queue.ts';
import type { Templates } from './reminders/compose/templates.ts';
import { openStore } from './store/open-store.ts';
import type { EmbeddedPostgresOptions } from './postgres/embedded-postgres.ts';
import { createThrottle, serviceScope } from './store/services.ts';
import type { OnRun, SyncContext } from './sync/context.ts';
import type { Throttle } from './ports/leads-service.ts';
import type { GoogleAccount } from './targets/google-sheets/google-account.ts';
import { createWriteJournal } from './store/connections.ts';
import type { Target } from './ports/target.ts';
import { noTelemetry } from './lib/telemetry.ts';

/** What a command works with, and each job. Disposing it releases all of it in reverse order. */
export interface App extends AsyncDisposable {
  readonly config: Config;
  readonly log: Logger;
  readonly pool: pg.Pool;
  /** Whether the database takes writes, and the queue. */
  readonly database: OutageWatch;
  readonly queue: OutageWatch;
  /** Opened at first use: most commands work without the queue. */
  readonly queues: () => Promise<Queues>;
  /** The mail templates by connection, read at first use. */
  readonly templates: ReadonlyMap<string, () => Promise<Templates>>;
  /** One for each configured connection, by its name. */
  readonly contexts: ReadonlyMap<string, SyncContext>;
  /** For targets and calendars at Google. */
  readonly googleAccount: () => Promise<GoogleAccount>;
  /** A slot for each run under way; see `runsAtOnce`. */
  readonly runs: Semaphore;
  /** Called for each run that starts or ends in this process; absent: the command reports it. */
  readonly onRun?: OnRun;
  /** Why this process takes no more jobs: it met a newer schema or another installation, or the state has moved. */
  outdated: LeadsyncError | null;
  /** The counters of this process. */
  readonly activity: Activity;
}

/**
 * Runs of different connections at once in one process. Each needs up to four database connections (lease, throttle,
 * transaction, rows); four are left for all else.
 */
export function runsAtOnce(poolMax: number): number {
  return Math.min(4, Math.max(1, Math.floor((poolMax - 4) / 4)));
}

/**
 * Builds the database, the queues, clients and targets. What only some commands need is loaded at first use: the others
 * start faster.
 */
export async function openApp(config: Config, log: Logger, telemetry = noTelemetry): Promise<App> {
  await using stack = new AsyncDisposableStack();
  const { pool, connectionString } = stack.use(
    await openStore(config, { onFault: logFault(log), tell: (line) => log.warn(line) }),
  );
  const database = watchDatabase(
    { pool, bundled: config.databaseUrl === undefined, hasJobs: config.redisUrl === undefined },
    log,
  );
  const opened = stack.use(new AsyncDisposableStack());
  const queues = once(async () => {
    const { openQueues } = await import('./queue/queue.ts');
    const traced = telemetry.queues && { telemetry: telemetry.queues };
    const { redisUrl } = config;
    const backend: QueueBackend =
      redisUrl === undefined
        ? { kind: 'postgres', connectionString }
        : { kind: 'redis', address: redisAddressOf(redisUrl) };
    return opened.use(await openQueues(backend, log, workers, traced));
  });
  const queue = watchQueue(queues, log);
  const activity = new Activity(config.connections.map(({ name }) => name));
  const templates = new Map<string, () => Promise<Templates>>();
  const contexts = new Map<string, SyncContext>();
  // Connections with one key share a throttle: a 429 of one stops the others at once.
  const throttles = new Map<string, Throttle>();
  const runs = new Semaphore(runsAtOnce(pool.options.max));
  const account = once(async () => {
    const { openGoogleAccount } = await import('./targets/google-sheets/google-account.ts');
    return openGoogleAccount(config.googleCredentials, hasGoogleCalendars(config));
  });
  for (const connection of config.connections) {
    const { name } = connection;
    const target = await openTarget(connection, config, account, activity, pool, stack);
    const { baseUrl, apiKey, query } = connection.leads;
    const scope = serviceScope(baseUrl, apiKey.reveal());
    const throttle = throttles.get(scope) ?? createThrottle(pool, baseUrl, apiKey.reveal(), steadyClock);
    throttles.set(scope, throttle);
    const own = log.child({ connection: name });
    const client = stack.use(
      new LeadsClient({
        baseUrl,
        apiKey,
        query,
        throttle,
        clock: steadyClock,
        isCrowded: () => runs.isCrowded,
        log: (level, fields, message) => own[level](fields, message),
        onReply: (ending) => activity.replied('leads', name, ending),
        onServiceClock: (aheadMs) => activity.serviceAheadMs.set(name, aheadMs),
      }),
    );
    const leads = retryReads(client);
    const { inSpan } = telemetry;
    contexts.set(name, { connection, pool, leads, target, log: own, clock: systemClock, inSpan });
  }
  for (const connection of config.configured)
    templates.set(
      connection.name,
      once(() => readTemplates(connection, log)),
    );
  const owned = stack.move();
  return {
    config,
    log,
    pool,
    database,
    queue,
    queues,
    templates,
    contexts,
    googleAccount: account,
    runs,
    outdated: null,
    activity,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** Logs each failed attempt to restart the bundled Postgres. */
function logFault(log: Logger): NonNullable<EmbeddedPostgresOptions['onFault']> {
  return ({ code, message }, againMs) =>
    log.warn({ code, reason: message, againMs }, 'the bundled Postgres did not start; leadsync tries again');
}

/** Of runs, mails, planning, calendars and housekeeping: each has a queue. */
const workers = 5;

async function openTarget(
  { name, target, fields, sync }: ConnectionConfig,
  config: Config,
  openAccount: () => Promise<GoogleAccount>,
  activity: Activity,
  pool: pg.Pool,
  stack: AsyncDisposableStack,
): Promise<Target> {
  const onReply: OnReply = (ending) => activity.replied(target.type, name, ending);
  switch (target.type) {
    case 'workbook': {
      const { createWorkbookTarget } = await import('./targets/file/workbook-target.ts');
      return createWorkbookTarget({ ...target, fields, connection: name }, { ...config, onReply });
    }
    case 'google-sheets': {
      const { createGoogleSheetsTarget } = await import('./targets/google-sheets/google-sheets-target.ts');
      const apiUrl = `${config.googleSheetsUrl}/`;
      const account = await openAccount();
      const clock = systemClock;
      const connection = name;
      const journal = createWriteJournal(pool, name);
      const around = { apiUrl, account, clock, onReply, connection, journal };
      return createGoogleSheetsTarget({ ...target, fields, ...around });
    }
    case 'hubspot': {
      const { createHubSpotTarget } = await import('./targets/hubspot/hubspot-target.ts');
      const { token: accessToken } = target;
      const apiUrl = config.hubspotUrl;
      const clock = systemClock;
      const showsOthers = sync.match !== 'off';
      const options = { ...target, fields, apiUrl, accessToken, clock, onReply, showsOthers };
      return stack.use(createHubSpotTarget(options));
    }
    case 'postgres-table': {
      const { createPostgresTableTarget } = await import('./targets/postgres/postgres-table-target.ts');
      return createPostgresTableTarget({ ...target, fields });
    }
    default:
      return target satisfies never;
  }
}

async function readTemplates({ name, reminders }: ConnectionConfig, log: Logger): Promise<Templates> {
  const { openTemplates } = await import('./reminders/compose/templates.ts');
  return openTemplates(reminders?.templates ?? null, (message) => log.warn({ connection: name }, message));
}

/** What `open` gives, opened at first use. */
export function once<T>(open: () => Promise<T>): () => Promise<T> {
  let opened: Promise<T> | undefined;
  return () => (opened ??= open());
}
