import { dayOf } from '../core/lead/instant.ts';
import type { Values } from '../core/lead/value.ts';
import { codeOf } from '../lib/errors.ts';
import { followUpEvent } from '../reminders/compose/compose-reminder.ts';
import {
  type EntryRow,
  type EntryState,
  forgetEntries,
  renameEntry,
  saveEntries,
  saveSeen,
} from '../store/calendar-entries.ts';
import { basesOf } from '../store/pairs.ts';
import {
  type CalendarContext,
  entriesAtOnce,
  type Decided,
  decideRow,
  madeOf,
  zoneOf,
  withKnown,
} from './entry-facts.ts';
import { begun, stored } from './decide-entry.ts';
import {
  cancelEntry,
  changeEntry,
  type Content,
  hasNotes,
  makeEntry,
  readEntry,
  type When,
  wholeSecond,
} from './entry-text.ts';

type Writing = ReturnType<typeof contentOf> & {
  readonly row: EntryRow;
  readonly when: When;
  /** As stored before the write leaves. */
  readonly state: EntryState;
};

/** Entries that a server may refuse before the pass ends: it is not the entries then. */
const mostRefused = 3;

/**
 * Puts entries, brings others to what is agreed on, or takes them back, in the text that is there now. Returns how many. What the
 * server refuses is that entry's fault, until it refuses several in a row.
 */
export async function writeEntries(
  context: CalendarContext,
  decided: readonly Decided[],
  stop: AbortSignal,
): Promise<{ readonly put: number; readonly changed: number }> {
  const { pool, ref, client } = context;
  const done = { put: 0, changed: 0 };
  let refused = 0;
  const attempt = async (
    { row, state }: Pick<Fresh, 'row' | 'state'>,
    what: keyof typeof done,
    write: () => Promise<boolean>,
  ): Promise<void> => {
    try {
      if (await write()) done[what] += 1;
      refused = 0;
    } catch (error) {
      if (codeOf(error) !== 'caldav.rejected') throw error;
      refused += 1;
      const note = error instanceof Error ? error.message : null;
      await saveEntries(pool, ref, [{ ...keyOf(row), ...state, note }]);
      if (refused >= mostRefused) throw error;
    }
  };
  for (let from = 0; from < decided.length; from += entriesAtOnce) {
    const chunk = decided.slice(from, from + entriesAtOnce);
    const rowsTo = (isPut: boolean): readonly EntryRow[] =>
      chunk.flatMap(({ row, decision }) => ((decision.do === 'put') === isPut ? row : []));
    const known = rowsTo(false);
    const names = known.flatMap(({ state }) => state?.name ?? []);
    const fresh = names.length === 0 ? [] : await freshOf(context, known, await client.read(names, stop));
    for (const one of fresh)
      if (one.row.dueAt === null) await attempt(one, 'changed', () => takeBack(context, one, stop));
    const texts = new Map(fresh.map((one) => [one.state.name, one]));
    const due = fresh.flatMap(({ row }) => (row.dueAt === null ? [] : row));
    for (const writing of await begin(context, due)) {
      const entry = texts.get(writing.state.name);
      if (entry !== undefined)
        await attempt(writing, 'changed', () => changeOne(context, writing, entry, stop));
    }
    for (const writing of await begin(context, rowsTo(true)))
      await attempt(writing, 'put', () => putOne(context, writing, stop));
  }
  return done;
}

interface Fresh {
  readonly row: EntryRow;
  readonly state: EntryState;
  readonly etag: string;
  readonly text: string;
}

/** Those that are to be written still, now that the calendar was read again; what a person did meanwhile is for the next pass. */
async function freshOf(
  context: CalendarContext,
  rows: readonly EntryRow[],
  entries: ReadonlyMap<string, { readonly etag: string | null; readonly text: string }>,
): Promise<readonly Fresh[]> {
  const { pool, ref } = context;
  const all = rows.flatMap((row) => {
    const entry = row.state === null ? undefined : entries.get(row.state.name);
    return row.state === null || entry === undefined ? [] : [{ row, state: row.state, ...entry }];
  });
  const seen = all.map(({ row, state, etag, text }) => ({
    name: state.name,
    etag,
    shown: readEntry(text, row.component, zoneOf(context)),
  }));
  await saveSeen(pool, ref, seen);
  return all.flatMap(({ row, state, etag, text }, index) => {
    const shown = seen[index]?.shown ?? state.shown;
    const what = decideRow(context, { ...row, state: { ...state, shown } }).do;
    return etag !== null && (what === 'change' || what === 'take-back')
      ? [{ row, state: { ...state, shown }, etag, text }]
      : [];
  });
}

