import { html } from 'hono/html';
import { count } from '../../core/lead/counted.ts';

/** Escaped HTML: an `html` template escapes every other value, and shows nothing for null and false. */
export type Html = ReturnType<typeof html>;
export type Shown = Html | string | number | null | false;

/** Links to the first and the next page of a list; null: this is the first, or the last. */
export function pageLinks(first: string | null, next: string | null, what = 'page'): Html | null {
  if (first === null && next === null) return null;
  return html`<nav class="pages" aria-label="More of the list"><ul>
${first !== null && html`<li><a href="${first}">First ${what}</a></li>`}
${next !== null && html`<li><a rel="next" href="${next}">Next ${what}</a></li>`}
</ul></nav>`;
}

/** Facts by name, without those that are null or false. */
export function factList(facts: readonly (readonly [name: string, value: Shown])[]): Html {
  return html`<dl class="facts">
${facts.map(([name, value]) => value !== null && value !== false && html`<div><dt>${name}</dt><dd>${value}</dd></div>\n`)}</dl>`;
}

/** A list of items. `all`: how many there are, if these are the first of them. */
export function list(items: readonly Shown[], all = items.length): Html {
  return html`<ul>${items.map((item) => html`<li>${item}</li>\n`)}</ul>
${all > items.length && html`<p>and ${count(all - items.length)} more</p>`}`;
}

/** A list of cards. */
export function cards(items: readonly Html[]): Html {
  return html`<ol class="cards">
${items.map((item) => html`<li>${item}</li>\n`)}</ol>`;
}

/** A card to which an address may point. `place`: where the record is. */
export function card(id: string, heading: Shown, place: Shown, body: Shown): Html {
  return html`<article class="card" id="${id}" tabindex="-1" aria-labelledby="h-${id}">
<h3 id="h-${id}">${heading}</h3>
<p class="hint">${place}</p>
${body}
</article>`;
}

/** A table whose rows begin with their headings. `caption`: for screen readers. */
export function table(
  look: 'values' | 'runs',
  caption: string,
  columns: readonly string[],
  rows: readonly (readonly Shown[])[],
): Html {
  return html`<table class="${look}">
<caption class="hidden">${caption}</caption>
<thead><tr>${columns.map((column) => html`<th scope="col">${column}</th>`)}</tr></thead>
<tbody>
${rows.map(([head, ...cells]) => html`<tr><th scope="row">${head}</th>${cells.map((cell) => html`<td>${cell}</td>`)}</tr>\n`)}</tbody>
</table>`;
}

/** A button that posts `fields`, by name, to an address. */
export function postButton(
  action: string,
  label: Shown,
  fields: Readonly<Record<string, string | readonly string[]>> = {},
  isQuiet = false,
): Html {
  const inputs = Object.entries(fields).flatMap(([name, values]) =>
    [values].flat().map((value) => html`<input type="hidden" name="${name}" value="${value}">`),
  );
  return html`<form method="post" action="${action}">${inputs}<button${isQuiet && html` class="quiet"`}>${label}</button></form>`;
}
