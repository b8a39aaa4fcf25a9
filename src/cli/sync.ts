import type { App } from '../app.ts';
import { counted } from '../core/lead/wording.ts';
import { asksForLeads } from '../core/merge/guard.ts';
import { bringForward } from '../core/merge/older-copy.ts';
import { explain, LeadsyncError } from '../lib/errors.ts';
import { countDueMails } from '../store/mails.ts';
import { failedReport, type SyncReport } from '../sync/report.ts';
import { runHousekeeping } from '../worker/housekeeping.ts';
import { isConfirmed } from './terminal.ts';
import { allowed, syncCommand, tellReport } from './plan-output.ts';
import { exitCodeFor, print, printEachJson } from './output.ts';
import type { CommonOptions } from './with-store.ts';
import { runNow } from './run-now.ts';
import { stopping } from './stop.ts';
import { withApp } from './with-app.ts';

interface SyncOptions extends CommonOptions {
  readonly allow?: readonly string[];
  readonly olderCopy?: 'update';
}

export function sync(options: SyncOptions): Promise<void> {
  return withApp(options, async (app) => {
    const reports: SyncReport[] = [];
    const allow = options.allow ?? [];
    const isUpdate = options.olderCopy === 'update';
    const asked = [...(isUpdate ? ['--older-copy update'] : []), ...allowed(allow)];
    for (const [name, { connection }] of app.contexts) {
      const sync = async (allow: readonly string[]): Promise<SyncReport> => {
        const report = await syncNow(app, name, isUpdate ? [...allow, bringForward] : allow);
        const command = [syncCommand(report), ...asked].join(' ');
        if (!options.json) print(await tellReport(app.pool, report, connection, command));
        return report;
      };
      const report = await sync(allow);
      const goesOn = !options.json && asksForLeads(report) && (await isConfirmed('Make these leads?'));
      reports.push(goesOn ? await sync([...allow, 'first-leads']) : report);
    }
    if (!options.json) {
      const due = await countDueMails(app.pool, [...app.contexts.keys()]);
      if (due > 0) print(`${counted(due, 'reminder is', 'reminders are')} due: leadsync worker sends them`);
    }
    // Without a worker nothing else would.
    await runHousekeeping(app, stopping);
    if (options.json) printEachJson('runs', reports);
    process.exitCode = exitCodeFor(reports);
  });
}

/** One connection's sync; a fault that let no run begin, or no result be read, is a failed one like any other. */
async function syncNow(app: App, name: string, allow: readonly string[]): Promise<SyncReport> {
  const startedAt = Date.now();
  try {
    const run = await runNow(app, name, { mode: 'sync', allow }, stopping);
    return run.report as SyncReport;
  } catch (error) {
    if (!(error instanceof LeadsyncError)) throw error;
    return failedReport(name, { code: error.code, message: explain(error) }, Date.now() - startedAt);
  }
}
