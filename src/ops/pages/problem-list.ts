import { html } from 'hono/html';
import type { Problem } from '../../errors.ts';
import type { Html } from './layout.ts';
import { foldedText } from './shown-value.ts';

/** Problems of a run, each with its place and its code. `companies`: names by lead id. */
export function problemList(problems: readonly Problem[], companies: ReadonlyMap<string, string>): Html {
  return html`<ul class="problems">
${problems.map((problem) => html`<li>${companyOf(problem, companies)}${foldedText(problem.message)} <span class="hint">${placeOf(problem)}<code>${problem.code}</code></span></li>\n`)}</ul>`;
}

function companyOf({ leadId = '' }: Problem, companies: ReadonlyMap<string, string>): Html | '' {
  const company = companies.get(leadId);
  return company === undefined ? '' : html`<strong>${foldedText(company)}</strong>: `;
}

function placeOf({ leadId, row, field }: Problem): string {
  const places = [
    row === undefined ? '' : `row ${row}`,
    field ?? '',
    leadId === undefined ? '' : `lead ${leadId}`,
  ].filter(Boolean);
  return places.length === 0 ? '' : `${places.join(', ')} `;
}

/** In place of messages that repeat both values. */
const briefly: Readonly<Record<string, string>> = {
  'conflict.both-edited': 'Edited on both sides, differently.',
  'conflict.first-sight': 'The two sides differed when they were compared for the first time.',
};

/** Why an item is held, beside its two values. */
export function heldMessage(code: string, message: string): Html | string {
  return briefly[code] ?? foldedText(message);
}
