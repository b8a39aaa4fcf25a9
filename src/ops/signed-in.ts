import { isUtf8 } from 'node:buffer';
import { BlockList, isIPv6 } from 'node:net';
import { getConnInfo } from '@hono/node-server/conninfo';
import type { Context, MiddlewareHandler } from 'hono';
import type { Config } from '../config/config.ts';
import { statusPage } from '../store/conflicts.ts';

/** Somebody whom the proxy in front has signed in. */
export interface Visitor {
  readonly name: string;
  readonly mayDecide: boolean;
}

declare module 'hono' {
  interface ContextVariableMap {
    readonly visitor?: Visitor;
  }
}

/** Characters of a name that are kept: it is stored with what somebody decides. */
const longestName = 200;

/**
 * Knows people by the header that a trusted proxy sets; from any other address the header says nothing. Whoever is no decider may
 * look, and gets 403 for every form.
 */
export function signedIn({
  trustedProxy,
  userHeader,
  deciders,
}: NonNullable<Config['statusPage']>): MiddlewareHandler {
  const proxies = new BlockList();
  for (const proxy of trustedProxy) {
    const [address = '', bits] = proxy.split('/');
    proxies.addSubnet(address, Number(bits ?? (isIPv6(address) ? 128 : 32)), familyOf(address));
  }
  const names = deciders && new Set(deciders.map((name) => name.toLowerCase()));
  return async (c, next) => {
    const { address = '' } = getConnInfo(c).remote;
    const own = address.replace(/^::ffff:(?=[\d.]+$)/i, '');
    const name = nameIn(c.req.header(userHeader) ?? '');
    if (name === '' || !proxies.check(own, familyOf(own))) return next();
    const mayDecide = names === undefined || names.has(name.toLowerCase());
    c.set('visitor', { name, mayDecide });
    if (c.req.method === 'POST' && !mayDecide)
      return c.text(`${name} may look here, not decide: statusPage.deciders names those who may\n`, 403);
    return next();
  };
}

/** What Apache writes into a header for a variable that is not set: nobody has signed in. */
const apacheUnset = '(null)';

/** Proxies write UTF-8; node reads each byte as a character. */
function nameIn(header: string): string {
  const bytes = Buffer.from(header, 'latin1');
  const name = (isUtf8(bytes) ? bytes.toString() : header).trim().slice(0, longestName);
  return name === apacheUnset ? '' : name;
}

const familyOf = (address: string): 'ipv6' | 'ipv4' => (isIPv6(address) ? 'ipv6' : 'ipv4');

/** As whom a request decides. */
export function deciderOf(c: Context): string {
  const visitor = c.get('visitor');
  return visitor === undefined ? statusPage : `${visitor.name} on the status page`;
}
