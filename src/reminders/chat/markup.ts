import type { ChatKind } from '../../config/chat-webhook.ts';

/** How values stand in a chat's text, so that nothing of a lead formats it, links, or mentions anybody. Pure. */
export interface Markup {
  escape(value: string): string;
  /** A link with words to click; `url` is absolute. */
  link(url: string, words: string): string;
}

const zeroWidthSpace = '\u200B';

/** Slack's own escapes are all that it has. It mentions nobody by `@name`, but Mattermost and Rocket.Chat do, unless something follows the sign. */
function escapeForSlack(value: string): string {
  return value
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll(/(?<![\w.+-])@(?=\w)/g, `@${zeroWidthSpace}`);
}

/** A backslash before each character that may begin formatting, a mention or an emoji. */
function escapeForDiscord(value: string): string {
  return value.replaceAll(/[\\`*_~|[\]()<>#+:@-]/g, String.raw`\$&`);
}

/**
 * Teams on phones has a parser of its own, which leaves a backslash before anything but `* _ [ ]`: lists, headings, links are broken by a
 * character that nobody sees.
 */
function escapeForTeams(value: string): string {
  return value
    .replaceAll(/[\\`*_[\]]/g, String.raw`\$&`)
    .replaceAll(/[<~]/g, `$&${zeroWidthSpace}`)
    .replace(/^(?=[#+>-]|\d+[.)])/, zeroWidthSpace);
}

function markdown(escape: (value: string) => string): Markup {
  return {
    escape,
    link: (url, words) => `[${escape(words)}](${encoded(url).replaceAll('(', '%28').replaceAll(')', '%29')})`,
  };
}

const slack: Markup = {
  escape: escapeForSlack,
  link: (url, words) =>
    `<${escapeForSlack(encoded(url).replaceAll('|', '%7C'))}|${escapeForSlack(words.replaceAll('|', '¦'))}>`,
};

/** As a browser would send it: without blanks and brackets, which would end the link. */
function encoded(url: string): string {
  return URL.parse(url)?.href.replaceAll(/[\s<>]/g, encodeURIComponent) ?? '';
}

export const markupOf: Readonly<Record<ChatKind, Markup>> = {
  slack,
  teams: markdown(escapeForTeams),
  discord: markdown(escapeForDiscord),
};
