import type pg from 'pg';
import { LeadsyncError } from '../lib/errors.ts';
import { columnsOf, type FieldMapping, headingOf } from '../core/lead/mapping.ts';
import { type Cell, plainCell, plainCells, showCell } from '../core/lead/value.ts';
import { type Conflict, type Decision, listConflicts, listDecisions } from '../store/conflicts.ts';
import { type Deletion, deletionsOf, type FieldWrite, joinsOf, writesOf } from '../store/history.ts';
import { openEdits, type RequestedEdit } from '../store/requested-edits.ts';
import { firstRunAt, type LeadRecord, leadRecord } from '../store/pairs.ts';
import { type FoundLead, findLead } from './find-lead.ts';
import { describeAuthor, nameRecord, otherValue, short, toSecond, print, printEachJson } from './output.ts';
import { type CommonOptions, withStore } from './with-store.ts';
import { counted } from '../core/lead/wording.ts';
import { shownDates } from '../core/lead/shown-date.ts';
import type { Rule } from '../core/merge/merge-field.ts';
import type { EditSource } from '../core/merge/requested-edit.ts';
import { answersTo, choiceWords } from '../review/decide-held.ts';
import { decisionOn } from './conflicts.ts';

type LeadStory = Awaited<ReturnType<typeof storyOf>>;
type FieldStory = LeadStory['fields'][number];

export function why(lead: string, field: string | undefined, options: CommonOptions): Promise<void> {
  return withStore(options, async (pool, { connections }) => {
    const found = await findLead(pool, connections, lead);
    const stories = await Promise.all(found.map((one) => storyOf(pool, one)));
    const shown = field === undefined ? stories : onlyField(stories, field);
    if (options.json) return printEachJson('leads', shown.map(json));
    print(shown.map(describeStory).join('\n\n'));
  });
}

/** `decisions` and `held` are those on the record as a whole; of a field, too, the newest comes first. */
async function storyOf(pool: pg.Pool, { connection, leadId }: FoundLead) {
  const { name, retentionDays, timeZone } = connection;
  const record = await leadRecord(pool, name, leadId);
  const writes = await writesOf(pool, name, leadId);
  const held = (await listConflicts(pool, name)).filter((item) => item.leadId === leadId);
  const decisions = await listDecisions(pool, name, leadId, null);
  const edits = (await openEdits(pool, name)).filter((edit) => edit.leadId === leadId);
  const firstRun = await firstRunAt(pool, name);
  const kept = new Date(Date.now() - retentionDays * 24 * 3_600_000).toISOString();
  const columns = columnsOf(connection.fields);
  const fields = new Set([
    ...columns.keys(),
    ...Object.keys(record?.base ?? {}),
    ...writes.map(({ field }) => field),
    ...decisions.flatMap(({ field }) => (field === '' ? [] : [field])),
  ]);
  return {
    connection: name,
    leadId,
    company: companyOf(record, writes),
    record,
    deletions: await deletionsOf(pool, name, leadId),
    joins: await joinsOf(pool, name, leadId),
    decisions: decisions.filter(({ field }) => field === ''),
    held: held.filter(({ field }) => field === ''),
    fields: [...fields].map((field) => {
      const of = <T extends { readonly field: string }>(all: readonly T[]): readonly T[] =>
        all.filter((one) => one.field === field);
      return {
        field,
        /** Null: not mapped any more. */
        column: columns.get(field) ?? null,
        /** What both sides last agreed on; undefined: they were never in step. */
        base: record?.base?.[field],
        held: of(held),
        openEdits: of(edits),
        history: of(writes),
        decisions: of(decisions),
      };
    }),
    mappings: connection.fields,
    retentionDays,
    timeZone,
    /** From when on the history is kept; null: nothing has run so far. */
    since: firstRun === null || firstRun > kept ? firstRun : kept,
  };
}

