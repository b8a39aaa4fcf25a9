import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Context } from 'hono';
import { deleteCookie, getCookie, getSignedCookie, setCookie, setSignedCookie } from 'hono/cookie';
import type { Secret } from '../config/secret.ts';

const cookieName = 'leadsync';
const formCookie = 'leadsync-form';

/** Seconds that a login lasts. */
const lifeSeconds = 12 * 3600;

/** Below which path a browser shows its cookies. */
export interface CookieScope {
  readonly path: string;
}

/** A login of a browser. */
export interface Session {
  readonly id: string;
  /** Epoch seconds. */
  readonly endsAt: number;
  /** The site whose page it was made on; behind a proxy that does not tell its name, only the browser knows it. */
  readonly origin: string;
}

/** Whether this is the token; hashes are compared in constant time: the time of the reply shows neither the token nor its length. */
export function isToken(text: string, token: Secret): boolean {
  const digest = (of: string): Buffer => createHash('sha256').update(of).digest();
  return timingSafeEqual(digest(text), digest(token.reveal()));
}

/** Logs a browser in, by a cookie that is signed with the token. */
export async function beginSession(c: Context, token: Secret, scope: CookieScope): Promise<void> {
  const endsAt = Math.floor(Date.now() / 1000) + lifeSeconds;
  const origin = URL.parse(c.req.header('origin') ?? '')?.origin ?? '';
  const session = [endsAt, randomBytes(16).toString('base64url'), origin.slice(0, 300)].join(' ');
  await setSignedCookie(c, cookieName, session, keyOf(token), {
    ...attributes(c, scope),
    maxAge: lifeSeconds,
  });
}

/** The login that a request has a cookie of, unless it is too old. Whether somebody has logged out is for the caller to see. */
export async function sessionOf(c: Context, token: Secret): Promise<Session | null> {
  const signed = await getSignedCookie(c, keyOf(token), cookieName);
  const [, endsAt, id = '', origin = ''] =
    /^(\d{1,12}) ([\w-]{22}) (\S*)$/.exec(typeof signed === 'string' ? signed : '') ?? [];
  return Number(endsAt) > Date.now() / 1000 ? { id, endsAt: Number(endsAt), origin } : null;
}

/** Deletes the cookie in the browser. */
export function forgetSession(c: Context, scope: CookieScope): void {
  deleteCookie(c, cookieName, attributes(c, scope));
}

/** Lets the browser show with its next form that it has a page of this site: it tells that no form of another site. */
export function markForm(c: Context, scope: CookieScope): void {
  setCookie(c, formCookie, '1', attributes(c, scope));
}

export function hasFormMark(c: Context): boolean {
  return getCookie(c, formCookie) === '1';
}

/** Whether the browser speaks https, perhaps to a proxy in front of this process. */
export function isHttps(c: Context): boolean {
  const forwarded = c.req.header('x-forwarded-proto')?.split(',')[0]?.trim();
  return forwarded === 'https' || new URL(c.req.url).protocol === 'https:';
}

function attributes(c: Context, scope: CookieScope) {
  return { ...scope, httpOnly: true, sameSite: 'Strict', secure: isHttps(c) } as const;
}

/** The key for cookies alone: it does not reveal the token, and a new token invalidates all cookies. */
function keyOf(token: Secret): string {
  return createHmac('sha256', token.reveal()).update('leadsync session').digest('base64');
}
