import { followUpField } from '../core/lead/mapping.ts';
import { requestEdit } from '../review/request-edit.ts';
import { transaction } from '../store/database.ts';
import {
  calendarState,
  entriesOf,
  forgetEntries,
  saveEntries,
  useCalendar,
} from '../store/calendar-entries.ts';
import type { CalendarContext } from './calendar-context.ts';
import { isSame, noted } from './decide-entry.ts';
import { type Decided, decideRow, knownOf, withKnown } from './entry-facts.ts';
import { wholeSecond } from './entry-time.ts';
import { observeCalendar } from './observe-calendar.ts';
import { writeEntries } from './write-entries.ts';

export interface CalendarPass {
  readonly put: number;
  /** Moved, written anew or taken back. */
  readonly changed: number;
  readonly requested: number;
}

/**
 * Stores what the person changed in the calendar as requested edits. Goes on where an earlier pass was cut off. Throws what the server
 * answers, and `caldav.emptied`.
 */
export async function syncCalendar(context: CalendarContext, stop: AbortSignal): Promise<CalendarPass> {
  const { pool, ref, calendar } = context;
  await useCalendar(pool, ref, calendar.url);
  const state = await calendarState(pool, ref);
  await observeCalendar(context, state?.answer ?? null, stop);
  const rows = await entriesOf(pool, ref, calendar.components, followUpField);
  const decided = rows.map((row): Decided => ({ row, decision: decideRow(context, row) }));
  const requested = await noteDecisions(context, decided);
  // Those that the server refused before come last: several in a row end the pass, and the others would wait for ever.
  const writes = decided
    .filter(({ decision }) => ['put', 'change', 'take-back'].includes(decision.do))
    .toSorted((a, b) => Number(isRefused(a)) - Number(isRefused(b)));
  return { requested, ...(await writeEntries(context, writes, stop)) };
}

function isRefused({ row }: Decided): boolean {
  return (row.state?.note ?? null) !== null;
}

/** Stores what writes nothing into the calendar, all at once. Returns the number of requested edits. */
async function noteDecisions(context: CalendarContext, decided: readonly Decided[]): Promise<number> {
  const { pool, ref, lease, connection } = context;
  let requested = 0;
  await transaction(pool, async (db) => {
    await lease.assertHeld(db);
    for (const { row, decision } of decided) {
      const { leadId, component, state, dueAt } = row;
      if (state === null) continue;
      if (decision.do === 'forget') await forgetEntries(db, ref, [state.name]);
      if (decision.do !== 'request' && decision.do !== 'end' && decision.do !== 'settle') continue;
      let { editId } = state;
      if (decision.do === 'request') {
        const from = isSame(dueAt, decision.from) ? dueAt : decision.from;
        const edit = { leadId, field: followUpField, from: instant(from), to: instant(decision.to) };
        const by = { source: 'calendar', requestedBy: ref.recipient } as const;
        ({ id: editId } = await requestEdit(db, connection, { ...edit, ...by }));
        requested += 1;
      }
      const known = noted(knownOf(state, row.edit), decision, dueAt === null ? null : wholeSecond(dueAt));
      await saveEntries(db, ref, [{ leadId, component, ...withKnown(state, known, editId) }]);
    }
  });
  return requested;
}

function instant(at: number | null): string | null {
  return at === null ? null : new Date(at).toISOString();
}
