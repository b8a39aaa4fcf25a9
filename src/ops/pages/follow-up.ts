import { html } from 'hono/html';
import { linkRoot } from '../../reminders/links/link-token.ts';
import type { Snooze } from '../../core/lead/follow-up.ts';
import type { Html } from './layout.ts';
import { foldedText } from './shown.ts';
import { localeOf } from '../../reminders/plan/local-time.ts';

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

export const followUpPath = `${linkRoot}/:token`;

/** The sentences of the page behind a mail's link. `when`: a date in their language. */
const en = {
  title: 'Follow-up',
  heading: (company: string) => `Follow-up: ${company}`,
  due: (when: string) => `The follow-up is due on ${when}.`,
  notDue: 'This lead has no follow-up date.',
  gone: 'This lead is not there any more.',
  movedSince: (mailDate: string) => `The mail was about ${mailDate}. The follow-up has changed since.`,
  choices: {
    day: (when: string) => `+1 day: ${when}`,
    week: (when: string) => `+1 week: ${when}`,
    done: (_when: string) => 'Done: clear the date',
  },
  // Of the reader's own change.
  waits:
    'Your change is stored. It is made as soon as the connection is free: when a sync that is running has ended, and the Leads service answers. You may close this page.',
  moved: (when: string) => `Done. You moved the follow-up to ${when}.`,
  done: 'Done. You cleared the date of the follow-up.',
  conflict: 'Nothing was changed: the follow-up had been moved meanwhile. Choose again if you like.',
  failed:
    'Nothing was changed: the Leads service did not take the new date. leadsync lists it for the person who runs it.',
  // Of somebody else's.
  otherWaits: (who: string) => `${who} has requested another date, which is not made yet.`,
  otherMoved: (who: string, at: string) => `${who} changed it on ${at}.`,
  notYours: 'This follow-up is not yours any more: the lead belongs to somebody else now, or is closed.',
  notAllowed: 'The date cannot be changed here: change it in the Leads service or in the table.',
  expired: 'This link has expired. Change the date in the Leads service or in the table.',
  unknown: 'This link is not valid. It may be cut off: open it from the mail again.',
};

const de: typeof en = {
  title: 'Wiedervorlage',
  heading: (company) => `Wiedervorlage: ${company}`,
  due: (when) => `Die Wiedervorlage ist fällig: ${when}.`,
  notDue: 'Dieser Lead hat kein Datum für eine Wiedervorlage.',
  gone: 'Diesen Lead gibt es nicht mehr.',
  movedSince: (mailDate) => `In der Mail stand: ${mailDate}. Die Wiedervorlage hat sich seitdem geändert.`,
  choices: {
    day: (when) => `+1 Tag: ${when}`,
    week: (when) => `+1 Woche: ${when}`,
    done: () => 'Erledigt: Datum löschen',
  },
  waits:
    'Ihre Änderung ist gespeichert. Sie wird ausgeführt, sobald die Verbindung frei ist: wenn ein laufender Abgleich beendet ist und der Leads-Dienst antwortet. Sie können diese Seite schließen.',
  moved: (when) => `Verschoben. Neues Datum der Wiedervorlage: ${when}.`,
  done: 'Erledigt. Das Datum der Wiedervorlage ist gelöscht.',
  conflict:
    'Es wurde nichts geändert: Die Wiedervorlage war inzwischen verschoben worden. Sie können neu wählen.',
  failed:
    'Es wurde nichts geändert: Der Leads-Dienst hat das neue Datum nicht angenommen. leadsync zeigt es der Person, die es betreibt.',
  otherWaits: (who) => `${who} hat ein anderes Datum gewünscht, das noch nicht eingetragen ist.`,
  otherMoved: (who, at) => `Geändert von ${who}: ${at}.`,
  notYours:
    'Diese Wiedervorlage ist nicht mehr Ihre: Der Lead gehört jetzt jemand anderem oder ist abgeschlossen.',
  notAllowed:
    'Das Datum lässt sich hier nicht ändern: Bitte ändern Sie es im Leads-Dienst oder in der Tabelle.',
  expired: 'Dieser Link ist abgelaufen. Bitte ändern Sie das Datum im Leads-Dienst oder in der Tabelle.',
  unknown:
    'Dieser Link ist ungültig. Vielleicht ist er abgeschnitten: Bitte öffnen Sie ihn noch einmal aus der Mail.',
};

/** The words of a language, such as `de-AT`, and what its dates are written in; English where there are none. */
export function followUpWords(language: string): typeof en & { readonly language: string } {
  const [base] = language.toLowerCase().split('-');
  if (base === 'de') return { ...de, language };
  return { ...en, language: base === 'en' ? language : 'en' };
}

/** A date for people: with its time, or without one for a day (`2027-11-17`). `at`: epoch ms. */
export function shownDue(at: number, day: string | null, language: string, timeZone: string): string {
  const date = { weekday: 'long', day: 'numeric', month: 'long', year: 'numeric' } as const;
  const locale = localeOf(language);
  if (day !== null)
    return new Intl.DateTimeFormat(locale, { ...date, timeZone: 'UTC' }).format(Date.parse(day));
  const time = { hour: '2-digit', minute: '2-digit', timeZoneName: 'short' } as const;
  return new Intl.DateTimeFormat(locale, { ...date, ...time, timeZone }).format(at);
}
