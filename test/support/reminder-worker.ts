import { pino } from 'pino';
import { openWorker, type WorkerApp } from '../../src/worker/open-worker.ts';
import { planMails } from '../../src/worker/plan-mails.ts';
import { workMails } from '../../src/worker/work-mails.ts';
import { LeadsyncError } from '../../src/lib/errors.ts';
import type { Lead } from '../../src/core/lead/lead.ts';
import { loadConfig } from '../../src/config/load.ts';
import { Secret } from '../../src/config/secret.ts';
import type { MailWaits } from '../../src/reminders/send/mail-limits.ts';
import { createMailer } from '../../src/reminders/send/mail.ts';
import type { Fault } from '../../src/demo/faults.ts';
import { until } from './until.ts';
import { Workspace } from './workspace.ts';

/** A hundredth and less of the usual ones. */
export const shortWaits: MailWaits = {
  doubtMs: 1_500,
  cutOffMs: 1_500,
  retryMs: 1_000,
  retrySpreadMs: 200,
  stoppedMs: 1_000,
};

/** A silent server is given up after n ms. */
const silenceMs = 500;

interface Told {
  readonly level: number;
  readonly code?: string;
  readonly msg: string;
}

interface Row {
  readonly company: string;
  readonly recipient: string;
  readonly state: string;
  readonly attempts: number;
  readonly note: string | null;
}

interface WorkerOptions {
  readonly count?: number;
  readonly to?: readonly string[];
  /** Other settings of the reminders. */
  readonly reminders?: object;
  /** Of the Leads service, from when all is planned. */
  readonly faults?: readonly Fault[];
  /** Which of the leads the service can never show, by their numbers. */
  readonly unreadable?: readonly number[];
}

/**
 * So many leads due since a second and synced, their reminders planned and sent by the worker's own queue until the
 * scene is disposed. `smtp` is what stands between `smtp://` and the end of the address.
 */
export async function reminderWorker(
  smtp: string,
  { count = 1, to = ['anna@example.com'], reminders = {}, faults = [], unreadable = [] }: WorkerOptions = {},
) {
  await using stack = new AsyncDisposableStack();
  const workspace = stack.use(
    await Workspace.open({
      connection: { reminders: { from: 'Sales <sales@example.com>', to, timeZone: 'UTC', ...reminders } },
      env: { SMTP_URL: `smtp://${smtp}` },
    }),
  );
  const broken = new Set<string>();
  for (let n = 0; n < count; n++) {
    const nextFollowUpAt = new Date(Date.now() - 1_000 - count + n).toISOString();
    const companyName = `Lead${String(n).padStart(4, '0')}`;
    const { id } = workspace.sandbox.leads.add({ companyName, nextFollowUpAt });
    if (unreadable.includes(n)) broken.add(id);
  }
  await workspace.sync();
  const log: Told[] = [];
  const opened = stack.use(
    await openWorker(
      await loadConfig({ env: workspace.env, cwd: workspace.folder }),
      pino({ level: 'info' }, { write: (line: string) => log.push(JSON.parse(line) as Told) }),
    ),
  );
  const limits = { connectMs: silenceMs, silenceMs };
  const mailer = stack.use(createMailer(new Secret(`smtp://${smtp}`), '/nowhere', limits));
  const contexts = new Map(
    [...opened.contexts].map(([name, context]) => {
      const get = (id: string, signal: AbortSignal): Promise<Lead | null> => {
        if (broken.has(id))
          throw new LeadsyncError('leads.server-error', 'this lead alone', { retry: 'now' });
        return context.leads.get(id, signal);
      };
      const { leads } = context;
      return [name, { ...context, leads: Object.assign(Object.create(leads) as typeof leads, { get }) }];
    }),
  );
  const app: WorkerApp = { ...opened, contexts, mailer, waits: shortWaits };
  await planMails(app);
  workspace.sandbox.set({ faults });
  stack.use(await workMails(app));
  const rows = async (): Promise<readonly Row[]> => {
    const found = await app.pool.query<Row>(
      `select p.base->>'companyName' as company, recipient, state, attempts, note
       from mails m join pairs p using (connection, lead_id) order by m.send_at, m.id`,
    );
    return found.rows;
  };
  const owned = stack.move();
  return {
    app,
    sandbox: workspace.sandbox,
    rows,
    /** How many are in each state. */
    states: async (): Promise<Record<string, number>> => {
      const byState = Map.groupBy(await rows(), ({ state }) => state);
      return Object.fromEntries([...byState].map(([state, some]) => [state, some.length]));
    },
    /** Waits until all are sent, failed, or otherwise at their end. */
    settled: () =>
      until('all are settled', async () =>
        (await rows()).every(({ state }) => state !== 'scheduled' && state !== 'sending'),
      ),
    /** What was logged at a level: 40 warns, 50 is an error, for which somebody is alerted. */
    told: (level: number) => log.filter((line) => line.level === level),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** The Message-ID of a mail. */
export function messageId(source: string): string {
  return /^Message-ID: (.*)$/im.exec(source)?.[1]?.trim() ?? '';
}

/** Which lead of `reminderWorker` a mail is about. */
export function leadOf(source: string): string {
  return /Lead\d{4}/.exec(source)?.[0] ?? '';
}