/** Notes that the writes of these rows leave now. A lead whose values are not known is left out. */
async function begin(context: CalendarContext, rows: readonly EntryRow[]): Promise<readonly Writing[]> {
  const { pool, ref, reminders } = context;
  const cells = await basesOf(
    pool,
    ref.connection,
    rows.map(({ leadId }) => leadId),
  );
  const all = rows.flatMap((row): Writing[] => {
    const values = cells.get(row.leadId);
    if (values === undefined || row.dueAt === null) return [];
    const entry = contentOf(context, row, values);
    const due = wholeSecond(row.dueAt);
    const when = { at: due, day: dayOf(row.dueAt, reminders.rules.dayZone) };
    const known = row.state && { ...row.state, edit: null };
    const base = row.state ?? newState(entry.uid, due);
    const state = { ...base, ...begun(known, due), editId: base.editId };
    return [{ ...entry, uid: base.uid, row, when, state }];
  });
  await saveEntries(
    pool,
    ref,
    all.map(({ row, state }) => ({ ...keyOf(row), ...state })),
  );
  return all;
}

function newState(uid: string, due: number): EntryState {
  return {
    name: nameOf(uid),
    uid,
    etag: null,
    due,
    writing: null,
    isThere: false,
    ended: null,
    editId: null,
    shown: { kind: 'missing' },
    written: null,
    madeOf: null,
    note: null,
  };
}

async function putOne(context: CalendarContext, writing: Writing, stop: AbortSignal): Promise<boolean> {
  const { client, clock, pool, ref } = context;
  const { row, uid, when, content, state, alarm } = writing;
  const text = makeEntry(row.component, uid, when, content, {
    sequence: row.sequence,
    now: clock.now(),
    alarm,
  });
  const outcome = await client.put(state.name, text, null, stop);
  if (outcome.kind === 'stored') {
    await noteStored(context, writing, outcome.etag);
    return true;
  }
  // It is there: by an earlier attempt whose answer was lost, or under a name that a program gave it.
  const [other] = outcome.kind === 'uid-taken' ? await client.find(row.component, uid, stop) : [];
  const name = other ?? state.name;
  if (name !== state.name) await renameEntry(pool, ref, state.name, name);
  for (const [found, entry] of await client.read([name], stop)) {
    const shown = readEntry(entry.text, row.component, zoneOf(context));
    await saveSeen(pool, ref, [{ name: found, etag: entry.etag, shown }]);
  }
  return false;
}

async function changeOne(
  context: CalendarContext,
  writing: Writing,
  { etag, text }: Fresh,
  stop: AbortSignal,
): Promise<boolean> {
  const { row, when, content, state } = writing;
  const changed = changeEntry(text, row.component, {
    when,
    content,
    written: state.written as Content | null,
    sequence: row.sequence,
    timeZone: zoneOf(context),
    now: context.clock.now(),
  });
  const outcome = await context.client.put(state.name, changed, etag, stop);
  if (outcome.kind !== 'stored') return false;
  await noteStored(context, writing, outcome.etag);
  return true;
}

/** Cancels an entry instead when a person wrote something into it. */
async function takeBack(
  { client, clock, pool, ref }: CalendarContext,
  { row, state, etag, text }: Fresh,
  stop: AbortSignal,
): Promise<boolean> {
  const written = state.written as Content | null;
  if (!hasNotes(text, row.component, written)) {
    if (!(await client.remove(state.name, etag, stop))) return false;
    await forgetEntries(pool, ref, [state.name]);
    return true;
  }
  const outcome = await client.put(state.name, cancelEntry(text, row.component, clock.now()), etag, stop);
  if (outcome.kind !== 'stored') return false;
  const shown = { ...state.shown, isDone: true };
  await saveSeen(pool, ref, [{ name: state.name, etag: outcome.etag, shown }]);
  return true;
}

async function noteStored(
  context: CalendarContext,
  { row, when, content, state }: Writing,
  etag: string | null,
) {
  const shown = { kind: 'entry', at: when.at, isDone: false, mark: when.at };
  const now = { ...state, etag, shown, written: { ...content }, madeOf: madeOf(context, row), note: null };
  await saveEntries(context.pool, context.ref, [{ ...keyOf(row), ...withKnown(now, stored(when.at), null) }]);
}

function keyOf({ leadId, component }: EntryRow) {
  return { leadId, component };
}

/** `alarm`: when a new entry reminds: seconds after its date, negative before; null: not at all. */
function contentOf(context: CalendarContext, row: EntryRow, cells: Values) {
  const { connection, reminders: settings, ref, templates, clock } = context;
  const { leadId, component, sequence, dueAt } = row;
  // Without its row: people sort and insert rows all day, and each entry would be written anew.
  const lead = { leadId, cells, dueAt: dueAt ?? 0, sequence, row: null };
  const facts = { connection, settings, recipient: ref.recipient, ...lead, now: clock.now() };
  const { uid, title, description, url, alarm } = followUpEvent(facts, templates);
  return {
    // A calendar has one entry of a UID.
    uid: component === 'task' ? `task.${uid}` : uid,
    content: { title, description, url },
    alarm,
  };
}

/** Of a connection and a lead it is always the same. */
function nameOf(uid: string): string {
  return `${uid.split('@')[0]}.ics`;
}
