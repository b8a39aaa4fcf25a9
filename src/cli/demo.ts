import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import type { App } from '../app.ts';
import { openWorker, type WorkerApp } from '../worker/open-worker.ts';
import { loadConfig } from '../config/load.ts';
import { counted } from '../core/lead/wording.ts';
import { type DemoTarget, shownPath, workbookTarget } from '../demo/demo-target.ts';
import { startEmbeddedPostgres } from '../postgres/embedded-postgres.ts';
import { LeadsyncError } from '../lib/errors.ts';
import { parseFaults } from '../demo/faults.ts';
import { type Sandbox, startSandbox } from '../demo/sandbox.ts';
import { decideConflict, listConflicts } from '../store/conflicts.ts';
import { countDueMails } from '../store/mails.ts';
import type { SyncReport } from '../sync/report.ts';
import { workMails } from '../worker/work-mails.ts';
import { describePlan, tellReport } from './plan-output.ts';
import type { CommonOptions } from './with-store.ts';
import { print, printJson } from './output.ts';
import { linesOf, previewOf } from './preview-reminder.ts';
import { makePlanNow } from './plan.ts';
import { runNow } from './run-now.ts';
import { stopping } from './stop.ts';

const connection = 'default';
const leadCount = 120;

interface DemoOptions extends CommonOptions {
  readonly dir?: string;
  readonly target: 'xlsx' | 'google-sheets';
}

export async function demo(options: DemoOptions): Promise<void> {
  const folder = await demoFolder(options.dir);
  const tell = options.json ? () => {} : print;
  // The demo shows occasional rate limits.
  await using service = await startSandbox({
    leads: leadCount,
    faults: parseFaults('429:every=6,retryAfter=1'),
  });
  await using target =
    options.target === 'xlsx'
      ? workbookTarget(folder, connection)
      : await (await import('../demo/demo-google-sheets.ts')).googleSheetsTarget(folder);
  tell(
    `A local Leads service is filled with ${leadCount} made-up leads; every sixth request must wait a second.\n`,
  );

  const reports: SyncReport[] = [];
  {
    // It is removed at the end: nothing has to survive a loss of power.
    await using stack = new AsyncDisposableStack();
    // What a person wants to see is kept.
    stack.defer(() => rm(join(folder, 'postgres'), { recursive: true, force: true }));
    const database = stack.adopt(await startEmbeddedPostgres(folder, { durable: false }), (started) =>
      started.close(),
    );
    const env = {
      DATABASE_URL: database.connectionString,
      LEADS_BASE_URL: service.url,
      LEADS_API_KEY: service.apiKey,
      ...target.env,
      DATA_DIR: folder,
      REMINDER_TO: 'you@example.com',
      LOG_LEVEL: 'warn',
    };
    const config = await loadConfig({ env, cwd: folder });
    await using app = await openWorker(config, pino({ level: 'silent' }));
    const step = (title: string): void =>
      tell(`\n── ${title} ${'─'.repeat(Math.max(3, 76 - title.length))}\n`);
    const sync = async (): Promise<void> => {
      const run = await runNow(app, connection, { mode: 'sync' }, stopping);
      const report = run.report as SyncReport;
      reports.push(report);
      const context = app.contexts.get(connection);
      if (context !== undefined) tell(await tellReport(app.pool, report, context.connection));
    };

    step(`1. First sync: ${target.missing}`);
    await sync();
    tell();
    for (const line of target.filled()) tell(`  ${line}`);

    step('2. People edit both sides');
    for (const line of await editBothSides(service, target, app)) tell(`  ${line}`);

    step('3. The plan: what a sync would do; nothing is written');
    tell(describePlan(await makePlanNow(app, connection, {}, stopping), 'UTC'));

    step('4. Second sync: each edit arrives on the other side, the conflict is held');
    await sync();

    step('5. Somebody decides the conflict: leadsync resolve ID --use lead');
    for (const held of await listConflicts(app.pool, connection))
      await decideConflict(app.pool, held, 'lead', 'the demo');
    await sync();

    step('6. Once more: nothing is left to write');
    await sync();

    // A mail whose lead cannot be read waits for minutes.
    service.set({ faults: [] });
    step('7. A reminder for the follow-up that has just fallen due');
    await sendDueReminders(app);
    for (const line of await describeReminder(app, service, folder)) tell(`  ${line}`);
  }
  const reminders = await outbox(folder);
  const { early, throttled } = service.stats;
  tell(
    `\nThe service asked to wait ${counted(throttled, 'time')}; ${counted(early, 'request')} came too early.`,
  );
  tell('\nLook at:');
  for (const line of target.ended()) tell(`  ${line}`.trimEnd());
  tell(`  ${shownPath(join(folder, 'outbox'))}   the mails`);
  tell('\nYour own leads:  npx leadsync init');
  tell('                 asks for the service and your table, and shows the first plan');
  if (options.json) printJson({ folder, ...target.result(), reminders, reports });
}

