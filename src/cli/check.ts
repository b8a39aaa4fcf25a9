import { upkeep } from '../../jobs/upkeep.ts';
import type { App } from '../app.ts';
import { loadConfigFromProcess } from '../config/load.ts';
import { counted } from '../core/lead/counted.ts';
import { LeadsyncError } from '../errors.ts';
import { type ClockDifference, clockDifferences } from '../ops/clock-differences.ts';
import { templateMistakes } from '../reminders/compose/template-mistakes.ts';
import type { SyncContext } from '../sync/context.ts';
import { addressless, describeAddressless } from './addressless.ts';
import { checkAlertChannels } from './check-alerts.ts';
import { type CheckLine, describeLine, failed, look, never } from './check-line.ts';
import { checkTarget } from './check-target.ts';
import type { CommonOptions } from './main.ts';
import { exitCodes, print, printJson } from './output.ts';
import { withApp } from './with-app.ts';

interface CheckOptions extends CommonOptions {
  /** Repairs what it can. */
  readonly fix?: boolean;
  /** Sends a test to all alert recipients. */
  readonly testAlert?: boolean;
}

/** `leadsync check`: a line for each thing that a sync needs, with help for failures. Writes only with `--fix`. */
export async function check(options: CheckOptions): Promise<void> {
  const { connections } = await loadConfigFromProcess(options.config);
  const lines: CheckLine[] = [
    { name: 'configuration', ok: true, message: counted(connections.length, 'connection') },
  ];
  try {
    await withApp(options, async (app) => {
      lines.push(...(await checkStores(app)));
      for (const context of app.contexts.values()) {
        lines.push(await checkService(context), ...(await checkTarget(context, options.fix === true)));
      }
      lines.push(describeClocks(await clockDifferences(app)));
      for (const context of app.contexts.values()) lines.push(...(await checkTemplates(context)));
      for (const context of app.contexts.values()) lines.push(...(await checkRecipients(context)));
      lines.push(await look('mail', () => checkMail(app)));
      lines.push(...(await checkAlertChannels(app, options.testAlert === true)));
    });
  } catch (error) {
    if (!(error instanceof LeadsyncError) || error.code.startsWith('usage.')) throw error;
    lines.push(failed(error.code.startsWith('queue.') ? 'queue' : 'database and queue', error));
  }
  if (options.json) printJson({ ok: lines.every((line) => line.ok), checks: lines });
  else for (const line of lines) print(describeLine(line));
  process.exitCode = lines.every((line) => line.ok) ? exitCodes.done : exitCodes.failed;
}

/** The database, and the queues if elsewhere. Weaknesses that lose nothing are warnings. */
async function checkStores(app: App): Promise<CheckLine[]> {
  const findings = await app.queues.examine();
  // Uses what every job needs: scripts, and the keys of our prefix.
  await app.queues.queue(upkeep['plan-reminders'].queue).counts();
  const name = findings.length === 0 ? 'database and queue' : 'database';
  return [
    { name, ok: true, message: describeDatabase(app) },
    ...findings.map(({ fault, ...line }) => ({ ...line, ok: fault === undefined, ...fault })),
  ];
}

function describeDatabase({ config }: App): string {
  return config.databaseUrl === undefined ? `embedded Postgres in ${config.dataDir}` : 'DATABASE_URL answers';
}

function checkService({ connection, leads }: SyncContext): Promise<CheckLine> {
  return look(`${connection.name}: service`, async () => {
    const { baseUrl, pageSize } = connection.leads;
    const said = (count: number): string =>
      `${baseUrl} answers; the key may list leads (${count} on the first page)`;
    try {
      return said((await leads.list({ cursor: null, limit: pageSize }, never)).leads.length);
    } catch (error) {
      if (!(error instanceof LeadsyncError) || error.code !== 'leads.rejected') throw error;
      // As a sync does (docs/architecture.md 3): a service may not know `limit`.
      return said((await leads.list({ cursor: null, limit: null }, never)).leads.length);
    }
  });
}

/** A line for the user's mail templates, if any. */
async function checkTemplates({ connection }: SyncContext): Promise<CheckLine[]> {
  const folder = connection.reminders?.templates;
  if (folder === undefined || folder === null) return [];
  const line = await look(`${connection.name}: mail templates`, async () => {
    const mistakes = await templateMistakes(folder, connection.fields);
    if (mistakes.length === 0) return `those in ${folder} are right`;
    throw new LeadsyncError('mail.template-broken', mistakes.join('; '), {
      help: 'Until then mails use the built-in templates.',
    });
  });
  return [line];
}

/** A line for the recipients' column, if any. Its mistakes stop no mails. */
async function checkRecipients(context: SyncContext): Promise<CheckLine[]> {
  if (!context.connection.reminders?.rules.toField) return [];
  const found = await addressless(context);
  const message = found === null ? 'every filled cell is an e-mail address' : describeAddressless(found);
  return [{ name: `${context.connection.name}: recipients`, ok: true, message }];
}

async function checkMail({ config, mailer }: App): Promise<string> {
  await mailer.verify();
  return config.smtpUrl === undefined
    ? `no SMTP_URL: mails are written to ${config.dataDir}/outbox`
    : 'the mail server accepted the login';
}

/** Clocks that differ by more than this (ms) need fixing. */
const mostMs = 5_000;

/** The line for the clocks, each compared with the database's, which leadsync uses. */
export function describeClocks(clocks: readonly ClockDifference[]): CheckLine {
  const parts = clocks.map((one) => `${nameOf(one)} ${describe(one.aheadMs)}`);
  const message = `compared with the database: ${parts.join(', ')}`;
  if (clocks.every(({ aheadMs }) => Math.abs(aheadMs) <= mostMs))
    return { name: 'clocks', ok: true, message };
  const help = 'leadsync uses the time of the database; let NTP set every clock, that one first';
  return { name: 'clocks', ok: true, warning: true, message: `${message}. ${help}` };
}

function nameOf({ clock, connection }: ClockDifference): string {
  if (clock === 'service') return `the service of ${connection}`;
  return clock === 'worker' ? 'this machine' : 'Redis';
}

function describe(aheadMs: number): string {
  const seconds = (Math.abs(aheadMs) / 1_000).toFixed(1);
  return `${seconds} s ${aheadMs < 0 ? 'behind' : 'ahead'}`;
}
