import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { Context } from 'hono';
import { deleteCookie, getSignedCookie, setSignedCookie } from 'hono/cookie';
import type { Secret } from '../config/secret.ts';

const cookieName = 'leadsync';

/** Seconds that a login lasts. */
const lifeSeconds = 12 * 3600;

/** Whether this is the token; hashes are compared in constant time: the time of the reply shows neither the token nor its length. */
export function isToken(text: string, token: Secret): boolean {
  const digest = (of: string): Buffer => createHash('sha256').update(of).digest();
  return timingSafeEqual(digest(text), digest(token.reveal()));
}

/** Logs a browser in, by a cookie that is signed with the token: the server stores nothing. */
export async function beginSession(c: Context, token: Secret): Promise<void> {
  const endsAt = Math.floor(Date.now() / 1000) + lifeSeconds;
  await setSignedCookie(c, cookieName, String(endsAt), keyOf(token), {
    ...attributes(c),
    maxAge: lifeSeconds,
  });
}

/** Whether the request has the cookie of a login that has not ended. */
export async function hasSession(c: Context, token: Secret): Promise<boolean> {
  const endsAt = await getSignedCookie(c, keyOf(token), cookieName);
  return typeof endsAt === 'string' && /^\d{1,12}$/.test(endsAt) && Number(endsAt) > Date.now() / 1000;
}

/** Deletes the cookie in the browser. A copy stays valid until the login ends or the token changes. */
export function endSession(c: Context): void {
  deleteCookie(c, cookieName, attributes(c));
}

/** Whether the browser speaks https, perhaps to a proxy in front of this process. */
export function isHttps(c: Context): boolean {
  const forwarded = c.req.header('x-forwarded-proto')?.split(',')[0]?.trim();
  return forwarded === 'https' || new URL(c.req.url).protocol === 'https:';
}

function attributes(c: Context) {
  return { path: '/', httpOnly: true, sameSite: 'Strict', secure: isHttps(c) } as const;
}

/** The key for cookies alone: it does not reveal the token, and a new token invalidates all cookies. */
function keyOf(token: Secret): string {
  return createHmac('sha256', token.reveal()).update('leadsync session').digest('base64');
}
