import { html } from 'hono/html';
import { conflictList, type ShownConflict, sideWords } from './conflict-list.ts';
import { openFor } from './decide-all.ts';
import { type Html, layout, type Menu } from './layout.ts';
import { asOf } from './overview.ts';
import { count, counted } from '../../core/lead/counted.ts';

export interface ConflictsPage {
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

/** `/conflicts`: the held items, page by page. */
export function conflictsPage(page: ConflictsPage, menu: Menu): Html {
  const { connection, conflicts, total, here, next, isFirst, now } = page;
  const first = connection === null ? '/conflicts' : `/conflicts?connection=${connection}`;
  const body = html`<p>${total === 0 ? 'Nothing is held.' : `${counted(total, 'item')} held: both sides stay as they are until a person decides, or makes them equal. The next sync applies a decision.`}
${connection === null ? '' : html`<a href="/conflicts">Conflicts of all connections</a>`}</p>
${asOf(now)}
${conflicts.length === 0 ? '' : html`<h2>Conflict items, oldest first</h2>${decideAllLinks(page)}${conflictList(conflicts, here)}`}
${pages(isFirst ? null : first, next)}`;
  return layout({ title: connection === null ? 'Conflicts' : `Conflicts of ${connection}`, body, menu });
}

/** Links that decide all shown items at once, after a confirmation. */
function decideAllLinks({ conflicts, here }: ConflictsPage): Html | '' {
  const links = (['lead', 'target'] as const).flatMap((use) => {
    const { length } = openFor(conflicts, use);
    const address = `${here.replace('/conflicts', '/conflicts/all')}${here.includes('?') ? '&' : '?'}use=${use}`;
    return length < 2
      ? []
      : [
          html`<li><a href="${address}">Keep ${sideWords[use][1]} value of all ${count(length)} shown…</a></li>\n`,
        ];
  });
  return links.length === 0 ? '' : html`<nav aria-label="Many at once"><ul>\n${links}</ul></nav>`;
}

/** Links to the first and the next page of a list. */
export function pages(first: string | null, next: string | null, what = 'page'): Html | '' {
  if (first === null && next === null) return '';
  return html`<nav class="pages" aria-label="More of the list"><ul>
${first === null ? '' : html`<li><a href="${first}">First ${what}</a></li>`}
${next === null ? '' : html`<li><a rel="next" href="${next}">Next ${what}</a></li>`}
</ul></nav>`;
}
