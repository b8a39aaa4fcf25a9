import { html } from 'hono/html';
import { explain, type LeadsyncError } from '../../errors.ts';
import { decidableSides, type Side } from '../../review/decide-conflict.ts';
import { headingOf, seenConflict, type ShownConflict, sideWords } from './conflict-list.ts';
import type { ConflictsPage } from './conflicts.ts';
import { type Html, layout, type Menu } from './layout.ts';
import { counted } from '../../core/lead/counted.ts';
import { foldedText, shownValue } from './shown-value.ts';

/**
 * The items of a list that may be decided for this side at once: undecided fields. A whole record is no value of a side, and a
 * decision stays.
 */
export function openFor(conflicts: readonly ShownConflict[], use: Side): readonly ShownConflict[] {
  return conflicts.filter(
    ({ item, fields }) =>
      item.field !== '' && item.resolution === null && decidableSides(item, fields).includes(use),
  );
}

/** `/conflicts/all`: confirms a decision on all items of one page of the list. */
export function decideAllPage({ conflicts, here }: ConflictsPage, use: Side, menu: Menu): Html {
  const open = openFor(conflicts, use);
  const rest = conflicts.length - open.length;
  const [[, whose], other] = [sideWords[use], use === 'lead' ? ('target' as const) : ('lead' as const)];
  const number = counted(open.length, 'value');
  const title = `Keep ${whose} ${number}?`;
  const value = ({ item }: ShownConflict, side: Side) =>
    shownValue(side === 'lead' ? item.lead : item.rowValue);
  const body = html`<p>The next sync writes ${whose} value over the other one, for each of these. Before that nothing is written. ${
    rest === 0
      ? ''
      : `${counted(rest, 'further item')} of the page ${rest === 1 ? 'stays as it is: it is' : 'stay as they are: they are'} decided already, or cannot be decided for this side.`
  }</p>
<form method="post" action="/conflicts/all">
<input type="hidden" name="use" value="${use}">
<input type="hidden" name="back" value="${here}">
${open.map(({ item }) => html`<input type="hidden" name="item" value="${item.id}:${seenConflict(item)}">`)}
<p class="actions"><button>Keep ${whose} ${number}</button> <a href="${here}">No, back to the list</a></p>
</form>
<table class="values">
<caption class="hidden">What is kept and what is given up</caption>
<thead><tr><th scope="col">Company and field</th><th scope="col">Kept</th><th scope="col">Given up</th></tr></thead>
<tbody>
${open.map((one) => html`<tr><th scope="row">${headingOf(one)}</th><td>${value(one, use)}</td><td>${value(one, other)}</td></tr>\n`)}</tbody>
</table>`;
  const none = html`<p>Nothing on this page of the list can be decided for this side, or all of it is decided already.</p>
<p><a href="${here}">Back to the list</a></p>`;
  return layout({
    title: open.length === 0 ? 'Nothing to decide' : title,
    body: open.length === 0 ? none : body,
    menu,
  });
}

/** The outcome of many decisions of which some were refused. */
export function decidedAllPage(
  page: { readonly decided: number; readonly refused: readonly LeadsyncError[]; readonly back: string },
  menu: Menu,
): Html {
  const { decided, refused, back } = page;
  const body = html`<p>${counted(decided, 'decision')} taken. ${counted(refused.length, 'item')} not decided:</p>
<ul>${refused.map((error) => html`<li>${foldedText(explain(error))}</li>\n`)}</ul>
<p><a href="${back}">Back to the list</a></p>`;
  return layout({ title: `${counted(refused.length, 'item')} not decided`, body, menu });
}
