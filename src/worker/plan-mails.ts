import type { App } from '../app.ts';
import type { ConnectionConfig } from '../config/config.ts';
import { planDigests } from '../reminders/plan/plan-digests.ts';
import { planFromRead, planReminders } from '../reminders/plan/plan-reminders.ts';
import { forgetRead } from '../store/follow-ups.ts';
import { noteEditsPlanned, unplannedEdits } from '../store/requested-edits.ts';
import { addDigests, addReminders, addSingles } from './add-mail-jobs.ts';
import { wakeCalendars } from './wake-calendars.ts';

interface PlannedMails {
  readonly scheduled: number;
  readonly digests: number;
}

export async function planMails(app: App): Promise<PlannedMails> {
  let scheduled = 0;
  for (const { connection } of app.contexts.values()) {
    scheduled += await planConnection(app, connection);
  }
  return { scheduled, digests: await addDueDigests(app) };
}

/** Plans the reminders of a connection after its sync, and all digests, from the baselines alone. */
export async function planSynced(app: App, name: string): Promise<void> {
  await forgetRead(app.pool, name);
  const context = app.contexts.get(name);
  if (context === undefined) return;
  await planConnection(app, context.connection);
  await addDueDigests(app);
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
    const due = await planFromRead(pool, connection, leadId, { ...base, ...edited });
    if (due.length > 0) await addSingles(await app.queues(), connection, due);
    await noteEditsPlanned(pool, name, leadId, Math.max(...edits.map(({ id }) => id)));
  }
  await wakeCalendars(app);
}

/** Adds a delayed job for each reminder that is due soon, one for all of a second. The queue ignores known jobs. */
async function planConnection(app: App, connection: ConnectionConfig): Promise<number> {
  const reminders = await planReminders(app.pool, connection);
  if (reminders.length > 0) await addReminders(await app.queues(), connection, reminders);
  return reminders.length;
}

/** Of all connections, also when this process works for one alone: what a person gets does not depend on who plans it. */
async function addDueDigests(app: App): Promise<number> {
  const { configured } = app.config;
  const digests = await planDigests(app.pool, configured);
  if (digests.length > 0) await addDigests(await app.queues(), configured, digests);
  return digests.length;
}