function companyOf(record: LeadRecord | null, writes: readonly FieldWrite[]): string | null {
  const cell = writes.find(({ field }) => field === 'companyName')?.written ?? null;
  return record?.base?.['companyName'] ?? plainCell(cell);
}

/** Named as in the service or by its heading. */
function onlyField(stories: readonly LeadStory[], name: string): readonly LeadStory[] {
  const named = stories.flatMap((story) => {
    const found =
      story.fields.find(({ field }) => field === name) ?? story.fields.find(({ column }) => column === name);
    return found === undefined ? [] : [{ ...story, fields: [found] }];
  });
  if (named.length > 0) return named;
  const known = [...new Set(stories.flatMap(({ fields }) => fields.map(({ field }) => field)))];
  throw new LeadsyncError('usage.unknown-field', `there is no field ${short(name)}`, {
    help: `Fields are: ${known.join(', ')}. leadsync why ${stories[0]?.leadId ?? 'LEAD'} shows all of them.`,
  });
}

function json({ record, company, deletions, joins, decisions, held, fields, ...story }: LeadStory): object {
  const inRun = <T extends { readonly run: number }>({ run, ...rest }: T) => ({ run: String(run), ...rest });
  return {
    leadId: story.leadId,
    connection: story.connection,
    ...(company !== null && { company }),
    knownSince: record?.firstSeenAt ?? null,
    deletedAt: record?.deletedAt ?? null,
    ...(record?.outsideSince && { outsideSince: record.outsideSince }),
    ...(record?.pausedSince && { pausedSince: record.pausedSince }),
    historySince: story.since,
    deletions: deletions.map(inRun),
    ...(joins.length > 0 && { matched: joins.map(inRun) }),
    ...(decisions.length > 0 && {
      decisions: decisions.map(({ at, by, choice }) => ({ at, by, choice })),
    }),
    held: held.map(({ id, code, message, since }) => ({ id: String(id), code, message, since })),
    fields: Object.fromEntries(fields.map((one) => [one.field, fieldJson(one)])),
  };
}

function fieldJson({ base, held, openEdits, history, decisions }: FieldStory): object {
  const { edits = [], others = [] } = Object.groupBy(held, ({ kind }) =>
    kind === 'edit' ? 'edits' : 'others',
  );
  return {
    base,
    held: others.map(conflictJson)[0] ?? null,
    ...(edits.length > 0 && { heldEdits: edits.map(conflictJson) }),
    ...(openEdits.length > 0 && { openEdits: openEdits.map(editJson) }),
    history: history.map(({ field: _, run, author, lead, row, written, ...write }) => ({
      run: String(run),
      ...write,
      ...plainCells({ lead, row, written }),
      changedBy: author ?? undefined,
    })),
    ...(decisions.length > 0 && {
      decisions: decisions.map(({ at, by, choice, lead, row }) => ({
        at,
        by,
        choice,
        ...plainCells({ lead, row }),
      })),
    }),
  };
}

function editJson({ id, requestedBy, requestedAt, source, from, to, note }: RequestedEdit): object {
  return { id: String(id), by: requestedBy, at: requestedAt, source, from, to, note };
}

function conflictJson({ id, code, message, lead, rowValue, resolution, since, author }: Conflict): object {
  const shown = plainCells({ lead, row: rowValue });
  return { id: String(id), code, message, ...shown, resolution, since, changedBy: author ?? undefined };
}

function describeStory(story: LeadStory): string {
  const lines = [
    nameRecord(story.company, story.connection, `lead ${story.leadId}`),
    ...describeRecord(story).map((line) => `  ${line}`),
    ...story.fields.flatMap((field) => describeField(field, story.mappings)),
    '',
    story.since === null
      ? 'nothing has run so far'
      : `The history begins at ${toSecond(story.since)}; it is kept for ${counted(story.retentionDays, 'day')} (retention).`,
  ];
  return shownDates(lines.join('\n'), story.timeZone);
}

