import { createCipheriv, createDecipheriv, createHmac, timingSafeEqual } from 'node:crypto';
import type { Snooze } from '../../core/lead/follow-up.ts';

/** What a link of a mail stands for: one recipient may move one follow-up. Times are epoch ms. Personal data. */
export interface FollowUpLink {
  readonly connection: string;
  readonly leadId: string;
  /** In lower case. */
  readonly recipient: string;
  readonly dueAt: number;
  readonly expiresAt: number;
}

/** Where the pages of links are on the worker's HTTP port. */
export const linkRoot = '/follow-up';

/** How long (ms) a link works after the follow-up is due, or after a mail about one that is overdue. */
const lifeMs = 30 * 24 * 3_600_000;

const [ivLength, tagLength] = [12, 16];
const algorithm = 'aes-256-gcm';

/** The part of an address that stands for a link: encrypted and signed with the key of the state, so that it shows nothing of it. */
export function encryptLink(key: Buffer, link: FollowUpLink): string {
  const { connection, leadId, recipient, dueAt, expiresAt } = link;
  const plain = JSON.stringify([connection, leadId, recipient, dueAt, expiresAt]);
  // From the content: a mail that is sent again has the same links.
  const iv = signatureOf(key, plain);
  const cipher = createCipheriv(algorithm, keyOf(key, 'encrypt'), iv, { authTagLength: tagLength });
  const encrypted = [iv, cipher.update(plain, 'utf8'), cipher.final(), cipher.getAuthTag()];
  return Buffer.concat(encrypted).toString('base64url');
}

/** What a token stands for; null: it was not made with this key. Whether it has expired is for the caller to see. */
export function openLink(key: Buffer, token: string): FollowUpLink | null {
  const encrypted = Buffer.from(token, 'base64url');
  if (encrypted.length <= ivLength + tagLength || encrypted.toString('base64url') !== token) return null;
  const iv = encrypted.subarray(0, ivLength);
  const decipher = createDecipheriv(algorithm, keyOf(key, 'encrypt'), iv, { authTagLength: tagLength });
  decipher.setAuthTag(encrypted.subarray(-tagLength));
  try {
    const content = [decipher.update(encrypted.subarray(ivLength, -tagLength)), decipher.final()];
    const plain = Buffer.concat(content).toString('utf8');
    if (!timingSafeEqual(iv, signatureOf(key, plain))) return null;
    const [connection, leadId, recipient, dueAt, expiresAt] = JSON.parse(plain) as [
      string,
      string,
      string,
      number,
      number,
    ];
    return { connection, leadId, recipient, dueAt, expiresAt };
  } catch {
    return null;
  }
}

export type FollowUpLinks = Readonly<Record<'page' | Snooze, string>>;

export interface LinkMaker {
  readonly key: Buffer;
  readonly publicUrl: string;
}

/** `now`: epoch ms. */
export function followUpLinks(
  { key, publicUrl }: LinkMaker,
  link: Omit<FollowUpLink, 'expiresAt'>,
  now: number,
): FollowUpLinks {
  // To the minute: what is sent again within it is the same.
  const from = Math.max(link.dueAt, Math.floor(now / 60_000) * 60_000);
  const page = `${publicUrl}${linkRoot}/${encryptLink(key, { ...link, expiresAt: from + lifeMs })}`;
  return { page, day: `${page}?do=day`, week: `${page}?do=week`, done: `${page}?do=done` };
}

function signatureOf(key: Buffer, plain: string): Buffer {
  return createHmac('sha256', keyOf(key, 'sign')).update(plain).digest().subarray(0, ivLength);
}

function keyOf(key: Buffer, use: 'encrypt' | 'sign'): Buffer {
  return createHmac('sha256', key).update(`leadsync follow-up link: ${use}`).digest();
}
