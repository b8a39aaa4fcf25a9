import { followUpField } from '../core/lead/mapping.ts';
import { requestEdit } from '../review/request-edit.ts';
import { transaction } from '../store/database.ts';
import {
  calendarState,
  entriesOf,
  forgetEntries,
  saveEntries,
  useCalendar,
  type CalendarAnswer,
  knownNames,
  noteRead,
  renameEntry,
  saveSeen,
  type Seen,
} from '../store/calendar-entries.ts';
import {
  type CalendarContext,
  type Decided,
  decideRow,
  knownOf,
  withKnown,
  entriesAtOnce,
  zoneOf,
} from './entry-facts.ts';
import { isSame, noted } from './decide-entry.ts';
import { wholeSecond, readEntry } from './entry-text.ts';
import { writeEntries } from './write-entries.ts';
import { counted } from '../core/lead/wording.ts';
import { LeadsyncError } from '../lib/errors.ts';

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

type KnownName = Awaited<ReturnType<typeof knownNames>>[number];

/** Entries that are looked for under another name, when they have gone. */
const mostSearched = 20;

/** A calendar that shows this many fewer, and less than half of what it did, was not emptied entry by entry. */
const mostGone = 2;

/** Of leadsync's own entries alone: no other entry is read. Throws `caldav.emptied` when most of them have gone at once; then nothing is stored. */
async function observeCalendar(
  context: CalendarContext,
  answer: CalendarAnswer | null,
  stop: AbortSignal,
): Promise<void> {
  const { pool, client, ref, lease } = context;
  const known = await knownNames(pool, ref);
  const etags = await client.list(stop);
  const changed = known.filter(({ name, etag }) => (etags.get(name) ?? etag) !== etag);
  const missing = known.filter(({ name, isShown }) => isShown && !etags.has(name));
  const moved = await findMoved(context, missing, stop);
  const gone = missing.filter(({ name }) => !moved.has(name));
  const shown = known.filter(({ isShown }) => isShown).length;
  if (answer === null && gone.length > mostGone && gone.length * 2 > shown)
    throw emptied(context, gone.length, shown);
  const names = [...changed.map(({ name }) => moved.get(name) ?? name), ...moved.values()];
  const components = new Map(known.map(({ name, component }) => [moved.get(name) ?? name, component]));
  const seen: Seen[] = [];
  for (let from = 0; from < names.length; from += entriesAtOnce) {
    const entries = await client.read(names.slice(from, from + entriesAtOnce), stop);
    for (const [name, { etag, text }] of entries) {
      const component = components.get(name);
      if (component === undefined) continue;
      seen.push({ name, etag, shown: readEntry(text, component, zoneOf(context)) });
    }
  }
  const goneNames = gone.map(({ name }) => name);
  await transaction(pool, async (db) => {
    await lease.assertHeld(db);
    for (const [from, to] of moved) await renameEntry(db, ref, from, to);
    if (answer === 'restore') await forgetEntries(db, ref, goneNames);
    else seen.push(...goneNames.map((name) => ({ name, etag: null, shown: { kind: 'missing' } })));
    await saveSeen(db, ref, seen);
    await noteRead(db, ref);
  });
}

/** Some programs delete an entry and write it under another name when a person edits it. By old name. */
async function findMoved(
  { client }: CalendarContext,
  missing: readonly KnownName[],
  stop: AbortSignal,
): Promise<ReadonlyMap<string, string>> {
  const moved = new Map<string, string>();
  for (const { name, uid, component } of missing.slice(0, mostSearched)) {
    const [found] = await client.find(component, uid, stop);
    if (found !== undefined && found !== name) moved.set(name, found);
  }
  return moved;
}

function emptied({ ref }: CalendarContext, gone: number, shown: number): LeadsyncError {
  const { recipient } = ref;
  return new LeadsyncError(
    'caldav.emptied',
    `The calendar of ${recipient} no longer has ${gone} of ${counted(shown, 'entry', 'entries')}, as if it had been emptied or replaced. Nothing was changed.`,
    {
      retry: 'later',
      help: `leadsync resolve ${recipient} --use restore writes them again; with deleted in its place they count as deleted by ${recipient}.`,
    },
  );
}
