import { randomUUID } from 'node:crypto';
import { upkeep } from '../../jobs/upkeep.ts';
import { type AlertContext, channelsOf, sendText, webhookChannel } from '../alerts/channels.ts';
import type { App } from '../app.ts';
import { CalendarClient } from '../caldav/calendar-client.ts';
import {
  type CalendarSettings,
  clearTextOf,
  closedStages,
  type ConnectionConfig,
  hasGoogleCalendars,
} from '../config/config.ts';
import { loadConfigFromProcess } from '../config/load.ts';
import { counted } from '../core/lead/wording.ts';
import { followUpField } from '../core/lead/mapping.ts';
import { explainForeign, looksForeign } from '../core/merge/guard.ts';
import { asOutage } from '../postgres/database-outage.ts';
import { LeadsyncError } from '../lib/errors.ts';
import { type ClockDifference, clockDifferences } from '../store/database-time.ts';
import { closedPages, isClosed } from '../ops/access.ts';
import type { LeadPage } from '../ports/leads-service.ts';
import { channelName } from '../reminders/chat/post-message.ts';
import { templateMistakes } from '../reminders/compose/template-mistakes.ts';
import { isStageWanted, stageField } from '../reminders/plan/recipients.ts';
import { entriesOf } from '../store/calendar-entries.ts';
import { probeWrite } from '../store/keeper.ts';
import { valuesOfFollowUps } from '../store/follow-ups.ts';
import { acquireLease } from '../store/leases.ts';
import { sizeOfBaselines } from '../store/load-baselines.ts';
import { tooSmall } from '../sync/open-scan.ts';
import { memoryBudget } from '../lib/memory.ts';
import { countKnownLeads, knownOf, someKnown } from '../store/pairs.ts';
import type { SyncContext } from '../sync/context.ts';
import { askedKnown, hasAny } from '../sync/ask-leads.ts';
import { assertOwnPlaces } from '../worker/claim-installation.ts';
import { type CheckLine, describeLine, failed, passed, runCheck, checkTarget } from './check-target.ts';
import { never } from '../lib/waiting.ts';
import { exitCodes, print, printJson } from './output.ts';
import { sendTestMail } from './preview-reminder.ts';
import type { CommonOptions } from './with-store.ts';
import { stopping, unlessStopped } from './stop.ts';
import { addressless, describeAddressless, describeOddYears, isMost, oddYears } from './unmailed.ts';
import type { Mailer } from '../reminders/send/mail.ts';
import { alertingOf, openMailer } from '../worker/open-worker.ts';
import { withApp } from './with-app.ts';

interface CheckOptions extends CommonOptions {
  readonly fix?: boolean;
  readonly testAlert?: boolean;
  readonly sendTest?: string;
  readonly googleSignIn?: string;
}

/** Changes nothing without `--fix`. */
export async function check({ sendTest, googleSignIn, ...options }: CheckOptions): Promise<void> {
  if (googleSignIn !== undefined) return signIn(googleSignIn, options);
  if (sendTest !== undefined)
    return withApp(options, (app) => unlessStopped(() => sendTestMail(app, sendTest, options.json ?? false)));
  const config = await loadConfigFromProcess(options.config);
  const lines: CheckLine[] = [passed('configuration', counted(config.connections.length, 'connection'))];
  for (const { setting, message } of clearTextOf(config))
    lines.push({ ...passed(setting, `${message}. REQUIRE_TLS=true refuses it`), warning: true });
  try {
    await withApp(options, async (app) => {
      await unlessStopped(async () => {
        for await (const line of checkApp(app, options)) lines.push(line);
      });
    });
  } catch (thrown) {
    const error = asOutage(thrown);
    if (!(error instanceof LeadsyncError) || /^(usage|process)\./.test(error.code)) throw error;
    lines.push(failed(error.code.startsWith('queue.') ? 'queue' : 'database and queue', error));
  }
  const ok = lines.every((line) => line.ok);
  if (options.json) printJson({ ok, checks: lines });
  else for (const line of lines) print(describeLine(line));
  process.exitCode = ok ? exitCodes.done : exitCodes.failed;
}