function describeRecord(story: LeadStory): readonly string[] {
  const { record, deletions, joins, decisions, held, fields, mappings } = story;
  const isGone = deletions.length > 0 || fields.some(({ history }) => history.length > 0);
  const unknown = isGone ? 'gone on both sides; what it was is below' : 'never seen in the service';
  const lines = [
    record === null ? unknown : `known since ${toSecond(record.firstSeenAt)}`,
    record?.deletedAt && `deleted in the service; its row was handled at ${toSecond(record.deletedAt)}`,
    record?.outsideSince &&
      `leads.query has not shown it since ${toSecond(record.outsideSince)}: its row stays, and no mails are sent`,
    record?.pausedSince &&
      `its row has been paused since ${toSecond(record.pausedSince)}: neither side follows the other`,
    ...joins.map(
      ({ at, run, message }) => `${toSecond(at)}, run ${run}: the row was matched with the lead: ${message}`,
    ),
    ...deletions.map(
      ({ at, run, kind, reason }) =>
        `${toSecond(at)}, run ${run}: ${deletionWords[kind][reason === 'undone' ? 1 : 0]}`,
    ),
    ...decisions.map(describeDecision),
    ...held.map((item) => describeConflict(item, mappings)),
  ];
  return lines.filter((line) => typeof line === 'string');
}

const deletionWords: Readonly<Record<Deletion['kind'], readonly [done: string, undone: string]>> = {
  'delete-lead': [
    'its row had been deleted: the lead was deleted',
    'the run that made the lead was undone: the lead was deleted',
  ],
  'mark-row': [
    'the lead had been deleted: the row was marked, where there is a status column',
    'the run that marked the row was undone: the mark was removed',
  ],
  'remove-row': [
    'the lead had been deleted: the row was removed',
    'the run that made the row was undone: the row was removed',
  ],
};

function describeField(
  { field, column, base, held, openEdits, history, decisions }: FieldStory,
  mappings: readonly FieldMapping[],
): readonly string[] {
  const events = [
    ...history.map((write) => ({ at: write.at, lines: describeWrite(write) })),
    ...decisions.map((one) => ({ at: one.at, lines: [`  ${describeDecision(one)}`] })),
  ].toSorted((a, b) => Date.parse(b.at) - Date.parse(a.at));
  return [
    '',
    column === null ? `${field} (not mapped any more)` : headingOf(mappings, field),
    base === undefined
      ? '  both sides have not agreed on a value so far'
      : `  both sides last agreed on ${showShort(base)}`,
    ...held.map((item) => `  ${describeConflict(item, mappings)}`),
    ...openEdits.map((edit) => `  ${describeEdit(edit)}`),
    ...(events.length === 0 ? ['  no write is on record'] : events.flatMap(({ lines }) => lines)),
  ];
}

function describeConflict(item: Conflict, mappings: readonly FieldMapping[]): string {
  const use = answersTo(item, mappings);
  const decided = item.resolution === null ? '' : `; decided: ${decisionOn(item)}`;
  const help = use.length === 0 ? '' : `; leadsync resolve ${item.id} --use ${use.join('|')}`;
  const values =
    item.field === '' ? '' : `lead ${showShort(item.lead)} | ${otherValue(item, showShort(item.rowValue))}: `;
  const author = describeAuthor(item.author);
  return `held (${item.id}) since ${toSecond(item.since)}: ${values}${short(item.message, 300)} [${item.code}]${author && `; ${author}`}${decided || help}`;
}

function describeDecision({ at, by, choice, field, lead, row }: Decision): string {
  const isEdit = choice === 'requested' || choice === 'given-up';
  const values = `lead ${showShort(lead)} | ${isEdit ? 'requested' : 'row'} ${showShort(row)}`;
  const what =
    field === ''
      ? `that ${choiceWords[choice]}`
      : isEdit
        ? `that ${choiceWords[choice]} (${values})`
        : `for the ${choice === 'lead' ? "lead's" : "row's"} value (${values})`;
  return `${toSecond(at)}: ${by} decided ${what}`;
}

