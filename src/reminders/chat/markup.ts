import type { ChatKind } from '../../config/chat-webhook.ts';

/** How values stand in a chat's text, so that nothing of a lead formats it, links, or mentions anybody. Pure. */
export interface Markup {
  /** A value as it is to be read. */
  escape(value: string): string;
  /** A link with words to click; `url` is absolute. */
  link(url: string, words: string): string;
}

const zeroWidthSpace = '\u200B';

/**
 * Slack's own escapes, which are all that it has; `*` and `_` stay. Slack mentions nobody by `@name`, but Mattermost and
 * Rocket.Chat do, unless something follows the sign. An e-mail address stays as it is.
 */
function escapeForSlack(value: string): string {
  return value
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll(/(?<![\w.+-])@(?=\w)/g, `@${zeroWidthSpace}`);
}

/** A backslash before each character that may begin formatting, a mention or an emoji. */
function escapeForMarkdown(value: string): string {
  return value.replaceAll(/[\\`*_~|[\]()<>#+:@-]/g, String.raw`\$&`);
}

const markdown: Markup = {
  escape: escapeForMarkdown,
  link: (url, words) =>
    `[${escapeForMarkdown(words)}](${encoded(url).replaceAll('(', '%28').replaceAll(')', '%29')})`,
};

const slack: Markup = {
  escape: escapeForSlack,
  link: (url, words) =>
    `<${escapeForSlack(encoded(url).replaceAll('|', '%7C'))}|${escapeForSlack(words.replaceAll('|', '¦'))}>`,
};

/** As a browser would send it: without blanks and brackets, which would end the link. */
function encoded(url: string): string {
  return URL.parse(url)?.href.replaceAll(/[\s<>]/g, encodeURIComponent) ?? '';
}

export const markupOf: Readonly<Record<ChatKind, Markup>> = { slack, teams: markdown, discord: markdown };
