import { shortHash } from '../core/lead/content-hash.ts';
import { followUpField } from '../core/lead/follow-up.ts';
import type { EntryRow } from '../store/calendar-entries.ts';
import type { CalendarContext } from './calendar-context.ts';
import { type Decision, decideEntry } from './decide-entry.ts';
import { factsOf } from './entry-facts.ts';

/** What becomes of an entry, from what is stored. Where people may not move follow-ups, an entry that was moved goes back. */
export function decideRow(context: CalendarContext, row: EntryRow): Decision {
  const { reminders, clock, connection } = context;
  const settings = { madeOf: madeOf(context, row), now: clock.now(), onDone: reminders.onCalendarDone };
  const decision = decideEntry(factsOf(row, settings));
  const mapping = connection.fields.find(({ field }) => field === followUpField);
  if (decision.do !== 'request' || mapping?.direction === 'two-way') return decision;
  if (decision.ended !== null) return { do: 'end', ended: decision.ended };
  return { do: row.dueAt === null ? 'take-back' : 'change' };
}

/** A hash of all that the texts of an entry are made of, besides the templates. */
export function madeOf({ connection, reminders }: CalendarContext, { cellsHash }: EntryRow): string {
  const { leadUrl, language, languages, rules } = reminders;
  return shortHash(
    JSON.stringify([
      cellsHash,
      connection.fields,
      leadUrl,
      language,
      languages,
      rules.timeZone,
      rules.timeZones,
    ]),
  );
}
