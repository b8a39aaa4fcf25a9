import { createHash } from 'node:crypto';
import { html } from 'hono/html';
import { authorWords } from '../../core/lead/author.ts';
import { count, counted } from '../../core/lead/counted.ts';
import { type FieldMapping, headingOf } from '../../core/lead/mapping.ts';
import { explain, type LeadsyncError } from '../../errors.ts';
import { decidableSides, isEdit, type Side } from '../../review/decide-conflict.ts';
import type { Conflict } from '../../store/conflicts.ts';
import type { Decided } from '../../store/decisions.ts';
import { card, cards, type Html, list, pageLinks, postButton, table } from './elements.ts';
import type { Page } from './layout.ts';
import { asOf, foldedText, heldMessage, placeWords, shownTime, shownValue } from './shown.ts';

/** A held item with what a page shows of it. */
export interface ShownConflict {
  readonly item: Conflict;
  /** Of the lead, from the baseline. */
  readonly company: string | null;
  readonly fields: readonly FieldMapping[];
  readonly timeZone: string;
}

interface ConflictsPage {
  /** Null: all connections. */
  readonly connection: string | null;
  readonly conflicts: readonly ShownConflict[];
  readonly total: number;
  /** Address of this page, for the way back, and of the next one. */
  readonly here: string;
  readonly next: string | null;
  readonly isFirst: boolean;
  readonly now: number;
}

/** A short hash of the values that a person decides on: a decision on other values does not count. */
export function seenHash(...shown: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(shown)).digest('base64url').slice(0, 16);
}

export function seenConflict({ lead, rowValue, code }: Conflict): string {
  return seenHash(lead, rowValue, code);
}

/** Who decided and when, as far as recorded; follows the decision. */
export function decidedBy(decided: Decided | null, timeZone: string): Html | null {
  return decided && html`, by <bdi>${decided.by}</bdi>, ${shownTime(decided.at, timeZone)}`;
}

const sides = ['lead', 'target'] as const;
const whereWords: Readonly<Record<Side, string>> = { lead: 'In the service', target: 'In the table' };

/** Of a side: `the lead’s`. */
export const whoseWords: Readonly<Record<Side, string>> = { lead: 'the lead’s', target: 'the row’s' };

/** `/conflicts`: the held items, page by page. */
export function conflictsPage(page: ConflictsPage): Page {
  const { connection, conflicts, total, here, next, isFirst, now } = page;
  const first = connection === null ? '/conflicts' : `/conflicts?connection=${connection}`;
  const body = html`<p>${total === 0 ? 'Nothing is held.' : `${counted(total, 'item')} held: both sides stay as they are until a person decides, or makes them equal. The next sync applies a decision.`}
${connection !== null && html`<a href="/conflicts">Conflicts of all connections</a>`}</p>
${asOf(now)}
${conflicts.length > 0 && html`<h2>Held items, oldest first</h2>${decideAllLinks(page)}${conflictList(conflicts, here)}`}
${pageLinks(isFirst ? null : first, next)}`;
  return { title: connection === null ? 'Conflicts' : `Conflicts of ${connection}`, body };
}

/** Held items with both values and a button for each side that may be chosen. `back`: the page to return to. */
export function conflictList(conflicts: readonly ShownConflict[], back: string): Html {
  return cards(conflicts.map((conflict) => conflictCard(conflict, back)));
}

function fieldOf({ item: { field }, fields }: ShownConflict): string {
  return field === '' ? 'Whole record' : headingOf(fields, field);
}

function titleOf(shown: ShownConflict): Html {
  const { item, company } = shown;
  const { field, leadId, row } = item;
  const what = field === '' ? '' : `: ${fieldOf(shown)}`;
  if (company !== null) return html`${foldedText(company)}${what}`;
  return html`${leadId === '' ? `Row ${row ?? '?'}` : `Lead ${leadId}`}${what}`;
}

