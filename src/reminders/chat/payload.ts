import type { ChatKind } from '../../config/chat-webhook.ts';

export function chatPayload(kind: ChatKind, text: string): object {
  switch (kind) {
    case 'slack':
      return { text, unfurl_links: false, unfurl_media: false };
    case 'discord':
      // A company called @everyone mentions nobody. 4: no previews of links.
      return { content: text, allowed_mentions: { parse: [] }, flags: 4 };
    case 'teams':
      return teamsMessage(text);
    default:
      return kind satisfies never;
  }
}

/** Whether the vendor takes a text whole: Slack cuts longer ones, Rocket.Chat takes 5,000 characters, Discord 2,000, Teams a message of 28 KB. */
export function fitsChat(kind: ChatKind, text: string): boolean {
  if (kind === 'teams') return Buffer.byteLength(JSON.stringify(teamsMessage(text))) <= 27_000;
  return Array.from(text).length <= (kind === 'discord' ? 2_000 : 4_000);
}

/** Too long a text loses its last lines, or the end of its only one. */
export function cutForChat(kind: ChatKind, text: string): string {
  let lines = text.trim().split('\n');
  const shown = (): string => lines.join('\n');
  while (lines.length > 1 && !fitsChat(kind, shown())) lines = [...lines.slice(0, -2), '…'];
  return fitsChat(kind, shown()) ? shown() : `${Array.from(shown()).slice(0, 1_900).join('')}…`;
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
