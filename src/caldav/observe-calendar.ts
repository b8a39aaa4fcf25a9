import { counted } from '../core/lead/wording.ts';
import { LeadsyncError } from '../lib/errors.ts';
import { transaction } from '../store/database.ts';
import {
  type CalendarAnswer,
  forgetEntries,
  knownNames,
  noteRead,
  renameEntry,
  saveSeen,
  type Seen,
} from '../store/calendar-entries.ts';
import { type CalendarContext, entriesAtOnce } from './calendar-context.ts';
import { shownJson } from './entry-facts.ts';
import { readEntry } from './entry-text.ts';

type KnownName = Awaited<ReturnType<typeof knownNames>>[number];

/** Entries that are looked for under another name, when they have gone. */
const mostSearched = 20;

/** A calendar that shows this many fewer, and less than half of what it did, was not emptied entry by entry. */
const mostGone = 2;

/** Of leadsync's own entries alone: no other entry is read. Throws `caldav.emptied` when most of them have gone at once; then nothing is stored. */
export async function observeCalendar(
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
      seen.push({ name, etag, shown: shownJson(readEntry(text, component, zoneOf(context))) });
    }
  }
  const goneNames = gone.map(({ name }) => name);
  await transaction(pool, async (db) => {
    await lease.assertHeld(db);
    for (const [from, to] of moved) await renameEntry(db, ref, from, to);
    if (answer === 'restore') await forgetEntries(db, ref, goneNames);
    else seen.push(...goneNames.map((name) => ({ name, etag: null, shown: shownJson({ kind: 'missing' }) })));
    await saveSeen(db, ref, seen);
    await noteRead(db, ref);
  });
}

export function zoneOf({ reminders }: CalendarContext): string {
  return reminders.rules.dayZone;
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
