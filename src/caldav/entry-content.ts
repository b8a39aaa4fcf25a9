import type { Values } from '../core/lead/value.ts';
import { followUpEvent } from '../reminders/compose/compose-follow-up.ts';
import type { EntryRow } from '../store/calendar-entries.ts';
import type { CalendarContext } from './calendar-context.ts';
import type { Content } from './entry-text.ts';

export interface EntryContent {
  readonly uid: string;
  readonly content: Content;
  /** When a new entry reminds: seconds after its date, negative before; null: not at all. */
  readonly alarm: number | null;
}

export function contentOf(context: CalendarContext, row: EntryRow, cells: Values): EntryContent {
  const { connection, reminders: settings, ref, templates, clock } = context;
  const { leadId, component, sequence } = row;
  const { recipient } = ref;
  const dueAt = row.dueAt ?? 0;
  // Without its row: people sort and insert rows all day, and each entry would be written anew.
  const facts = {
    connection,
    settings,
    recipient,
    leadId,
    cells,
    dueAt,
    sequence,
    row: null,
    now: clock.now(),
  };
  const { uid, title, description, url, alarm } = followUpEvent(facts, templates);
  return {
    // A calendar has one entry of a UID.
    uid: component === 'task' ? `task.${uid}` : uid,
    content: { title, description, url },
    alarm,
  };
}

/** The name of an entry that is new: of a connection and a lead it is always the same. */
export function nameOf(uid: string): string {
  return `${uid.split('@')[0]}.ics`;
}