/** Needs no configuration: there may be none yet. */
async function signIn(clientFile: string, options: CheckOptions): Promise<void> {
  const { signInWithClient } = await import('../setup/google-sign-in.ts');
  const config = await loadConfigFromProcess(options.config).catch(() => null);
  await unlessStopped(async () => {
    const show = (address: string): void =>
      void process.stderr.write(`Open this address in a browser on this machine, and sign in:\n${address}\n`);
    const written = await signInWithClient(
      clientFile,
      config !== null && hasGoogleCalendars(config),
      show,
      stopping,
    );
    if (options.json) printJson({ ok: true, written });
    else print(`${written} is written. Set GOOGLE_APPLICATION_CREDENTIALS to its path, then: leadsync check`);
  });
}

export async function* checkApp(
  app: App,
  { fix = false, testAlert = false }: Pick<CheckOptions, 'fix' | 'testAlert'> = {},
): AsyncGenerator<CheckLine> {
  const contexts = [...app.contexts.values()];
  yield* await checkStores(app);
  if (isClosed(app.config)) yield { ...passed('status page', closedPages), warning: true };
  for (const context of contexts) {
    yield await checkService(context);
    yield* await checkTarget(context, fix);
  }
  yield describeClocks(await clockDifferences(app));
  const each = [checkTemplates, checkRecipients, checkStages, checkYears, checkMemory];
  for (const one of each) for (const context of contexts) yield* await one(context);
  for (const context of contexts) yield* await checkCalendars(app, context);
  await using mailer = openMailer(app);
  yield await runCheck('mail', () => checkMail(app, mailer));
  for (const { connection } of contexts) yield* checkChat(connection);
  yield* await checkAlertChannels(alertingOf(app, mailer), testAlert, app.config.smtpUrl === undefined);
}

/** Weaknesses that lose nothing are warnings. */
async function checkStores(app: App): Promise<CheckLine[]> {
  const { databaseUrl, dataDir } = app.config;
  await probeWrite(app.pool);
  await (await acquireLease(app.pool, `check ${randomUUID()}`))?.[Symbol.asyncDispose]();
  const queues = await app.queues();
  const findings = await queues.examine();
  if (findings.every(({ fault }) => fault === undefined)) {
    await queues.ping();
    // Uses what every job needs: scripts, and the keys of our prefix.
    await queues.queue(upkeep['plan-reminders'].queue).counts();
  }
  const name = findings.length === 0 ? 'database and queue' : 'database';
  const whose = await runCheck('installation', async () => {
    await assertOwnPlaces(app);
    return 'no worker of another one has this database or its queue';
  });
  return [
    passed(
      name,
      databaseUrl === undefined ? `embedded Postgres in ${dataDir}` : 'DATABASE_URL answers and takes writes',
    ),
    ...findings.map(({ fault, ...line }) => ({ ...line, ok: fault === undefined, ...fault })),
    ...(whose.ok ? [] : [whose]),
  ];
}

function checkService(context: SyncContext): Promise<CheckLine> {
  const { connection, leads } = context;
  return runCheck(`${connection.name}: service`, async () => {
    const { baseUrl, pageSize } = connection.leads;
    const page = await leads.list({ cursor: null, limit: pageSize }, never).catch((error: unknown) => {
      if (!(error instanceof LeadsyncError) || error.code !== 'leads.rejected') throw error;
      // As a sync does (docs/architecture.md 3): a service may not know `limit`.
      return leads.list({ cursor: null, limit: null }, never);
    });
    await assertKnown(context, page);
    return `${baseUrl} answers; the key may list leads (${page.leads.length} on the first page)`;
  });
}

/** Throws when the page, and what known leads are asked for by id, show that the key is another organization's. */
async function assertKnown(
  { connection: { name }, pool, leads }: SyncContext,
  page: LeadPage,
): Promise<void> {
  const known = await countKnownLeads(pool, name);
  const ids = page.leads.map(({ id }) => id);
  const { size: listed } = await knownOf(pool, name, ids);
  const counts = { known, listed, others: ids.length - listed };
  // A page without known leads proves nothing yet, one with any proves all.
  if (listed > 0 || !looksForeign(counts)) return;
  const asked = await someKnown(pool, name, askedKnown);
  if (await hasAny(leads, asked, never)) return;
  throw new LeadsyncError('guard.other-service', explainForeign({ ...counts, asked: asked.length }));
}

