import type { MiddlewareHandler } from 'hono';
import { secureHeaders } from 'hono/secure-headers';
import { isHttps } from './session.ts';

const own = "'self'";
const none = "'none'";

const others = {
  referrerPolicy: 'no-referrer',
  xFrameOptions: 'DENY',
  // Set below, for https alone.
  strictTransportSecurity: false,
} as const;

/** Our own pages: nothing inline, nothing from elsewhere. */
const strict = secureHeaders({
  ...others,
  contentSecurityPolicy: {
    defaultSrc: [none],
    scriptSrc: [own],
    connectSrc: [own],
    styleSrc: [own],
    imgSrc: [own],
    formAction: [own],
    frameAncestors: [none],
    baseUri: [none],
  },
});

const boards = secureHeaders(others);

/** What bull-board's pages need of a Content-Security-Policy: nothing but their own files, and style attributes. */
export const boardPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'self'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** The headers of every reply: what a page may do and load, and that the browser keeps nothing of it. */
export function securityHeaders(boardPath: string): MiddlewareHandler {
  return async (c, next) => {
    const isBoard = c.req.path === boardPath || c.req.path.startsWith(`${boardPath}/`);
    await (isBoard ? boards : strict)(c, next);
    if (isBoard) c.header('Content-Security-Policy', boardPolicy);
    if (!c.res.headers.has('cache-control')) c.header('Cache-Control', 'no-store');
    if (isHttps(c)) c.header('Strict-Transport-Security', 'max-age=31536000');
  };
}
