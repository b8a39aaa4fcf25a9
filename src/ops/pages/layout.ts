import { html } from 'hono/html';
import { assetUrl } from '../assets.ts';

/** Escaped HTML: an `html` template escapes every other value. */
export type Html = ReturnType<typeof html>;

export interface Page {
  /** The title of the window and the heading of the page. */
  readonly title: string;
  readonly body: Html;
  /** Null: without a login there is no menu. */
  readonly menu: Menu | null;
}

/** The menu in the head of a page. */
export interface Menu {
  /** Whether there is a login to end. */
  readonly hasLogin: boolean;
}

/** A whole page. */
export function layout({ title, body, menu }: Page): Html {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} · leadsync</title>
<link rel="icon" href="${assetUrl('icon.svg')}" type="image/svg+xml">
<link rel="stylesheet" href="${assetUrl('style.css')}">
${menu === null ? '' : html`<script src="${assetUrl('live.js')}" defer></script>`}
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
<header>
<p class="brand"><a href="/">leadsync</a></p>
${menu === null ? '' : navigation(menu)}
</header>
<main id="main" tabindex="-1">
<h1>${title}</h1>
${body}
</main>
</body>
</html>
`;
}

function navigation({ hasLogin }: Menu): Html {
  return html`<nav aria-label="Pages"><ul>
<li><a href="/">Status</a></li>
<li><a href="/conflicts">Conflicts</a></li>
<li><a href="/matches">Matches</a></li>
<li><a href="/queues">Queues</a></li>
</ul></nav>
${hasLogin ? html`<form method="post" action="/logout"><button class="quiet">Log out</button></form>` : ''}`;
}

/** A page with a message and a link. */
export function messagePage(title: string, message: string, menu: Menu, back = '/'): Html {
  return layout({
    title,
    body: html`<p>${message}</p><p><a href="${back}">${back === '/' ? 'Status' : 'Back'}</a></p>`,
    menu,
  });
}
