import type { Context, MiddlewareHandler } from 'hono';
import { csrf } from 'hono/csrf';
import { z } from 'zod';
import { isLoopback } from '../loopback.ts';
import type { Secret } from '../config/secret.ts';
import { isAsset } from './assets.ts';
import { checkGuess, GuessLimit } from './guess-limit.ts';
import { loginPage } from './pages/layout.ts';
import { formOf } from './requests.ts';
import { beginSession, hasSession, isToken } from './session.ts';

/** Who may see the pages: everybody with the token or, without a token, every user of this machine. */
export interface AccessPolicy {
  readonly token: Secret | undefined;
  /** `host` as configured; `address` as bound. */
  readonly host: string;
  readonly address: string;
}

const closed = 'set ADMIN_TOKEN: without it no page is served on this address\n';
const strangeName = 'this is not a name of this machine: set ADMIN_TOKEN to use another one\n';

/**
 * Without a token the pages are open on a loopback address, for requests that name this machine: any other name may be DNS
 * rebinding. On any other address nothing is served.
 */
export function accessWithoutToken({ host, address }: AccessPolicy): MiddlewareHandler {
  if (!isLoopback(address)) return async (c) => c.text(closed, 403);
  const ownNames = new Set(['localhost', '127.0.0.1', '[::1]', host]);
  return async (c, next) => (ownNames.has(new URL(c.req.url).hostname) ? next() : c.text(strangeName, 403));
}

/**
 * Accepts forms of this site's pages alone, also under the address by which people reach it (`publicUrl`). A request with a
 * Bearer token cannot be forged by another page.
 */
export function sameOrigin(publicUrl: string | undefined): MiddlewareHandler {
  // Without the scheme: a proxy in front may speak https to the browser.
  const isOwn = (host: string, c: Context): boolean =>
    host === new URL(c.req.url).host || (publicUrl !== undefined && host === new URL(publicUrl).host);
  const check = csrf({ origin: (origin, c) => isOwn(URL.parse(origin)?.host ?? '', c) });
  return async (c, next) => (bearerOf(c) === null ? check(c, next) : next());
}

const loginSchema = z.object({ token: z.string().max(1_000), next: z.string().max(1_000).catch('/') });

/** Accepts the token (`Authorization: Bearer`) or the cookie of a login. */
export class TokenAccess {
  readonly #token: Secret;
  readonly #guesses = new GuessLimit();

  constructor(token: Secret) {
    this.#token = token;
  }

  /** Passes authorized requests on; the login form and its assets are open. */
  readonly check: MiddlewareHandler = async (c, next) => {
    const bearer = bearerOf(c);
    if (bearer !== null) {
      const verdict = await this.#look(c, bearer);
      return verdict === 'right' ? next() : refuse(c, verdict);
    }
    if (isAsset(c.req.path) || c.req.path === '/login' || (await hasSession(c, this.#token))) return next();
    return refuse(c, 'unknown');
  };

  /** `POST /login`: logs in and redirects to the page that was requested. */
  async logIn(c: Context): Promise<Response> {
    const { token, next } = await formOf(c, loginSchema);
    const verdict = await this.#look(c, token);
    if (verdict !== 'right') return c.html(loginPage(next, verdict), verdict === 'wrong' ? 401 : 429);
    await beginSession(c, this.#token);
    return c.redirect(ownPath(next), 303);
  }

  async #look(c: Context, text: string): Promise<'right' | 'wrong' | 'later'> {
    const token = this.#token;
    const verdict = await checkGuess(c, this.#guesses, () => (isToken(text, token) ? token : null));
    return typeof verdict === 'string' ? verdict : 'right';
  }
}

function bearerOf(c: Context): string | null {
  return /^Bearer (.*)$/i.exec(c.req.header('authorization') ?? '')?.[1] ?? null;
}

function refuse(c: Context, verdict: 'wrong' | 'later' | 'unknown'): Response | Promise<Response> {
  if (verdict === 'later') return c.text('too many wrong tokens: try again in a moment\n', 429);
  if (verdict === 'unknown' && c.req.method === 'GET' && c.req.header('accept')?.includes('text/html')) {
    const { pathname, search } = new URL(c.req.url);
    return c.html(loginPage(pathname + search), 401);
  }
  c.header('WWW-Authenticate', 'Bearer realm="leadsync"');
  return c.text('unauthorized\n', 401);
}

/** The path of `next` if it is one of this site, else `/`. */
function ownPath(next: string): string {
  const here = 'http://here.invalid';
  const url = URL.parse(next, here);
  return url?.origin === here && next.startsWith('/') ? url.pathname + url.search : '/';
}