async function demoFolder(dir: string | undefined): Promise<string> {
  if (dir === undefined) {
    await mkdir('data', { recursive: true });
    return mkdtemp(resolve('data', 'demo-'));
  }
  await mkdir(dir, { recursive: true });
  if ((await readdir(dir)).length === 0) return resolve(dir);
  throw new LeadsyncError('usage.folder-not-empty', `${dir} is not empty; nothing was written there`, {
    help: 'Name a folder that is empty or does not exist yet.',
  });
}

async function editBothSides(service: Sandbox, target: DemoTarget, app: App): Promise<string[]> {
  // Nobody is reminded of leads that are won or lost.
  const open = service.leads.list().filter(({ stage }) => stage !== 'won' && stage !== 'lost');
  const [inFile, inService, onBoth, due] = open;
  if (!inFile || !inService || !onBoth || !due) throw new Error('the sandbox has too few leads');

  const isNew = {
    companyName: 'Bäckerei Sonnenhof GmbH',
    segment: 'Retail',
    city: 'Freiburg',
    region: 'BW',
    stage: 'new',
  };
  const edits = [
    { leadId: inFile.id, stage: 'won' },
    { leadId: onBoth.id, stage: 'qualified again' },
    { leadId: null, values: isNew },
  ];
  await target.edit(app, edits, stopping);
  service.leads.edit(inService.id, { city: 'Lübeck', region: 'SH' });
  service.leads.edit(onBoth.id, { stage: 'lost' });
  service.leads.edit(due.id, { nextFollowUpAt: new Date(Date.now() - 60_000).toISOString() });
  const here = `in the ${target.place}:`.padEnd(16);
  return [
    `${here} ${inFile.companyName}: stage ${inFile.stage} → won`,
    `${here} a new row without an id: Bäckerei Sonnenhof GmbH, Freiburg`,
    `in the service:  ${inService.companyName}: moved to Lübeck`,
    `in the service:  ${due.companyName}: the follow-up is due now`,
    `on both sides:   ${onBoth.companyName}: stage "qualified again" in the ${target.place}, "lost" in the service`,
  ];
}

async function outbox(folder: string): Promise<string[]> {
  const names = await readdir(join(folder, 'outbox')).catch(() => []);
  return names.filter((name) => name.endsWith('.eml')).map((name) => join(folder, 'outbox', name));
}

async function describeReminder(app: App, service: Sandbox, folder: string): Promise<string[]> {
  const mails = await outbox(folder);
  const lead = service.leads.list().find(isDue);
  const context = app.contexts.get(connection);
  if (mails.length === 0 || lead === undefined || context === undefined)
    throw new Error('no reminder was written');
  const { mail } = await previewOf(app, context, lead.id);
  const where = `${counted(mails.length, 'mail')}, as files because no SMTP_URL is set: ${shownPath(join(folder, 'outbox'))}`;
  return [where, '', ...linesOf(mail)];
}

/** The follow-up that the demo moved to a minute ago; seeded ones are at whole quarters of an hour. */
function isDue(lead: { readonly nextFollowUpAt: string | null }): boolean {
  const at = Date.parse(lead.nextFollowUpAt ?? '');
  return at <= Date.now() && at > Date.now() - 10 * 60_000;
}

const mailPollMs = 100;

/** Ms without a mail sent before giving up. */
const mailTimeoutMs = 15_000;

/** The rest stays scheduled. */
async function sendDueReminders(app: WorkerApp): Promise<void> {
  const names = [...app.contexts.keys()];
  let left = await countDueMails(app.pool, names);
  if (left === 0) return;
  await using _worker = await workMails(app);
  let changedAt = Date.now();
  while (left > 0 && Date.now() - changedAt < mailTimeoutMs && !stopping.aborted) {
    await sleep(mailPollMs);
    const now = await countDueMails(app.pool, names);
    if (now !== left) changedAt = Date.now();
    left = now;
  }
}
