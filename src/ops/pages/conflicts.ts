import { hash } from 'node:crypto';
import { html } from 'hono/html';
import { authorWords } from '../../core/lead/author.ts';
import { count, counted } from '../../core/lead/wording.ts';
import { type FieldMapping, headingOf } from '../../core/lead/mapping.ts';
import { explain, type LeadsyncError } from '../../lib/errors.ts';
import { type Answer, deleteQuestions, isDeleteAnswer } from '../../core/merge/holds.ts';
import { type Cells, sameCell } from '../../core/lead/value.ts';
import { answerOf, answersTo, choiceWords, whatIsMade } from '../../review/decide-held.ts';
import type { HeldItem, MatchState } from '../../store/held.ts';
import type { Decided } from '../../store/conflicts.ts';
import { card, cards, type Html, list, type Page, pageLinks, postButton, table } from './layout.ts';
import { asOf, foldedText, heldMessage, placeWords, shownTime, shownValue } from './shown.ts';

export interface ShownHeld<Item extends HeldItem = HeldItem> {
  readonly item: Item;
  readonly fields: readonly FieldMapping[];
  readonly timeZone: string;
}

interface ConflictsPage {
  /** Null: all connections. */
  readonly connection: string | null;
  readonly conflicts: readonly ShownHeld[];
  readonly total: number;
  /** Address of this page, for the way back, and of the next one. */
  readonly here: string;
  readonly next: string | null;
  readonly isFirst: boolean;
  readonly now: number;
}

/** A short hash of what a person decides on: a decision on anything else does not count. */
export function seenItem(item: HeldItem): string {
  return hash('sha256', JSON.stringify(seenOf(item)), 'base64url').slice(0, 16);
}

function seenOf(item: HeldItem): readonly unknown[] {
  if (item.kind === 'match') return [item.leadId, item.lead, item.cells];
  return item.kind === 'calendar'
    ? [item.recipient, item.message]
    : [item.lead, item.rowValue, item.records, item.code];
}

/** Who decided and when, as far as recorded; follows the decision. */
function decidedBy(decided: Decided | null, timeZone: string): Html | null {
  return decided && html`, by <bdi>${decided.by}</bdi>, ${shownTime(decided.at, timeZone)}`;
}

type Side = 'lead' | 'row';
const sides = ['lead', 'row'] as const;
const whereWords: Readonly<Record<Side, string>> = { lead: 'In the service', row: 'In the table' };

/** Of a side, as the state names it: `the lead’s`. */
export const whoseWords = { lead: 'the lead’s', target: 'the row’s', row: 'the row’s' } as const;

type HeldRecord = Exclude<HeldItem, { readonly kind: 'match' | 'calendar' }>;

/** `/conflicts`: all that waits for a person, page by page. */
export function conflictsPage(page: ConflictsPage): Page {
  const { connection, conflicts, total, here, next, isFirst, now } = page;
  const first = connection === null ? '/conflicts' : `/conflicts?connection=${connection}`;
  const body = html`<p>${total === 0 ? 'Nothing is held.' : `${counted(total, 'item')} held: both sides stay as they are until a person decides, or makes them equal. The next sync applies a decision; the worker that on a calendar or a requested edit.`}
${connection !== null && html`<a href="/conflicts">Conflicts of all connections</a>`}</p>
${asOf(
  now,
  conflicts.map(({ timeZone }) => timeZone),
)}
${conflicts.length > 0 && html`<h2>Held items, oldest first</h2>${decideAllLinks(page)}${heldList(conflicts, here)}`}
${pageLinks(isFirst ? null : first, next)}`;
  return { title: connection === null ? 'Conflicts' : `Conflicts of ${connection}`, body };
}

/** Held items, each with a button for each answer. `back`: the page to return to. */
export function heldList(conflicts: readonly ShownHeld[], back: string): Html {
  return cards(conflicts.map((one) => heldCard(one, back)));
}

function heldCard({ item, ...rest }: ShownHeld, back: string): Html {
  if (item.kind === 'match') return matchCard({ item, ...rest }, back);
  return item.kind === 'calendar'
    ? calendarCard({ item, ...rest }, back)
    : conflictCard({ item, ...rest }, back);
}

function calendarCard(
  { item, timeZone }: ShownHeld<Extract<HeldItem, { kind: 'calendar' }>>,
  back: string,
): Html {
  const { id, connection, recipient, code, message, resolution } = item;
  const buttons = html`<div class="actions">
${chooseButton(item, 'restore', 'Write the entries again', back)}
${chooseButton(item, 'deleted', 'They were deleted on purpose', back)}
</div>`;
  return card(
    `held-${id}`,
    html`Calendar of <bdi>${recipient}</bdi>`,
    html`${id}, ${connection}`,
    html`<p>${heldMessage(code, message, timeZone)} <code>${code}</code></p>
${resolution === null ? buttons : decidedLine(resolution === 'restore' ? 'the entries are written again' : 'they were deleted on purpose', 'The worker applies it.')}`,
  );
}

