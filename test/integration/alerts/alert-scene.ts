import type { ServerResponse } from 'node:http';
import { pino } from 'pino';
import type { AlertContext } from '../../../src/alerts/channels.ts';
import { checkAlerts } from '../../../src/alerts/watch-alerts.ts';
import type { AlertSettings } from '../../../src/config/config.ts';
import { Secret } from '../../../src/config/secret.ts';
import { createMailer } from '../../../src/reminders/send/mail.ts';
import { openDatabase } from '../../../src/store/database.ts';
import { createTestDatabase } from '../../support/database.ts';
import { type MailServerOptions, startMailServer } from '../../support/mail-server.ts';
import { startServer } from '../leads-api/leads-api-server.ts';

/** Stands in the path of every address that is a key. */
export const pathKey = 'T0K3N-geheim';

/** A schedule that does not come due while a test runs, and was due within the last year. */
export const yearly = `0 0 ${new Date(Date.now() - 2 * 24 * 3_600_000).getUTCDate()} 1 *`;

export const never = new AbortController().signal;

interface ReceiverOptions {
  /** What webhook and heartbeat say; `ok` without it. */
  readonly answer?: (response: ServerResponse, path: string) => void;
  /** What the mail server does with a mail. */
  readonly taken?: NonNullable<MailServerOptions['taken']>;
}

/** A real mail server, and a real HTTP server for webhook and heartbeat. */
export async function startReceivers({ answer, taken }: ReceiverOptions = {}) {
  await using stack = new AsyncDisposableStack();
  const { url, seen } = stack.use(
    await startServer((response, request) =>
      answer === undefined ? response.end('ok') : answer(response, request.url),
    ),
  );
  const { mails, port } = stack.use(await startMailServer(taken === undefined ? {} : { taken }));
  const webhook = `/hook/${pathKey}`;
  const owned = stack.move();
  return {
    url,
    webhook: `${url}${webhook}`,
    smtp: `smtp://127.0.0.1:${port}`,
    seen,
    mails,
    /** Subjects, in the order in which they came. */
    subjects: () =>
      mails.map(({ source }) => /^Subject: (.*(?:\r\n .*)*)$/m.exec(source)?.[1]?.replaceAll('\r\n', '')),
    /** First lines of what the webhook was sent. */
    hooked: () =>
      seen
        .filter((request) => request.method === 'POST' && request.url === webhook)
        .map(({ body }) => (JSON.parse(body) as { text: string }).text.split('\n')[0]),
    /** Paths that were called by GET. */
    beats: () => seen.filter(({ method }) => method === 'GET').map((request) => request.url),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

interface SceneOptions extends ReceiverOptions {
  /** Path of the heartbeat. */
  readonly heartbeat?: string;
  readonly connections?: readonly string[];
  readonly schedule?: string;
  /** After so long a call is given up; as usual without it. */
  readonly callMs?: number;
}

/** Connections whose problems are told by workers whose clock the test moves; runs are as the sync leaves them. */
export async function alertScene(options: SceneOptions = {}) {
  const { heartbeat, connections = ['main'], schedule = yearly, callMs } = options;
  await using stack = new AsyncDisposableStack();
  const receivers = stack.use(await startReceivers(options));
  const { pool, url } = stack.adopt(await createTestDatabase(), (database) => database.drop());
  const alerts: AlertSettings = {
    email: ['ops@example.com'],
    from: 'leadsync <leadsync@example.com>',
    webhook: new Secret(receivers.webhook),
    ...(heartbeat !== undefined && { heartbeat: new Secret(`${receivers.url}${heartbeat}`) }),
  };
  let ahead = 0;
  const log: string[] = [];
  const sync = { schedule, timeZone: 'UTC' };
  const opened = stack.move();
  /** A worker, as far as alerts go: with a pool and a mailer of its own. */
  const worker = () => {
    const own = openDatabase({ connectionString: url });
    const mailer = createMailer(new Secret(receivers.smtp), '/nowhere');
    const context: AlertContext = {
      alerts,
      connections: connections.map((name) => ({ name, sync })),
      configured: connections,
      pool: own,
      mailer,
      log: pino({ level: 'debug' }, { write: (line: string) => log.push(line) }),
      clock: { now: () => Date.now() + ahead, random: Math.random },
      ...(callMs !== undefined && { callMs }),
    };
    let isStopped = false;
    const stop = async (): Promise<void> => {
      if (isStopped) return;
      isStopped = true;
      await mailer[Symbol.asyncDispose]();
      await own.end();
    };
    opened.defer(stop);
    return { context, check: (signal = never) => checkAlerts(context, signal), stop };
  };
  const ended = (status: string, code: string | null, connection: string): Promise<unknown> =>
    pool.query(
      `insert into runs (connection, mode, status, phase, base_url, settings_hash, finished_at, report)
       values ($1, 'sync', $2, 'finish', '', '', now() + $3 * interval '1 ms', $4)`,
      [
        connection,
        status,
        ahead,
        JSON.stringify({ problems: code === null ? [] : [{ code, message: 'as it was said' }] }),
      ],
    );
  return {
    ...receivers,
    pool,
    worker,
    log,
    /** Time passes for the workers. */
    pass: (ms: number) => {
      ahead += ms;
    },
    fail: (code = 'leads.unavailable', connection = 'main') => ended('failed', code, connection),
    succeed: (connection = 'main') => ended('partial', null, connection),
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}
