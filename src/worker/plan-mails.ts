import type { App } from '../app.ts';
import { planDigests } from '../reminders/plan/plan-digests.ts';
import { planFromRead, planReminders } from '../reminders/plan/plan-reminders.ts';
import { forgetRead } from '../store/follow-ups.ts';
import { noteEditsPlanned, unplannedEdits } from '../store/requested-edits.ts';
import { addMailJobs } from './mail-jobs.ts';

/** Plans the mails of these connections and all digests, from the baselines alone, and adds the jobs of the next ones. */
export async function planMails(app: App, names: Iterable<string> = app.contexts.keys()): Promise<object> {
  const { pool, contexts, config } = app;
  for (const name of names) {
    const context = contexts.get(name);
    if (context !== undefined) await planReminders(pool, context.connection);
  }
  // Also when this process works for one connection: what a person gets does not depend on who plans it.
  await planDigests(pool, config.configured);
  const all = config.configured.map(({ name }) => name);
  return { jobs: await addMailJobs(app, all) };
}

/** Plans the mails of a connection after its sync. */
export async function planSynced(app: App, name: string): Promise<void> {
  await forgetRead(app.pool, name);
  if (!app.contexts.has(name)) return;
  await planMails(app, [name]);
  await wakeCalendars(app);
}

/** Plans the mails of leads with a new follow-up by a requested edit, so that none leaves for the old one. */
export async function planEdited(app: App, name: string): Promise<void> {
  const context = app.contexts.get(name);
  if (context === undefined) return;
  const { connection, pool } = context;
  const unplanned = Map.groupBy(await unplannedEdits(pool, name), ({ leadId }) => leadId);
  for (const [leadId, edits] of unplanned) {
    const { base } = edits[0] ?? { base: null };
    const edited = Object.fromEntries(edits.map(({ field, to }) => [field, to]));
    await planFromRead(pool, connection, leadId, { ...base, ...edited });
    await noteEditsPlanned(pool, name, leadId, Math.max(...edits.map(({ id }) => id)));
  }
  if (unplanned.size > 0) await addMailJobs(app, [name]);
  await wakeCalendars(app);
}

export const calendarQueue = 'calendars';

/** Brings the calendars in line now: follow-ups have moved. */
async function wakeCalendars({ queues, contexts }: Pick<App, 'queues' | 'contexts'>): Promise<void> {
  const have = [...contexts.values()].some(
    ({ connection }) => (connection.reminders?.calendars ?? []).length > 0,
  );
  if (have) await (await queues()).queue(calendarQueue).add('sync-calendars', {});
}