const stateWords: Readonly<Record<MatchState, string>> = {
  proposed: 'Each is the best match of the other.',
  ambiguous: 'Not certain: others match as well.',
  accepted: 'The next sync links them.',
  rejected: 'The next sync makes a lead of the row and a row of the lead.',
  undone: 'An undo took them apart.',
};

function matchCard(shown: ShownHeld<Extract<HeldItem, { kind: 'match' }>>, back: string): Html {
  const { item, timeZone } = shown;
  const { id, connection, leadId, row, lead, cells, score, why, state, decided, company } = item;
  const label = (text: string): Html =>
    html`${text}<span class="hidden">: ${company ?? leadId}, row ${row ?? ''}</span>`;
  const is = state === 'accepted' ? 'one' : state === 'rejected' ? 'two' : null;
  return card(
    `held-${id}`,
    html`${company === null ? `Lead ${leadId}` : foldedText(company)}: a row and a lead that may be one, ${Math.round(score * 100)} %`,
    html`${id}, ${placeWords(row, connection, leadId)}`,
    html`<p>${why}. ${is === null && stateWords[state]}</p>
${is !== null && decidedLine(html`they are ${is}${decidedBy(decided, timeZone)}`, stateWords[state])}
${recordTable('What both show', lead, cells, shown)}
<div class="actions">
${chooseButton(item, 'link', label('They are one'), back)}
${chooseButton(item, 'apart', label('They are two'), back)}
</div>`,
  );
}

/** What two records show, field by field. */
function recordTable(
  caption: string,
  lead: Cells | null,
  row: Cells | null,
  { fields, timeZone }: ShownHeld,
): Html {
  const rows = fields
    .filter(({ field }) => !sameCell(lead?.[field] ?? null, null) || !sameCell(row?.[field] ?? null, null))
    .map(({ field, column }) => [
      column,
      shownValue(lead?.[field], timeZone),
      shownValue(row?.[field], timeZone),
    ]);
  return table('values', caption, ['Column', 'In the service', 'In the table'], rows);
}

function decidedLine(what: Html | string, then: string): Html {
  return html`<p class="status info"><span aria-hidden="true">✓</span> Decided: ${what}. ${then}</p>`;
}

function fieldOf({ item: { field }, fields }: ShownHeld<HeldRecord>): string {
  return field === '' ? 'Whole record' : headingOf(fields, field);
}

function titleOf(shown: ShownHeld<HeldRecord>): Html {
  const { field, leadId, row, company } = shown.item;
  const what = field === '' ? '' : `: ${fieldOf(shown)}`;
  if (company !== null) return html`${foldedText(company)}${what}`;
  return html`${leadId === '' ? `Row ${row ?? '?'}` : `Lead ${leadId}`}${what}`;
}

function conflictCard(shown: ShownHeld<HeldRecord>, back: string): Html {
  const { item, fields, timeZone } = shown;
  const { id, connection, field, row, leadId, code, author, resolution, decided } = item;
  const place = placeWords(row, leadId === '' ? `${connection}, a row without an id` : connection, leadId);
  const decidable = answersTo(item, fields);
  const again = decidable.map((side) => chooseButton(item, side, recordLabel(item, side), back));
  return card(
    `held-${id}`,
    titleOf(shown),
    html`${id}, ${place}, held since ${shownTime(item.since, timeZone)}`,
    html`<p>${heldMessage(code, item.message, timeZone)} <code>${code}</code></p>
${author && html`<p class="hint">In the table: ${authorWords(author)}${author.at && html` on ${shownTime(author.at, timeZone)}`}</p>`}
${item.records && recordTable('Both as they were', item.records.lead, item.records.row, shown)}
${field === '' ? again.length > 0 && html`<div class="actions">${again}</div>` : valueTable(shown, decidable, back)}
${resolution && decidedLine(html`${decisionWords(item, resolution)}${decidedBy(decided, timeZone)}`, 'The next sync applies it.')}
${decidable.length === 0 && html`<p class="hint">Nothing to choose here: change the row or the lead as the sentence says; the next sync sees it.</p>`}`,
  );
}

/** Of a record as a whole: the side of which the other one is made, or what becomes of a delete. */
function recordLabel({ code, company, leadId }: HeldRecord, use: Answer): Html | string {
  const isRow = code === deleteQuestions.row;
  const of = html`<span class="hidden">: ${company ?? leadId}</span>`;
  if (use === 'deleted') return html`Delete the ${isRow ? 'lead' : 'row'} too${of}`;
  if (use === 'restore') return html`Write the ${isRow ? 'row' : 'lead'} again${of}`;
  return whatIsMade(use, code).order;
}

