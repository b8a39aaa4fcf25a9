import { html } from 'hono/html';
import { authorWords } from '../../core/lead/author.ts';
import type { FieldMapping } from '../../core/lead/mapping.ts';
import type { Conflict } from '../../store/conflicts.ts';
import { decidableSides, type Side } from '../../review/decide-conflict.ts';
import { decidedBy, seenHash } from './decided.ts';
import type { Html } from './layout.ts';
import { heldMessage } from './problem-list.ts';
import { shownTime } from './shown-time.ts';
import { foldedText, shownValue } from './shown-value.ts';

/** A held item with what a page shows of it. */
export interface ShownConflict {
  readonly item: Conflict;
  /** Of the lead, from the baseline. */
  readonly company: string | null;
  readonly fields: readonly FieldMapping[];
  readonly timeZone: string;
}

/** A hash of the values that a person decides on. */
export function seenConflict({ lead, rowValue, code }: Conflict): string {
  return seenHash(lead, rowValue, code);
}

/** Held items with both values and a button for each side that may be chosen. `back`: the page to return to. */
export function conflictList(conflicts: readonly ShownConflict[], back: string): Html {
  return html`<ol class="conflicts">
${conflicts.map((conflict) => html`<li>${conflictCard(conflict, back)}</li>\n`)}</ol>`;
}

/** The column of the item, or the whole record. */
function fieldOf({ field }: Conflict, fields: readonly FieldMapping[]): string {
  if (field === '') return 'Whole record';
  return fields.find((mapping) => mapping.field === field)?.column ?? field;
}

/** The heading of an item: the company first. */
export function headingOf({ item, company, fields }: ShownConflict): Html {
  const what = fieldOf(item, fields);
  if (company !== null) return html`${foldedText(company)}: ${what}`;
  return html`${what}${item.leadId === '' ? '' : html` of lead ${item.leadId}`}`;
}

function conflictCard(shown: ShownConflict, back: string): Html {
  const { item, company, fields, timeZone } = shown;
  const { id, connection, field, row, leadId } = item;
  const what = fieldOf(item, fields);
  const where = [
    row === null ? '' : `row ${row}`,
    connection,
    leadId === '' ? 'a row without an id' : `lead ${leadId}`,
  ];
  const sides = decidableSides(item, fields);
  return html`<article class="card" id="held-${id}" tabindex="-1" aria-labelledby="h-${id}">
<h3 id="h-${id}">${headingOf(shown)}</h3>
<p class="hint">${where.filter(Boolean).join(', ')}, held since ${shownTime(Date.parse(item.since), timeZone)}</p>
<p>${heldMessage(item.code, item.message)} <code>${item.code}</code></p>
${authorLine(item, timeZone)}
${field === '' ? sides.map((side) => chooseButton(item, side, `Make the ${side === 'lead' ? 'row' : 'lead'} again`, back)) : valueTable(item, what, company ?? leadId, sides, back)}
${decidedLine(item, timeZone)}
${item.code.startsWith('match.') ? html`<p><a href="/matches">Both records, and the decision</a></p>` : ''}
${sides.length === 0 && !item.code.startsWith('match.') ? html`<p class="hint">Nothing to choose here: change the row or the lead as the sentence says; the next sync sees it.</p>` : ''}
</article>`;
}

function authorLine({ author }: Conflict, timeZone: string): Html | '' {
  if (author === null) return '';
  const at = author.at === null ? '' : html` on ${shownTime(Date.parse(author.at), timeZone)}`;
  return html`<p class="hint">In the table: ${authorWords(author)}${at}</p>`;
}

function decidedLine({ resolution, field, decided }: Conflict, timeZone: string): Html | '' {
  if (resolution === null) return '';
  const what = field === '' ? 'it is made again' : `${sideWords[resolution][1]} value`;
  return html`<p class="status info"><span aria-hidden="true">✓</span> Decided: ${what}${decidedBy(decided, timeZone)}. The next sync applies it.</p>`;
}

export const sideWords: Readonly<Record<Side, readonly [where: string, whose: string]>> = {
  lead: ['In the service', 'the lead’s'],
  target: ['In the table', 'the row’s'],
};

function valueTable(item: Conflict, what: string, whose: string, sides: readonly Side[], back: string): Html {
  const line = (side: Side, value: Html): Html => html`<tr>
<th scope="row">${sideWords[side][0]}</th>
<td><div class="choice"><div>${value}</div>${sides.includes(side) ? chooseButton(item, side, html`Keep ${sideWords[side][1]} value<span class="hidden"> of ${what}, ${whose}</span>`, back) : ''}</div></td>
</tr>`;
  return html`<table class="values">
<caption class="hidden">Both values of ${what}</caption>
<thead><tr><th scope="col">Side</th><th scope="col">Value</th></tr></thead>
<tbody>
${line('lead', shownValue(item.lead))}
${line('target', shownValue(item.rowValue))}
</tbody>
</table>`;
}

function chooseButton(item: Conflict, side: Side, label: Html | string, back: string): Html {
  return html`<form method="post" action="/conflicts/${item.id}">
<input type="hidden" name="use" value="${side}">
<input type="hidden" name="seen" value="${seenConflict(item)}">
<input type="hidden" name="back" value="${back}">
<button>${label}</button>
</form>`;
}
