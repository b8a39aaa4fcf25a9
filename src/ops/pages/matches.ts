import { html } from 'hono/html';
import type { FieldMapping } from '../../core/lead/mapping.ts';
import { sameCell } from '../../core/lead/value.ts';
import type { Match, MatchState } from '../../store/matches.ts';
import { pages } from './conflicts.ts';
import { decidedBy, seenHash } from './decided.ts';
import { type Html, layout, type Menu } from './layout.ts';
import { asOf } from './overview.ts';
import { counted } from '../../core/lead/counted.ts';
import { foldedText, shownValue } from './shown-value.ts';

/** A match with the mapping of its connection. */
interface ShownMatch {
  readonly match: Match;
  readonly fields: readonly FieldMapping[];
  readonly timeZone: string;
}

export interface MatchesPage {
  readonly matches: readonly ShownMatch[];
  readonly total: number;
  /** Whether any connection has matching on. */
  readonly isOn: boolean;
  /** Address of this page, for the way back, and of the next one. */
  readonly here: string;
  readonly next: string | null;
  readonly isFirst: boolean;
  readonly now: number;
}

/** A hash of the values that a person decides on. */
export function seenMatch({ lead, cells, leadId }: Match): string {
  return seenHash(leadId, lead, cells);
}

/** `/matches`: new rows and new leads that may be one, page by page. */
export function matchesPage(page: MatchesPage, menu: Menu): Html {
  const { matches, total, isOn, here, next, isFirst, now } = page;
  const none = isOn
    ? 'The last sync found no new row and no new lead that may be one.'
    : 'Matching is off in every connection (sync.match).';
  const body = html`<p>${total === 0 ? none : `${counted(total, 'match', 'matches')}: leadsync creates nothing of these rows and leads until a person decides. The next sync applies a decision.`}</p>
${asOf(now)}
${
  matches.length === 0
    ? ''
    : html`<h2>Rows and leads that may be one</h2><ol class="conflicts">
${matches.map((shown) => html`<li>${matchCard(shown, here)}</li>\n`)}</ol>`
}
${pages(isFirst ? null : '/matches', next)}`;
  return layout({ title: 'Matches', body, menu });
}

const stateWords: Readonly<Record<MatchState, string>> = {
  proposed: 'Each is the best match of the other.',
  ambiguous: 'Not certain: others match as well.',
  accepted: 'The next sync links them.',
  rejected: 'The next sync makes a lead of the row and a row of the lead.',
  undone: 'An undo took them apart.',
};

function matchCard({ match, fields, timeZone }: ShownMatch, back: string): Html {
  const { id, connection, leadId, row, lead, cells, score, why, state, decided } = match;
  const shown = fields.filter(
    ({ field }) => !sameCell(lead[field] ?? null, null) || !sameCell(cells[field] ?? null, null),
  );
  const name = lead['companyName'];
  return html`<article class="card" id="match-${id}" tabindex="-1" aria-labelledby="m-${id}">
<h3 id="m-${id}">${typeof name === 'string' ? foldedText(name) : `Lead ${leadId}`}, ${Math.round(score * 100)} %</h3>
<p class="hint">${[row === null ? '' : `row ${row}`, connection, `lead ${leadId}`].filter(Boolean).join(', ')}</p>
<p>${why}. ${state === 'accepted' || state === 'rejected' ? html`<span class="status info"><span aria-hidden="true">✓</span> Decided: they are ${state === 'accepted' ? 'one' : 'two'}${decidedBy(decided, timeZone)}. ${stateWords[state]}</span>` : stateWords[state]}</p>
<table class="values">
<caption class="hidden">What both show</caption>
<thead><tr><th scope="col">Column</th><th scope="col">In the service</th><th scope="col">In the table</th></tr></thead>
<tbody>
${shown.map(({ field, column }) => html`<tr><th scope="row">${column}</th><td>${shownValue(lead[field])}</td><td>${shownValue(cells[field])}</td></tr>\n`)}</tbody>
</table>
<div class="actions">
${decideButton(match, 'accepted', 'They are one', back)}
${decideButton(match, 'rejected', 'They are two', back)}
</div>
</article>`;
}

function decideButton(match: Match, as: 'accepted' | 'rejected', label: string, back: string): Html {
  return html`<form method="post" action="/matches/${match.id}">
<input type="hidden" name="as" value="${as}">
<input type="hidden" name="seen" value="${seenMatch(match)}">
<input type="hidden" name="back" value="${back}">
<button>${label}<span class="hidden">: ${match.lead['companyName'] ?? match.leadId}, row ${match.row ?? ''}</span></button>
</form>`;
}
