import type { App } from '../app.ts';

export const calendarQueue = 'calendars';

/** Brings the calendars in line now: follow-ups have moved. */
export async function wakeCalendars({ queues, contexts }: Pick<App, 'queues' | 'contexts'>): Promise<void> {
  const have = [...contexts.values()].some(
    ({ connection }) => (connection.reminders?.calendars ?? []).length > 0,
  );
  if (have) await (await queues()).queue(calendarQueue).add('sync-calendars', {});
}
