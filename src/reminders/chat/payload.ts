import type { ChatKind } from '../../config/chat-webhook.ts';

/** Too long a text loses its last lines, or the end of its only one. */
export function cutForChat(kind: ChatKind, text: string): string {
  let lines = text.trim().split('\n');
  const shown = (): string => lines.join('\n');
  while (lines.length > 1 && !chats[kind].fits(shown())) lines = [...lines.slice(0, -2), '…'];
  return chats[kind].fits(shown()) ? shown() : `${Array.from(shown()).slice(0, 1_900).join('')}…`;
}

/** A card with a block for each line: in one block Teams would join lines. */
function teamsMessage(text: string): object {
  const lines = text.split('\n');
  const body = lines.flatMap((line, index) => {
    if (line.trim() === '') return [];
    const isFirst = index === 0 || lines[index - 1]?.trim() === '';
    return [{ type: 'TextBlock', text: line, wrap: true, spacing: isFirst ? 'medium' : 'none' }];
  });
  const content = {
    $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
    type: 'AdaptiveCard',
    version: '1.4',
    msteams: { width: 'Full' },
    body,
  };
  return {
    type: 'message',
    attachments: [{ contentType: 'application/vnd.microsoft.card.adaptive', contentUrl: null, content }],
  };
}

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

/** As a browser would send it: without blanks and brackets, which would end the link. */
function encoded(url: string): string {
  return URL.parse(url)?.href.replaceAll(/[\s<>]/g, encodeURIComponent) ?? '';
}

/** A kind of chat: what its webhook takes. */
interface Chat extends Markup {
  /** As people call it. */
  readonly title: string;
  payload(text: string): object;
  /** Whether it takes a text whole. */
  fits(text: string): boolean;
}

const lengthOf = (text: string): number => Array.from(text).length;

export const chats: Readonly<Record<ChatKind, Chat>> = {
  // Also of Mattermost and Rocket.Chat, which takes 5,000 characters; Slack cuts longer texts.
  slack: {
    title: 'Slack',
    payload: (text) => ({ text, unfurl_links: false, unfurl_media: false }),
    fits: (text) => lengthOf(text) <= 4_000,
    escape: escapeForSlack,
    link: (url, words) =>
      `<${escapeForSlack(encoded(url).replaceAll('|', '%7C'))}|${escapeForSlack(words.replaceAll('|', '¦'))}>`,
  },
  teams: {
    title: 'Microsoft Teams',
    payload: teamsMessage,
    // A message of 28 KB.
    fits: (text) => Buffer.byteLength(JSON.stringify(teamsMessage(text))) <= 27_000,
    ...markdown(escapeForTeams),
  },
  discord: {
    title: 'Discord',
    // A company called @everyone mentions nobody. 4: no previews of links.
    payload: (text) => ({ content: text, allowed_mentions: { parse: [] }, flags: 4 }),
    fits: (text) => lengthOf(text) <= 2_000,
    ...markdown(escapeForDiscord),
  },
};