async function checkTemplates({ connection }: SyncContext): Promise<CheckLine[]> {
  const { reminders } = connection;
  if (reminders === undefined) return [];
  const { templates: folder, language } = reminders;
  if (folder === null && language === 'en') return [];
  const line = await runCheck(`${connection.name}: mail templates`, async () => {
    const mistakes = await templateMistakes(folder, connection.fields, language);
    if (mistakes.length === 0)
      return folder === null ? `mails are in ${language}` : `those in ${folder} are right`;
    throw new LeadsyncError('mail.template-broken', mistakes.join('; '), {
      help: 'Until then mails use the built-in templates.',
    });
  });
  return [line];
}

/** Mistakes in the column stop no mails. */
async function checkRecipients(context: SyncContext): Promise<CheckLine[]> {
  if (!context.connection.reminders?.rules.toField) return [];
  const found = await addressless(context);
  const name = `${context.connection.name}: recipients`;
  if (found === null) return [passed(name, 'every filled cell is an e-mail address')];
  return [{ ...passed(name, describeAddressless(found)), ...(isMost(found) && { warning: true }) }];
}

async function checkYears(context: SyncContext): Promise<CheckLine[]> {
  const found = await oddYears(context);
  if (found === null) return [];
  return [{ ...passed(`${context.connection.name}: follow-ups`, describeOddYears(found)), warning: true }];
}

/** Only where it is too small. */
async function checkMemory({ pool, connection }: SyncContext): Promise<CheckLine[]> {
  const size = await sizeOfBaselines(pool, connection.name);
  return size.bytes <= memoryBudget.limit
    ? []
    : [failed(`${connection.name}: memory`, tooSmall(size, memoryBudget))];
}

async function checkStages({ pool, connection }: SyncContext): Promise<CheckLine[]> {
  const skipped = connection.reminders?.rules.skipStages ?? [];
  if (skipped.join() !== closedStages.join()) return [];
  const stages = await valuesOfFollowUps(pool, connection.name, followUpField, stageField);
  const over = stages.filter(({ value }) => !isStageWanted({ stage: value }, { skipStages: skipped }));
  if (over.length === 0) return [];
  const count = over.reduce((all, stage) => all + stage.count, 0);
  const names = over.map(({ value }) => JSON.stringify(value)).join(', ');
  const message = `nobody is reminded of ${counted(count, 'lead')} with a follow-up in ${names}; skipStages says otherwise ([]: of all)`;
  return [passed(`${connection.name}: stages`, message)];
}

async function checkMail({ config }: App, mailer: Mailer): Promise<string> {
  await mailer.verify();
  if (config.smtpUrl === undefined) return `no SMTP_URL: mails are written to ${config.dataDir}/outbox`;
  return new URL(config.smtpUrl.reveal()).username === ''
    ? 'the mail server answers; SMTP_URL names no user, so whether it takes mails without a login shows check --send-test ADDRESS'
    : 'the mail server accepted the login';
}

/** A webhook can only be tried by posting. */
function checkChat({ name, reminders }: ConnectionConfig): CheckLine[] {
  if (!reminders?.chat) return [];
  const tested = 'not tried: leadsync check --send-test chat posts a test';
  return [passed(`${name}: chat`, `${channelName(reminders.chat)}; ${tested}`)];
}

/** Clocks that differ by more than this (ms) need fixing. */
const mostAheadMs = 5_000;

/** The line for the clocks, each compared with the database's, which leadsync uses. */
export function describeClocks(clocks: readonly ClockDifference[]): CheckLine {
  const parts = clocks.map((one) => `${nameOfClock(one)} ${describeAhead(one.aheadMs)}`);
  const message = `compared with the database: ${parts.join(', ')}`;
  if (clocks.every(({ aheadMs }) => Math.abs(aheadMs) <= mostAheadMs)) return passed('clocks', message);
  const help = 'leadsync uses the time of the database; let NTP set every clock, that one first';
  return { ...passed('clocks', `${message}. ${help}`), warning: true };
}

