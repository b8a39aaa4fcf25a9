import { html } from 'hono/html';
import { count } from '../../core/lead/counted.ts';
import { type Cell, plainCell, isUnreadable } from '../../core/lead/value.ts';
import { visibleText } from '../../visible-text.ts';
import type { Html } from './layout.ts';

/** Characters of a folded value; a click opens the rest, … */
const shownLength = 160;
/** … up to this length: no page grows without bounds. */
const wholeLength = 50_000;

/** A value of a field, exactly as it is; isolated: right-to-left text moves nothing around it. */
export function shownValue(cell: Cell | undefined): Html {
  if (cell === undefined || cell === null || cell === '') return html`<span class="none">(empty)</span>`;
  const mark = isUnreadable(cell) ? html` <span class="none">(not understood)</span>` : '';
  return html`${foldedText(plainCell(cell) ?? '', 'value')}${mark}`;
}

/** A text from outside, folded when it is long. */
export function foldedText(text: string, look = 'text'): Html {
  if (text.length <= shownLength) return html`<bdi class="${look}">${text}</bdi>`;
  const beginning = visibleText(text, shownLength);
  return html`<details><summary><bdi class="${look}">${beginning}</bdi> <span class="hint">${extent(text)}</span></summary><bdi class="${look}">${text.slice(0, wholeLength).toWellFormed()}</bdi></details>`;
}

function extent({ length }: string): string {
  if (length <= wholeLength) return `all ${count(length)} characters`;
  return `the first ${count(wholeLength)} of ${count(length)} characters`;
}