function conflictCard(shown: ShownConflict, back: string): Html {
  const { item, fields, timeZone } = shown;
  const { id, connection, field, row, leadId, code, author, resolution, decided } = item;
  const place = placeWords(row, leadId === '' ? `${connection}, a row without an id` : connection, leadId);
  const decidable = decidableSides(item, fields);
  const isMatch = code.startsWith('match.');
  const again = decidable.map((side) =>
    chooseButton(item, side, `Make the ${side === 'lead' ? 'row' : 'lead'} again`, back),
  );
  return card(
    `held-${id}`,
    titleOf(shown),
    html`${!isMatch && html`${id}, `}${place}, held since ${shownTime(item.since, timeZone)}`,
    html`<p>${heldMessage(code, item.message, timeZone)} <code>${code}</code></p>
${author && html`<p class="hint">In the table: ${authorWords(author)}${author.at && html` on ${shownTime(author.at, timeZone)}`}</p>`}
${field === '' ? again : valueTable(shown, decidable, back)}
${resolution && html`<p class="status info"><span aria-hidden="true">✓</span> Decided: ${field === '' ? 'it is made again' : `${whoseWords[resolution]} value`}${decidedBy(decided, timeZone)}. The next sync applies it.</p>`}
${isMatch && html`<p><a href="/matches">Both records, and the decision</a></p>`}
${decidable.length === 0 && !isMatch && html`<p class="hint">Nothing to choose here: change the row or the lead as the sentence says; the next sync sees it.</p>`}`,
  );
}

function valueOf({ item, timeZone }: ShownConflict, side: Side): Html {
  return shownValue(side === 'lead' ? item.lead : item.rowValue, timeZone);
}

function valueTable(shown: ShownConflict, decidable: readonly Side[], back: string): Html {
  const { item, company } = shown;
  const what = fieldOf(shown);
  const rows = sides.map((side) => {
    const isRequested = side === 'target' && isEdit(item);
    const label = html`${isRequested ? 'Take the requested' : `Keep ${whoseWords[side]}`} value<span class="hidden"> of ${what}, ${company ?? item.leadId}</span>`;
    const button = decidable.includes(side) && chooseButton(item, side, label, back);
    return [
      isRequested ? `Requested by ${item.requestedBy}` : whereWords[side],
      html`<div class="choice"><div>${valueOf(shown, side)}</div>${button}</div>`,
    ];
  });
  return table('values', `Both values of ${what}`, ['Side', 'Value'], rows);
}

function chooseButton(item: Conflict, use: Side, label: Html | string, back: string): Html {
  return postButton(`/conflicts/${item.id}`, label, { use, seen: seenConflict(item), back });
}

/** Links that decide all shown items at once, after a confirmation. */
function decideAllLinks({ conflicts, here }: ConflictsPage): Html | null {
  const links = sides.flatMap((use) => {
    const { length } = openFor(conflicts, use);
    const address = `${here.replace('/conflicts', '/conflicts/all')}${here.includes('?') ? '&' : '?'}use=${use}`;
    const label = `Keep ${whoseWords[use]} value of all ${count(length)} shown…`;
    return length < 2 ? [] : [html`<a href="${address}">${label}</a>`];
  });
  return links.length === 0 ? null : html`<nav aria-label="Many at once">${list(links)}</nav>`;
}

/**
 * The items of a list that may be decided for this side at once: undecided fields. A whole record is no value of a side, and a
 * decision stays.
 */
function openFor(conflicts: readonly ShownConflict[], use: Side): readonly ShownConflict[] {
  return conflicts.filter(
    ({ item, fields }) =>
      item.field !== '' &&
      !isEdit(item) &&
      item.resolution === null &&
      decidableSides(item, fields).includes(use),
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
  const item = open.map((one) => `${one.item.id}:${seenConflict(one.item)}`);
  const other = use === 'lead' ? 'target' : 'lead';
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

/** The outcome of many decisions of which some were refused. */
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
