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

/** Microsoft's and Discord's addresses have hosts and paths that no other chat has; all others take Slack's format. */
export function chatKindOf(address: string): ChatKind {
  const { hostname, pathname } = new URL(address);
  if (/^\/api(\/v\d+)?\/webhooks\/\d+\/[^/]+$/.test(pathname)) return 'discord';
  const isTeamsHost =
    /(^|\.)(webhook\.office\.com|logic\.azure\.(com|us|cn)|powerplatform(\.microsoft)?\.(com|us|cn))$/.test(
      hostname,
    );
  // Also behind a proxy, or at a host of a national cloud.
  const isTeamsPath = /^\/webhook(b2)?\/|\/triggers\/[^/]+\/paths\/invoke$/.test(pathname);
  return isTeamsHost || isTeamsPath ? 'teams' : 'slack';
}

export function chatChannel(url: Secret): ChatChannel {
  const address = url.reveal();
  const kind = chatKindOf(address);
  const recipient = `${kind}:${hash('sha256', address).slice(0, 8)}`;
  return { kind, url, host: new URL(address).host, recipient };
}

export function isChannel(recipient: string): boolean {
  return !recipient.includes('@');
}
