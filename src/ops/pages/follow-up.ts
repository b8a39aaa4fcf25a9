import { html } from 'hono/html';
import { linkRoot } from '../../reminders/links/link-token.ts';
import type { Snooze } from '../../core/lead/snooze.ts';
import type { Html } from './elements.ts';
import { foldedText } from './shown.ts';

/** The page behind a mail's link. All texts are whole sentences in the reader's language. */
export interface FollowUpPage {
  readonly language: string;
  readonly heading: string;
  /** What became of a change, as a notice; null: none. */
  readonly notice: { readonly text: string; readonly look: 'good' | 'warn' | 'info' } | null;
  readonly facts: readonly string[];
  /** The buttons, the chosen one first. */
  readonly choices: readonly { readonly by: Snooze; readonly label: string }[];
  /** The follow-up that the reader sees: a choice made for another one does nothing. */
  readonly seen: string;
  /** A change is under way: the page shows itself again. */
  readonly waits: boolean;
}

/** The name of the stylesheet beside the pages: they need no other address of this site. */
export const styleName = 'style.css';

export function followUpPage({ language, heading, notice, facts, choices, seen, waits }: FollowUpPage): Html {
  return framed(
    language,
    heading,
    html`${notice && html`<p class="notice ${notice.look}" role="status">${notice.text}</p>`}
${facts.map((fact) => html`<p>${fact}</p>\n`)}
${
  choices.length > 0 &&
  html`<form class="choices" method="post">
<input type="hidden" name="seen" value="${seen}">
${choices.map(({ by, label }, nth) => html`<p><button name="do" value="${by}"${nth > 0 && html` class="quiet"`}>${label}</button></p>\n`)}</form>`
}`,
    waits,
  );
}

/** Why a link leads nowhere. */
export function noFollowUpPage(language: string, title: string, why: string): Html {
  return framed(language, title, html`<p>${why}</p>`);
}

function framed(language: string, title: string, body: Html, waits = false): Html {
  return html`<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
${waits && html`<meta http-equiv="refresh" content="5">`}
<title>${title}</title>
<link rel="stylesheet" href="${styleName}">
</head>
<body>
<main>
<h1>${foldedText(title)}</h1>
${body}
</main>
</body>
</html>
`;
}

/** The path of a follow-up's page. */
export const followUpPath = `${linkRoot}/:token`;
