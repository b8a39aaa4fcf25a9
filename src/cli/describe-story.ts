import { counted } from '../core/lead/counted.ts';
import { type FieldMapping, headingOf } from '../core/lead/mapping.ts';
import { shownDates } from '../core/lead/shown-date.ts';
import { type Cell, showCell } from '../core/lead/value.ts';
import type { Rule } from '../core/merge/merge-field.ts';
import type { EditSource } from '../core/merge/requested-edit.ts';
import type { Conflict } from '../store/conflicts.ts';
import type { Decision } from '../store/decisions.ts';
import type { Deletion, FieldWrite } from '../store/history.ts';
import type { RequestedEdit } from '../store/requested-edits.ts';
import { answersTo } from '../review/decide-held.ts';
import { decisionOn } from './conflicts.ts';
import { describeAuthor, toSecond, nameRecord, otherValue, short } from './names.ts';
import type { FieldStory, LeadStory } from './why.ts';

export function describeStory(story: LeadStory): string {
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

function describeRecord({
  record,
  deletions,
  joins,
  decisions,
  held,
  fields,
  mappings,
}: LeadStory): readonly string[] {
  const lines: string[] = [];
  if (record !== null) lines.push(`known since ${toSecond(record.firstSeenAt)}`);
  else if (deletions.length > 0 || fields.some(({ history }) => history.length > 0))
    lines.push('gone on both sides; what it was is below');
  else lines.push('never seen in the service');
  if (record?.deletedAt)
    lines.push(`deleted in the service; its row was handled at ${toSecond(record.deletedAt)}`);
  if (record?.outsideSince)
    lines.push(
      `leads.query has not shown it since ${toSecond(record.outsideSince)}: its row stays, and no mails are sent`,
    );
  for (const { at, run, message } of joins)
    lines.push(`${toSecond(at)}, run ${run}: the row was matched with the lead: ${message}`);
  for (const deletion of deletions)
    lines.push(`${toSecond(deletion.at)}, run ${deletion.run}: ${describeDeletion(deletion)}`);
  for (const decision of decisions) lines.push(describeDecision(decision));
  for (const item of held) lines.push(describeConflict(item, mappings));
  return lines;
}

const deletionWords: Readonly<Record<Deletion['kind'], string>> = {
  'delete-lead': 'its row had been deleted: the lead was deleted',
  'mark-row': 'the lead had been deleted: the row was marked, where there is a status column',
  'remove-row': 'the lead had been deleted: the row was removed',
};

const undoneWords: Readonly<Record<Deletion['kind'], string>> = {
  'delete-lead': 'the run that made the lead was undone: the lead was deleted',
  'mark-row': 'the run that marked the row was undone: the mark was removed',
  'remove-row': 'the run that made the row was undone: the row was removed',
};

function describeDeletion({ kind, reason }: Deletion): string {
  return reason === 'undone' ? undoneWords[kind] : deletionWords[kind];
}

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

const choiceWords: Readonly<Record<Decision['choice'], string>> = {
  lead: 'that the row is made again',
  target: 'that the lead is made again',
  accepted: 'that lead and row are one',
  rejected: 'that lead and row are two',
  requested: 'that the edit is carried out',
  'given-up': 'that the edit is given up',
};

function describeDecision({ at, by, choice, field, lead, row }: Decision): string {
  const isEdit = choice === 'requested' || choice === 'given-up';
  const values = `lead ${showShort(lead)} | ${isEdit ? 'requested' : 'row'} ${showShort(row)}`;
  const what =
    field === ''
      ? choiceWords[choice]
      : isEdit
        ? `${choiceWords[choice]} (${values})`
        : `for the ${choice === 'lead' ? "lead's" : "row's"} value (${values})`;
  return `${toSecond(at)}: ${by} decided ${what}`;
}

function describeWrite(write: FieldWrite): readonly string[] {
  const known = [
    ...(write.base === undefined ? [] : [`agreed ${showShort(write.base)}`]),
    ...(write.lead === undefined ? [] : [`lead ${showShort(write.lead)}`]),
    ...(write.row === undefined ? [] : [`row ${showShort(write.row)}`]),
  ];
  const author = describeAuthor(write.author);
  return [
    `  ${toSecond(write.at)}, run ${write.run}: ${explainRule(write)}`,
    `    ${known.join(' | ')} -> ${write.side}: ${showShort(write.written)}`,
    ...(author === '' ? [] : [`    ${author}`]),
  ];
}

/** Besides the merge's rules: why a record was written as a whole. */
type Reason =
  | 'new-lead'
  | 'new-row'
  | 'created'
  | 'row-deleted'
  | 'row-deleted-but-lead-edited'
  | 'lead-deleted'
  | 'stored-otherwise'
  | 'undone';

const words: Readonly<Record<Rule | Reason, (write: FieldWrite) => string>> = {
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
  const explain = Object.entries(words).find(([rule]) => rule === write.rule)?.[1];
  return explain?.(write) ?? `${write.rule}: ${got(write)}`;
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
