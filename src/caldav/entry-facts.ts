import { shortHash } from '../core/lead/content-hash.ts';
import { followUpField } from '../core/lead/mapping.ts';
import type { EntryRow, EntryState, CalendarRef } from '../store/calendar-entries.ts';
import { decideEntry, type Decision, type Edit, type EntryFacts, type Known } from './decide-entry.ts';
import { wholeSecond } from './entry-text.ts';
import type { Logger } from 'pino';
import type pg from 'pg';
import type { CalendarSettings, ConnectionConfig, ReminderSettings } from '../config/config.ts';
import type { Clock } from '../ports/clock.ts';
import type { Templates } from '../reminders/compose/templates.ts';
import type { Lease } from '../store/leases.ts';
import type { CalendarClient } from './calendar-client.ts';

export interface CalendarContext {
  readonly pool: pg.Pool;
  readonly log: Logger;
  readonly clock: Clock;
  readonly connection: ConnectionConfig;
  readonly reminders: ReminderSettings;
  readonly calendar: CalendarSettings;
  readonly templates: Templates;
  readonly client: CalendarClient;
  /** Only its holder works on the calendars of the connection. */
  readonly lease: Lease;
  readonly ref: CalendarRef;
}

/** In which a date without a time is a day. */
export function zoneOf({ reminders }: CalendarContext): string {
  return reminders.rules.dayZone;
}

/** Entries that are read, or begun, together. */
export const entriesAtOnce = 50;

/** An appointment older than this (ms) is not put into a calendar any more; an overdue task is. */
const pastMs = 86_400_000;

/** What decides about an entry, from what is stored; `madeOf`: of what its texts would be made now. */
function factsOf(
  { dueAt, component, isHeld, state, edit }: EntryRow,
  { madeOf, now }: { readonly madeOf: string; readonly now: number },
): EntryFacts {
  return {
    agreed:
      dueAt === null
        ? null
        : { due: wholeSecond(dueAt), isPast: component === 'event' && dueAt < now - pastMs, isHeld },
    known: state && knownOf(state, edit),
    shown: state === null ? { kind: 'missing' } : (state.shown as EntryFacts['shown']),
    isStale: state !== null && state.madeOf !== madeOf,
  };
}

export function knownOf(state: EntryState, edit: EntryRow['edit']): Known {
  return { ...state, edit: state.editId === null ? null : editOf(state, edit) };
}

export function withKnown(state: EntryState, { edit, ...known }: Known, editId: number | null): EntryState {
  return { ...state, ...known, editId: edit === null ? null : editId };
}

function editOf({ due }: EntryState, edit: EntryRow['edit']): Edit {
  // It was pruned long after it had been settled.
  if (edit === null) return { to: due, state: 'over' };
  const to = edit.to === null ? null : wholeSecond(Date.parse(edit.to));
  switch (edit.state) {
    case 'open':
    case 'conflict':
      return { to, state: edit.state };
    case 'applied':
    case 'unchanged':
      return { to, state: edit.planned ? 'over' : 'applied' };
    default:
      return { to, state: 'over' };
  }
}

export interface Decided {
  readonly row: EntryRow;
  readonly decision: Decision;
}

/** What becomes of an entry, from what is stored. Where people may not move follow-ups, an entry that was moved goes back. */
export function decideRow(context: CalendarContext, row: EntryRow): Decision {
  const { clock, connection } = context;
  const decision = decideEntry(factsOf(row, { madeOf: madeOf(context, row), now: clock.now() }));
  const mapping = connection.fields.find(({ field }) => field === followUpField);
  if (decision.do !== 'request' || mapping?.direction === 'two-way') return decision;
  return { do: row.dueAt === null ? 'take-back' : 'change' };
}

/** A hash of all that the texts of an entry are made of, besides the templates. */
export function madeOf({ connection, reminders }: CalendarContext, { cellsHash }: EntryRow): string {
  const { leadUrl, language, rules } = reminders;
  return shortHash(
    JSON.stringify([cellsHash, connection.fields, leadUrl, language, rules.timeZone, rules.timeZones]),
  );
}
