import { editJob, syncQueue } from '../../jobs/runs.ts';
import type { App } from '../app.ts';
import type { CalendarPass } from '../caldav/sync-calendar.ts';
import type { CalendarSettings } from '../config/config.ts';
import { explain, LeadsyncError } from '../lib/errors.ts';
import { Semaphore } from '../lib/waiting.ts';
import { calendarState, noteCalendarFault } from '../store/calendar-entries.ts';
import { acquireLease, type Lease } from '../store/leases.ts';
import type { SyncContext } from '../sync/context.ts';

const calendarsAtOnce = 4;

/** Each holds a session of the database: with all of them at once nothing else would get one. */
const connectionsAtOnce = 2;

/** Ms until a calendar is tried again that rejected the password: more attempts would lock the account. */
const lockoutMs = 3_600_000;

/**
 * Brings the calendars of all connections in line with the agreed follow-ups, and requests the edits that people made there.
 * What fails is stored, logged once, and tried again the next time. A connection whose calendars another process has in hand is
 * left out.
 */
export async function syncCalendars(app: App, stop: AbortSignal): Promise<CalendarPass> {
  const total = { put: 0, changed: 0, requested: 0 };
  const slots = new Semaphore(calendarsAtOnce);
  const turns = new Semaphore(connectionsAtOnce);
  const connections = [...app.contexts.values()].map(async (context) => {
    const { connection, pool } = context;
    const calendars = connection.reminders?.calendars ?? [];
    if (calendars.length === 0) return;
    using _turn = await turns.acquire(stop);
    await using lease = await acquireLease(pool, `${connection.name}/calendars`);
    if (lease === null) return;
    const signal = AbortSignal.any([stop, lease.lost]);
    const passes = calendars.map(async (calendar) => {
      using _slot = await slots.acquire(signal);
      return await syncOne(app, context, calendar, lease, signal);
    });
    let requested = 0;
    const faults: unknown[] = [];
    for (const pass of await Promise.allSettled(passes)) {
      if (pass.status === 'rejected') {
        faults.push(pass.reason);
        continue;
      }
      total.put += pass.value.put;
      total.changed += pass.value.changed;
      requested += pass.value.requested;
    }
    total.requested += requested;
    if (requested > 0) {
      const { name, payload, options } = editJob(connection.name, `calendars-${Date.now()}`);
      await (await app.queues()).queue(syncQueue).add(name, payload, options);
    }
    if (faults.length > 0) throw faults[0];
  });
  await Promise.all(connections);
  return total;
}

async function syncOne(
  app: App,
  { connection, pool, log, clock }: SyncContext,
  calendar: CalendarSettings,
  lease: Lease,
  stop: AbortSignal,
): Promise<CalendarPass> {
  const nothing = { put: 0, changed: 0, requested: 0 };
  const templates = await app.templates.get(connection.name)?.();
  const { reminders } = connection;
  if (reminders === undefined || templates === undefined) return nothing;
  const ref = { connection: connection.name, recipient: calendar.recipient };
  const state = await calendarState(pool, ref);
  if (state !== null && state.url === calendar.url && state.waitMs > 0) return nothing;
  // XML and iCalendar are large, and few have calendars.
  const { CalendarClient } = await import('../caldav/calendar-client.ts');
  const { syncCalendar } = await import('../caldav/sync-calendar.ts');
  const login = calendar.login ?? (await app.googleAccount());
  await using client = new CalendarClient(calendar.url, login, clock);
  const own = { connection, reminders, calendar, templates, client, lease, ref };
  try {
    const pass = await syncCalendar({ pool, log, clock, ...own }, stop);
    await noteCalendarFault(pool, ref, null);
    const did = pass.put + pass.changed + pass.requested;
    if (did > 0) log.info({ ...pass, requests: client.requests }, 'a calendar was brought in line');
    return pass;
  } catch (error) {
    if (stop.aborted) throw error;
    const isOurs = error instanceof LeadsyncError && error.code.startsWith('caldav.');
    if (!isOurs) throw error;
    const { code, retryAfterMs } = error;
    const waitMs = code === 'caldav.unauthenticated' ? lockoutMs : (retryAfterMs ?? 0);
    const level = state?.code === code ? 'debug' : 'warn';
    log[level](
      { code },
      'a calendar was not brought in line; leadsync status --reminders shows which, and leadsync tries again',
    );
    await noteCalendarFault(pool, ref, { code, message: explain(error), waitMs });
    return nothing;
  }
}
