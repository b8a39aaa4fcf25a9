import { hash } from 'node:crypto';
import type { Secret } from './secret.ts';

/** The programs whose incoming webhooks leadsync knows; Mattermost and Rocket.Chat take Slack's format. */
export const chatKinds = ['slack', 'teams', 'discord'] as const;

export type ChatKind = (typeof chatKinds)[number];

export interface ChatChannel {
  readonly kind: ChatKind;
  readonly url: Secret;
  /** All of the address that may be shown. */
  readonly host: string;
  /** Its key among the recipients, `slack:1a2b3c4d`; another address is another recipient. */
  readonly recipient: string;
}

/** The kind of an address by its host; null: a server of one's own. */
export function chatKindOf(address: string): ChatKind | null {
  const { hostname, pathname } = new URL(address);
  const isOf = (...domains: readonly string[]): boolean =>
    domains.some((domain) => hostname === domain || hostname.endsWith(`.${domain}`));
  if (isOf('hooks.slack.com', 'hooks.slack-gov.com')) return 'slack';
  if (isOf('webhook.office.com', 'logic.azure.com', 'powerplatform.com')) return 'teams';
  // Below /slack it takes Slack's format, without protection from mentions.
  const isDiscord = isOf('discord.com', 'discordapp.com');
  return isDiscord && /^\/api(\/v\d+)?\/webhooks\/\d+\/[^/]+$/.test(pathname) ? 'discord' : null;
}

export function chatChannel(url: Secret, kind: ChatKind): ChatChannel {
  const address = url.reveal();
  const recipient = `${kind}:${hash('sha256', address).slice(0, 8)}`;
  return { kind, url, host: new URL(address).host, recipient };
}

export function isChannel(recipient: string): boolean {
  return !recipient.includes('@');
}
