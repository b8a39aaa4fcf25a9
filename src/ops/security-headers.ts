import type { MiddlewareHandler } from 'hono';
import { secureHeaders } from 'hono/secure-headers';
import { boardPolicy } from '../queue/board-policy.ts';
import { isHttps } from './session.ts';

const own = "'self'";
const none = "'none'";

const others = {
  referrerPolicy: 'no-referrer',
  xFrameOptions: 'DENY',
  // Set below, where it may be.
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

/** BullMQ's board has a policy of its own. */
const boards = secureHeaders(others);

/** What every answer says to the browser: what a page may do and load, and that nothing of it is kept. */
export function securityHeaders(boardPath: string): MiddlewareHandler {
  return async (c, next) => {
    const isBoard = c.req.path === boardPath || c.req.path.startsWith(`${boardPath}/`);
    await (isBoard ? boards : strict)(c, next);
    if (isBoard) c.header('Content-Security-Policy', boardPolicy);
    if (!c.res.headers.has('cache-control')) c.header('Cache-Control', 'no-store');
    if (isHttps(c)) c.header('Strict-Transport-Security', 'max-age=31536000');
  };
}
