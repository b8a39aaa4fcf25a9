import { html } from 'hono/html';
import { explain, LeadsyncError } from '../../lib/errors.ts';
import { assetUrl } from '../assets.ts';
import type { Visitor } from '../signed-in.ts';
import { count } from '../../core/lead/wording.ts';

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

/** What a handler shows with `c.render`. */
export interface Page {
  /** The title of the window and the heading of the page. */
  readonly title: string;
  readonly body: Html;
}

declare module 'hono' {
  interface ContextRenderer {
    (page: Page, status?: 404 | 409): Response | Promise<Response>;
  }
}

/** The menu in the head of a page. */
export interface Menu {
  /** Whether there is a login to end. */
  readonly hasLogin: boolean;
  /** Whom a proxy has signed in, instead. */
  readonly visitor: Visitor | undefined;
}

/** A whole page. `menu`: null without a login. */
export function layout({ title, body }: Page, menu: Menu | null): Html {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} · leadsync</title>
<link rel="icon" href="${assetUrl('icon.svg')}" type="image/svg+xml">
<link rel="stylesheet" href="${assetUrl('style.css')}">
${menu !== null && html`<script src="${assetUrl('live.js')}" defer></script>`}
</head>
<body${menu?.visitor?.mayDecide === false && html` class="looks"`}>
<a class="skip" href="#main">Skip to the content</a>
<header>
<p class="brand"><a href="/">leadsync</a></p>
${menu !== null && navigation(menu)}
</header>
<main id="main" tabindex="-1">
<h1>${title}</h1>
${body}
</main>
</body>
</html>
`;
}

function navigation({ hasLogin, visitor }: Menu): Html {
  return html`<nav aria-label="Pages"><ul>
<li><a href="/">Status</a></li>
<li><a href="/conflicts">Conflicts</a></li>
<li><a href="/queues">Queues</a></li>
</ul></nav>
${visitor === undefined ? hasLogin && postButton('/logout', 'Log out', {}, true) : html`<p>${visitor.name}${!visitor.mayDecide && ' (may look)'}</p>`}`;
}

/** Of an address, or of a connection, that is not there. */
export function missingPage(why = 'No connection of this name is configured.'): Page {
  return messagePage('There is no such page', why, '/');
}

/** Why an order or a decision was refused. Throws any error but a LeadsyncError. */
export function refusalPage(title: string, error: unknown, back: string): Page {
  if (!(error instanceof LeadsyncError)) throw error;
  return messagePage(title, explain(error), back);
}

function messagePage(title: string, message: string, back: string): Page {
  const body = html`<p>${message}</p><p><a href="${back}">${back === '/' ? 'Status' : 'Back'}</a></p>`;
  return { title, body };
}

const mistakes = {
  wrong: 'This is not the token of this worker.',
  later: 'There were too many wrong tokens. Wait a few seconds, then try again.',
} as const;

/** The login form. `next`: the requested path; `verdict`: on the last attempt. */
export function loginPage(next: string, verdict?: keyof typeof mistakes): Html {
  const body = html`${verdict && html`<p class="notice bad" role="alert" id="mistake">${mistakes[verdict]}</p>`}
<form class="login" method="post" action="/login">
<input type="hidden" name="next" value="${next}">
<label for="token">Admin token</label>
<input id="token" name="token" type="password" autocomplete="current-password" required autofocus maxlength="1000"
  ${verdict && html`aria-invalid="true"`} aria-describedby="${verdict === undefined ? 'hint' : 'mistake hint'}">
<p id="hint" class="hint">The value of <code>ADMIN_TOKEN</code>. The login lasts 12 hours.</p>
<button>Log in</button>
</form>`;
  return layout({ title: 'Log in', body }, null);
}
