import { join } from 'node:path';
import type { Logger } from 'pino';
import type { AlertContext } from '../alerts/channels.ts';
import { type App, once, openApp } from '../app.ts';
import type { Config, ConnectionConfig } from '../config/config.ts';
import { LeadsyncError } from '../lib/errors.ts';
import type { Telemetry } from '../lib/telemetry.ts';
import { version } from '../lib/version.ts';
import { clockDifferences } from '../store/database-time.ts';
import type { WatchedConnection } from '../ops/metrics-page.ts';
import { systemClock } from '../ports/clock.ts';
import type { JobCounts, Queues } from '../queue/queue.ts';
import { CircuitBreakers } from '../reminders/send/circuit-breakers.ts';
import { usualWaits } from '../reminders/send/mail-limits.ts';
import type { Mailer } from '../reminders/send/mail.ts';
import { createMailLedger } from '../store/mail-ledger.ts';
import { serviceScope } from '../store/services.ts';

export type WorkerApp = Awaited<ReturnType<typeof openWorker>>;

export async function openWorker(config: Config, log: Logger, telemetry?: Telemetry) {
  await using stack = new AsyncDisposableStack();
  const app = stack.use(await openApp(config, log, telemetry));
  const { pool, database, queue, queues, activity } = app;
  const ledger = stack.use(createMailLedger(pool));
  const mailer = stack.use(openMailer(app));
  const metrics = once(async () => {
    const { MetricsPage } = await import('../ops/metrics-page.ts');
    return new MetricsPage({
      log,
      pool,
      database,
      queue: config.redisUrl === undefined ? database : queue,
      version,
      connections: config.connections.map(watched),
      activity,
      queueCounts: async () => countJobs(await queues()),
      clocks: () => clockDifferences(app),
    });
  });
  if (config.telemetry?.metrics) stack.use(await (await metrics()).observe());
  const owned = stack.move();
  return {
    ...app,
    mailer,
    ledger,
    breakers: new CircuitBreakers(),
    waits: usualWaits,
    /** Null: no alerts are configured. */
    alerting: alertingOf(app, mailer),
    /** What is scraped, made at first use: commands are never scraped. */
    metrics,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** What alerts work with; null: none are configured. */
export function alertingOf({ config, pool, log }: App, mailer: Mailer): AlertContext | null {
  const { alerts, connections } = config;
  const configured = config.configured.map(({ name }) => name);
  return alerts === undefined
    ? null
    : { alerts, connections, configured, pool, mailer, log, clock: systemClock };
}

/** A mailer whose mails are counted: as sent, or by the code of the fault. */
export function openMailer({ config, activity }: App): Mailer {
  const { smtpUrl, dataDir } = config;
  let opened: Promise<Mailer> | undefined;
  const open = (): Promise<Mailer> =>
    (opened ??= import('../reminders/send/mail.ts').then(({ createMailer }) =>
      createMailer(smtpUrl, join(dataDir, 'outbox')),
    ));
  const counted = async (sending: Promise<string>): Promise<string> => {
    try {
      const reply = await sending;
      activity.replied('mail', null, 'sent');
      return reply;
    } catch (error) {
      activity.replied('mail', null, error instanceof LeadsyncError ? error.code : 'internal');
      throw error;
    }
  };
  return {
    send: async (mail, elapsed) => counted((await open()).send(mail, elapsed)),
    turn: async (signal) => (await open()).turn(signal),
    verify: async () => (await open()).verify(),
    async [Symbol.asyncDispose]() {
      await (await opened)?.[Symbol.asyncDispose]();
    },
  };
}

function watched({ name, leads, sync, reminders }: ConnectionConfig): WatchedConnection {
  return {
    name,
    throttleScope: serviceScope(leads.baseUrl, leads.apiKey.reveal()),
    timing: { pattern: sync.schedule, timeZone: sync.timeZone },
    hasReminders: reminders !== undefined,
  };
}

/** One queue after the other: they share few connections. */
async function countJobs(queues: Queues): Promise<ReadonlyMap<string, JobCounts>> {
  const counts = new Map<string, JobCounts>();
  for (const name of queues.names()) counts.set(name, await queues.queue(name).counts());
  return counts;
}