function describeWrite(write: FieldWrite): readonly string[] {
  const seen = { agreed: write.base, lead: write.lead, row: write.row };
  const known = Object.entries(seen).flatMap(([of, cell]) =>
    cell === undefined ? [] : [`${of} ${showShort(cell)}`],
  );
  const author = describeAuthor(write.author);
  return [
    `  ${toSecond(write.at)}, run ${write.run}: ${explainRule(write)}`,
    `    ${known.join(' | ')} -> ${write.side}: ${showShort(write.written)}`,
    ...(author === '' ? [] : [`    ${author}`]),
  ];
}

type Words = (write: FieldWrite) => string;

/** By the rule of the merge, or why a record was written as a whole. */
const words: Readonly<Record<Rule, Words> & Record<string, Words>> = {
  'row-edited': (write) => `the row was edited, the lead had not changed: ${got(write)}`,
  'lead-edited': (write) => `the lead was edited, the row had not changed: ${got(write)}`,
  'fills-empty': (write) => `one side was empty at first sight: ${got(write)}`,
  'leads-win': (write) => `${differed(write)} is leads-win: ${got(write)}`,
  'target-wins': (write) => `${differed(write)} is target-wins: ${got(write)}`,
  'one-way': (write) =>
    `the two differed, and the field only goes from the ${other(write)} to the ${write.side}: ${got(write)}`,
  resolved: (write) => `a person decided: ${got(write)}`,
  'older-copy': (write) =>
    `the ${write.side} showed an older copy's value, and a person chose to bring it forward: ${got(write)}`,
  requested: ({ requested }) =>
    requested === undefined
      ? 'somebody requested it: the lead got it'
      : `${requested.by} requested it ${sourceWords[requested.source]} at ${toSecond(requested.at)}: the lead got it`,
  overwritten: () =>
    'a row without an id was sent as a new lead, and the service wrote it into this one, which was there already',
  'new-lead': () => 'the lead was new: a row was created from it',
  'new-row': () => 'the row was new: a lead was created from it',
  created: () => 'the service set this when it created the lead: the row got it',
  'row-deleted': ({ side }) =>
    `the row had been deleted: ${side === 'row' ? 'it was written again' : 'the lead was deleted'}`,
  'row-deleted-but-lead-edited': () =>
    'the row had been deleted, but the lead was edited since: the row was written again',
  'lead-deleted': () => 'the lead had been deleted: the row was removed',
  'stored-otherwise': () => "the service stored the row's value differently: the row got the stored value",
  undone: ({ side }) => `a run was undone: the ${side} got back what it had before`,
  reopened: ({ side }) =>
    `a run was undone: the ${side} got back what it had before, and what the run had decided is open again`,
};

const sourceWords: Readonly<Record<EditSource, string>> = {
  link: 'by the link in a mail',
  calendar: 'in the calendar',
};

function describeEdit({ requestedBy, requestedAt, source, from, to, note }: RequestedEdit): string {
  const what = `${requestedBy} requested ${showShort(to)} in place of ${showShort(from)} ${sourceWords[source]} at ${toSecond(requestedAt)}`;
  return `${what}; the worker carries it out${note === null ? '' : ` when it can: ${short(note, 300)}`}`;
}

function explainRule(write: FieldWrite): string {
  return words[write.rule]?.(write) ?? `${write.rule}: ${got(write)}`;
}

function got(write: FieldWrite): string {
  return `the ${write.side} got the ${other(write)}'s value`;
}

function other({ side }: FieldWrite): string {
  return side === 'row' ? 'lead' : 'row';
}

function differed({ base }: FieldWrite): string {
  return base === undefined
    ? 'the two differed at first sight and onFirstSync'
    : 'both sides were edited and onConflict';
}

function showShort(cell: Cell): string {
  return short(showCell(cell));
}
