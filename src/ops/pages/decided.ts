import { createHash } from 'node:crypto';
import { LeadsyncError } from '../../errors.ts';
import type { Html, Menu } from './layout.ts';
import { messagePage } from './message.ts';

/** What a person has seen of something that they decide on, as a short hash: a decision on other values is none. */
export function seenHash(...shown: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(shown)).digest('base64url').slice(0, 16);
}

/** Why a decision was not taken. Throws what is no LeadsyncError. */
export function notDecidedPage(error: unknown, menu: Menu, back: string): Html {
  if (!(error instanceof LeadsyncError)) throw error;
  const { message, help = '' } = error;
  return messagePage('Not decided', `${message}. ${help}`, menu, back);
}
