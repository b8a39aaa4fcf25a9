import { counted } from '../core/lead/counted.ts';
import { type CalendarReport, reportCalendars, type ReportedEntry } from '../store/calendar-reports.ts';
import type { SyncContext } from '../sync/context.ts';
import { companiesIn } from './companies.ts';
import { shownCompany } from './names.ts';

const shown = 20;

type Calendar = Omit<CalendarReport, 'reported'> & {
  readonly reported: readonly (ReportedEntry & { readonly company: string | null })[];
};

export async function calendarsOf({ pool, connection }: SyncContext): Promise<readonly Calendar[]> {
  const configured = connection.reminders?.calendars ?? [];
  if (configured.length === 0) return [];
  const reports = await reportCalendars(pool, connection.name, shown);
  const companies = await companiesIn(
    pool,
    connection.name,
    reports.flatMap(({ reported }) => reported),
  );
  return reports
    .filter(({ recipient }) => configured.some((one) => one.recipient === recipient))
    .map(({ reported, ...calendar }) => ({
      ...calendar,
      reported: reported.map((entry) => ({ ...entry, company: companies.get(entry.leadId) ?? null })),
    }));
}

export function calendarJson({ seenAt, reported, ...calendar }: Calendar): object {
  const iso = (at: number): string => new Date(at).toISOString();
  return {
    ...calendar,
    seenAt: seenAt === null ? null : iso(seenAt),
    reported: reported.map(({ dueAt, ...entry }) => ({
      ...entry,
      dueAt: dueAt === null ? null : iso(dueAt),
    })),
  };
}

/** Epoch ms; `dueTime` shows a follow-up, which may be a day. */
export function describeCalendars(
  calendars: readonly Calendar[],
  time: (at: number) => string,
  dueTime: (at: number) => string,
): readonly string[] {
  return calendars.flatMap(({ recipient, code, note, seenAt, entries, reported }) => {
    const read = seenAt === null ? 'not read yet' : `read ${time(seenAt)}`;
    const state = code === null ? `${counted(entries, 'entry', 'entries')}, ${read}` : `${note} [${code}]`;
    const lines = reported.map((entry) => {
      const due = entry.dueAt === null ? 'no longer due' : `due ${dueTime(entry.dueAt)}`;
      return `  ${shownCompany(entry.company) ?? 'a lead'}, ${due}: ${reportOf(entry)}  ${entry.leadId}`;
    });
    return [`${recipient}: ${state}`, ...lines];
  });
}

const unclear: Readonly<Record<string, string>> = {
  repeats: 'it was made a series there; leadsync leaves it alone',
  zone: 'its date there has a time zone that leadsync does not know; leadsync leaves it alone',
  floating: 'its date there has no time zone; leadsync leaves it alone',
  'no-date': 'it has no date there; leadsync leaves it alone',
  unreadable: 'the calendar shows something that is no entry, or no date; leadsync leaves it alone',
};

function reportOf({ ended, why, note }: ReportedEntry): string {
  if (ended === 'deleted')
    return 'the entry was deleted there; the follow-up stands, and the entry comes back with its next date';
  if (ended === 'completed') return 'the entry was completed or cancelled there; the follow-up stands';
  return (why === null ? note : unclear[why]) ?? '';
}
