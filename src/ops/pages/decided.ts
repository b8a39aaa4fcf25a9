import { createHash } from 'node:crypto';
import { explain, LeadsyncError } from '../../errors.ts';
import type { Decided, Decision } from '../../store/decisions.ts';
import { html } from 'hono/html';
import { type Html, type Menu, messagePage } from './layout.ts';
import { shownTime } from './shown-time.ts';
import { shownValue } from './shown-value.ts';

/** A short hash of the values that a person decides on: a decision on other values does not count. */
export function seenHash(...shown: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(shown)).digest('base64url').slice(0, 16);
}

/** Why a decision was refused. Throws any error but a LeadsyncError. */
export function notDecidedPage(error: unknown, menu: Menu, back: string): Html {
  if (!(error instanceof LeadsyncError)) throw error;
  return messagePage('Not decided', explain(error), menu, back);
}

/** Who decided and when, as far as recorded; follows the decision. */
export function decidedBy(decided: Decided | null, timeZone: string): Html | '' {
  if (decided === null) return '';
  return html`, by <bdi>${decided.by}</bdi>, ${shownTime(Date.parse(decided.at), timeZone)}`;
}

/** What was decided. `columns`: headings by field. */
export function decisionWords(
  { field, choice, lead, row }: Decision,
  columns: ReadonlyMap<string, string>,
): Html {
  const [kept, given] = choice === 'lead' ? [lead, row] : [row, lead];
  const whole = {
    lead: 'the row is made again',
    target: 'the lead is made again',
    accepted: 'lead and row are one',
    rejected: 'lead and row are two',
  };
  if (field === '') return html`${whole[choice]}`;
  return html`${columns.get(field) ?? field}: the ${choice === 'lead' ? 'lead’s' : 'row’s'} value ${shownValue(kept)} instead of ${shownValue(given)}`;
}