function decisionWords(item: HeldRecord, resolution: NonNullable<HeldRecord['resolution']>): string {
  if (isDeleteAnswer(resolution)) return choiceWords[resolution];
  return item.field === '' ? whatIsMade(answerOf(item), item.code).result : `${whoseWords[resolution]} value`;
}

function valueOf({ item, timeZone }: ShownHeld<HeldRecord>, side: Side): Html {
  return shownValue(side === 'lead' ? item.lead : item.rowValue, timeZone);
}

function valueTable(shown: ShownHeld<HeldRecord>, decidable: readonly Answer[], back: string): Html {
  const { item } = shown;
  const what = fieldOf(shown);
  const rows = sides.map((side) => {
    const isRequested = side === 'row' && item.kind === 'edit';
    const use = isRequested ? 'requested' : side;
    const label = html`${isRequested ? 'Take the requested' : `Keep ${whoseWords[side]}`} value<span class="hidden"> of ${what}, ${item.company ?? item.leadId}</span>`;
    const button = decidable.includes(use) && chooseButton(item, use, label, back);
    return [
      isRequested ? `Requested by ${item.requestedBy}` : whereWords[side],
      html`<div class="choice"><div>${valueOf(shown, side)}</div>${button}</div>`,
    ];
  });
  return table('values', `Both values of ${what}`, ['Side', 'Value'], rows);
}

function chooseButton(item: HeldItem, use: Answer, label: Html | string, back: string): Html {
  return postButton(`/conflicts/${item.id}`, label, { use, seen: seenItem(item), back });
}

/** Links that decide all shown items at once, after a confirmation. */
function decideAllLinks({ conflicts, here }: ConflictsPage): Html | null {
  const links = sides.flatMap((use) => {
    const { length } = openFor(conflicts, use);
    const address = `${here.replace('/conflicts', '/conflicts/all')}${here.includes('?') ? '&' : '?'}use=${use}`;
    const label = `Keep ${whoseWords[use]} value of all ${count(length)} shown…`;
    return length < 2 ? [] : [html`<a href="${address}">${label}</a>`];
  });
  return links.length === 0 ? null : html`<nav class="many" aria-label="Many at once">${list(links)}</nav>`;
}

/**
 * The items of a list that may be decided for this side at once: undecided fields. A whole record is no value of a side, and a
 * decision stays.
 */
function openFor(conflicts: readonly ShownHeld[], use: Side): readonly ShownHeld<HeldRecord>[] {
  return conflicts.flatMap(({ item, ...rest }) =>
    item.kind === 'field' && item.resolution === null && answersTo(item, rest.fields).includes(use)
      ? [{ item, ...rest }]
      : [],
  );
}

/** `/conflicts/all`: confirms a decision on all items of one page of the list. */
export function decideAllPage({ conflicts, here }: ConflictsPage, use: Side): Page {
  const open = openFor(conflicts, use);
  if (open.length === 0) {
    const none = html`<p>Nothing on this page of the list can be decided for this side, or all of it is decided already.</p>
${backToList(here)}`;
    return { title: 'Nothing to decide', body: none };
  }
  const rest = conflicts.length - open.length;
  const stay = rest === 1 ? 'stays as it is: it is' : 'stay as they are: they are';
  const keep = `Keep ${whoseWords[use]} ${counted(open.length, 'value')}`;
  const item = open.map((one) => `${one.item.id}:${seenItem(one.item)}`);
  const other = use === 'lead' ? 'row' : 'lead';
  const body = html`<p>The next sync writes ${whoseWords[use]} value over the other one, for each of these. Before that nothing is written. ${rest > 0 && `${counted(rest, 'further item')} of the page ${stay} decided already, or cannot be decided for this side.`}</p>
<div class="actions">${postButton('/conflicts/all', keep, { use, back: here, item })} <a href="${here}">No, back to the list</a></div>
${table(
  'values',
  'What is kept and what is dropped',
  ['Company and field', 'Kept', 'Given up'],
  open.map((one) => [titleOf(one), valueOf(one, use), valueOf(one, other)]),
)}`;
  return { title: `${keep}?`, body };
}

export function decidedAllPage(page: {
  readonly decided: number;
  readonly refused: readonly LeadsyncError[];
  readonly back: string;
}): Page {
  const { decided, refused, back } = page;
  const title = `${counted(refused.length, 'item')} not decided`;
  const body = html`<p>${counted(decided, 'decision')} taken. ${title}:</p>
${list(refused.map((error) => foldedText(explain(error))))}
${backToList(back)}`;
  return { title, body };
}

function backToList(address: string): Html {
  return html`<p><a href="${address}">Back to the list</a></p>`;
}