function nameOfClock({ clock, connection }: ClockDifference): string {
  if (clock === 'service') return `the service of ${connection}`;
  return clock === 'worker' ? 'this machine' : 'Redis';
}

function describeAhead(aheadMs: number): string {
  const seconds = (Math.abs(aheadMs) / 1_000).toFixed(1);
  return `${seconds} s ${aheadMs < 0 ? 'behind' : 'ahead'}`;
}

/** Neither a problem nor a success, so that the heartbeat is not called. */
const testAlert = {
  title: 'a test of the alerts',
  lines: ['Somebody ran leadsync check --test-alert. Nothing is wrong.'],
  help: [],
};

const noAlerts =
  'no alerts are configured: set "alerts" in leadsync.yaml (without a file: ALERT_EMAIL, ALERT_WEBHOOK)';
const notCalled = 'not called, because a call means success; the next sync calls it';

/** `test`: sends one to each address and the webhook. `inFiles`: mails are written to files. */
async function checkAlertChannels(
  alerting: AlertContext | null,
  test: boolean,
  inFiles: boolean,
): Promise<readonly CheckLine[]> {
  if (alerting === null) return [passed('alerts', noAlerts)];
  const { alerts, clock } = alerting;
  if (!test) {
    const parts = [
      alerts.email.length > 0 && `mail to ${alerts.email.join(', ')}`,
      alerts.webhook !== undefined && 'a webhook',
      alerts.heartbeat !== undefined && 'a heartbeat',
    ].filter(Boolean);
    return [passed('alerts', `${parts.join(', ')}; not tried: --test-alert sends a test`)];
  }
  const now = clock.now();
  const lines = channelsOf(alerts).map((channel) =>
    runCheck(`alerts: ${channel === webhookChannel ? 'webhook' : `mail to ${channel}`}`, async () => {
      const key = JSON.stringify(['alert test', channel, now]);
      const mail = { key, thread: key, date: now, message: null };
      const reply = await sendText(alerting, channel, testAlert, mail, never);
      return inFiles && reply !== null
        ? `no SMTP_URL is set: the test was written to ${reply}`
        : 'a test was sent';
    }),
  );
  const heartbeat = alerts.heartbeat === undefined ? [] : [passed('alerts: heartbeat', notCalled)];
  return [...(await Promise.all(lines)), ...heartbeat];
}

async function checkCalendars(app: App, context: SyncContext): Promise<CheckLine[]> {
  const { name, reminders } = context.connection;
  const lines: CheckLine[] = [];
  for (const calendar of reminders?.calendars ?? []) {
    const check = (): Promise<string> => checkCalendar(app, context, calendar);
    lines.push(await runCheck(`${name}: calendar of ${calendar.recipient}`, check));
  }
  return lines;
}

async function checkCalendar(
  app: App,
  { pool, connection, clock }: SyncContext,
  calendar: CalendarSettings,
): Promise<string> {
  const login = calendar.login ?? (await app.googleAccount());
  await using client = new CalendarClient(calendar.url, login, clock);
  const { displayName, components, mayWrite } = await client.examine(never);
  const missing = calendar.components.find((one) => !components.includes(one));
  if (missing !== undefined)
    throw new LeadsyncError('caldav.unsuited', `${client.place} takes no ${missing}s.`, {
      help: `Choose another calendar, or set "as" to ${missing === 'event' ? 'task' : 'event'}.`,
    });
  if (mayWrite === false)
    throw new LeadsyncError(
      'caldav.forbidden',
      `${calendar.login?.username ?? 'This account'} may not write to ${client.place}.`,
      { help: 'Share the calendar with this user so that it may read and write.' },
    );
  const ref = { connection: connection.name, recipient: calendar.recipient };
  const rows = await entriesOf(pool, ref, calendar.components.slice(0, 1), followUpField);
  const count = rows.filter(({ dueAt }) => dueAt !== null).length;
  const name = displayName === null ? '' : ` (${displayName})`;
  return `${client.place}${name} answers; ${counted(count, 'follow-up')} of this recipient planned`;
}
