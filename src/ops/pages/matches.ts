import { html } from 'hono/html';
import { counted } from '../../core/lead/counted.ts';
import type { FieldMapping } from '../../core/lead/mapping.ts';
import { sameCell } from '../../core/lead/value.ts';
import type { Match, MatchState } from '../../store/matches.ts';
import { decidedBy, seenHash } from './conflicts.ts';
import { card, cards, type Html, pageLinks, postButton, table } from './elements.ts';
import type { Page } from './layout.ts';
import { asOf, foldedText, placeWords, shownValue } from './shown.ts';

interface ShownMatch {
  readonly match: Match;
  readonly fields: readonly FieldMapping[];
  readonly timeZone: string;
}

interface MatchesPage {
  readonly matches: readonly ShownMatch[];
  readonly total: number;
  /** Whether any connection has matching on. */
  readonly isOn: boolean;
  /** Address of this page, for the way back, and of the next one. */
  readonly here: string;
  readonly next: string | null;
  readonly now: number;
}

/** A hash of the values that a person decides on. */
export function seenMatch({ lead, cells, leadId }: Match): string {
  return seenHash(leadId, lead, cells);
}

/** `/matches`: new rows and new leads that may be one, page by page. */
export function matchesPage({ matches, total, isOn, here, next, now }: MatchesPage): Page {
  const none = isOn
    ? 'The last sync found no new row and no new lead that may be one.'
    : 'Matching is off in every connection (sync.match).';
  const body = html`<p>${total === 0 ? none : `${counted(total, 'match', 'matches')}: leadsync creates nothing of these rows and leads until a person decides. The next sync applies a decision.`}</p>
${asOf(now)}
${matches.length > 0 && html`<h2>Rows and leads that may be one</h2>${cards(matches.map((shown) => matchCard(shown, here)))}`}
${pageLinks(here === '/matches' ? null : '/matches', next)}`;
  return { title: 'Matches', body };
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
  const rows = shown.map(({ field, column }) => [
    column,
    shownValue(lead[field], timeZone),
    shownValue(cells[field], timeZone),
  ]);
  const decide = (as: 'accepted' | 'rejected', label: string): Html =>
    postButton(
      `/matches/${id}`,
      html`${label}<span class="hidden">: ${name ?? leadId}, row ${row ?? ''}</span>`,
      { as, seen: seenMatch(match), back },
    );
  return card(
    `match-${id}`,
    html`${typeof name === 'string' ? foldedText(name) : `Lead ${leadId}`}, ${Math.round(score * 100)} %`,
    html`${id}, ${placeWords(row, connection, leadId)}`,
    html`<p>${why}. ${state === 'accepted' || state === 'rejected' ? html`<span class="status info"><span aria-hidden="true">✓</span> Decided: they are ${state === 'accepted' ? 'one' : 'two'}${decidedBy(decided, timeZone)}. ${stateWords[state]}</span>` : stateWords[state]}</p>
${table('values', 'What both show', ['Column', 'In the service', 'In the table'], rows)}
<div class="actions">
${decide('accepted', 'They are one')}
${decide('rejected', 'They are two')}
</div>`,
  );
}
