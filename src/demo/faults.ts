import type { Random } from './random.ts';
import { LeadsyncError } from '../lib/errors.ts';

const routes = ['list', 'get', 'create', 'update', 'delete'] as const;
export type Route = (typeof routes)[number];

const methods = ['GET', 'POST', 'PATCH', 'DELETE'] as const;
type Method = (typeof methods)[number];

/** What the header Retry-After of a 429 says: whole seconds, an HTTP date that many seconds ahead, nothing, or nonsense. */
export type RetryAfter =
  | { readonly seconds: number }
  | { readonly dateInSeconds: number }
  | 'none'
  | 'garbage';

/** Over the requests that it matches: each k-th, the n-th alone, from the n-th on, or a probability from 0 to 1 (by the seed). */
type When =
  | { readonly every: number }
  | { readonly once: number }
  | { readonly after: number }
  | { readonly rate: number };

/**
 * Faults without settings of their own.
 *
 * | kind | what happens |
 * |---|---|
 * | reset | the connection is reset before anything was done |
 * | unfinished | it is done; half of the reply's body, then the connection ends |
 * | lost-reply | it is done; the connection ends without a reply. Writes only, unless `on` says otherwise |
 * | error-after-write | it is done; the reply is 500. Writes only, unless `on` says otherwise |
 * | expired-cursor | 400 for a page request that carries a cursor |
 * | revoked | 401, as for a key that was revoked |
 * | find-or-create | a POST with the name of a lead that is there makes none; the reply shows that lead |
 * | upsert | as `find-or-create`, and what was sent is written into that lead |
 * | moving | after a page: a lead listed before it and one to be listed after it change places |
 * | not-json | it is done; the reply is 200 with an HTML page |
 * | maintenance | nothing is done; the reply is 200 with an HTML page |
 * | huge | it is done; the reply is 200 with 10 MB that are not JSON |
 */
const plainFaults = [
  'reset',
  'unfinished',
  'lost-reply',
  'error-after-write',
  'expired-cursor',
  'revoked',
  'moving',
  'find-or-create',
  'upsert',
  'not-json',
  'maintenance',
  'huge',
] as const;
type PlainFault = (typeof plainFaults)[number];

/** `status` (300 to 599): nothing is done. `slow`: done, the reply comes `ms` later. Of several the first counts; those in `onTop` come on top. */
export type Fault = {
  readonly when: When;
  /** Methods and routes it applies to; empty: all. */
  readonly on: readonly (Method | Route)[];
} & (
  | { readonly kind: 'status'; readonly status: number; readonly retryAfter?: RetryAfter }
  | { readonly kind: 'slow'; readonly ms: number }
  | { readonly kind: PlainFault }
);

export const onTop: readonly Fault['kind'][] = ['slow', 'moving', 'find-or-create', 'upsert'];

/** What faults look at in a request. `route` undefined: no route of the API. */
interface FaultRequest {
  readonly method: string;
  readonly route: Route | undefined;
  readonly hasCursor: boolean;
}

export class FaultSchedule {
  readonly #faults: readonly { readonly fault: Fault; matched: number }[];
  readonly #random: Random;

  constructor(faults: readonly Fault[], random: Random) {
    this.#faults = faults.map((fault) => ({ fault, matched: 0 }));
    this.#random = random;
  }

  /** The faults due for this request, in the order of the text. Call it once for each request. */
  due(request: FaultRequest): Fault[] {
    const due: Fault[] = [];
    for (const entry of this.#faults) {
      if (!matches(entry.fault, request)) continue;
      entry.matched++;
      if (isDue(entry.fault, entry.matched, this.#random)) due.push(entry.fault);
    }
    return due;
  }
}

const writes: readonly (Method | Route)[] = ['create', 'update', 'delete'];

function matches(fault: Fault, request: FaultRequest): boolean {
  if (fault.kind === 'moving' && request.route !== 'list') return false;
  if ((fault.kind === 'find-or-create' || fault.kind === 'upsert') && request.route !== 'create')
    return false;
  if (fault.kind === 'expired-cursor' && !(request.route === 'list' && request.hasCursor)) return false;
  const byDefault = fault.kind === 'lost-reply' || fault.kind === 'error-after-write' ? writes : [];
  const on = fault.on.length > 0 ? fault.on : byDefault;
  return on.length === 0 || on.some((target) => target === request.method || target === request.route);
}

function isDue(fault: Fault, matched: number, random: Random): boolean {
  if ('every' in fault.when) return matched % fault.when.every === 0;
  if ('once' in fault.when) return matched === fault.when.once;
  if ('after' in fault.when) return matched >= fault.when.after;
  return random.float() < fault.when.rate;
}

const allowed = [
  'Faults are KIND or KIND:NAME=VALUE,NAME=VALUE; several are joined by ";".',
  `KIND: a status from 300 to 599, slow, ${plainFaults.join(', ')}.`,
  'When, one of: every=N (each N-th request), once=N (the N-th alone), after=N (from the N-th on), rate=P (0 to 1). Without: every=1.',
  `on=A+B: only these of ${[...methods, ...routes].join(', ')}.`,
  'slow: ms=N (3000). 429: retryAfter=N seconds (1), date or date+N (an HTTP date), none, garbage.',
  'Example: 429:every=5,retryAfter=1;lost-reply:every=4,on=POST',
].join('\n');

/** As `sandbox --faults` takes them. Throws `sandbox.faults-invalid`, whose help lists what is allowed. */
export function parseFaults(spec: string): Fault[] {
  return spec
    .split(';')
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .map(parseFault);
}

/** Takes a setting out of those given; undefined: it is not there. Throws when `read` finds no meaning in it. */
type Take = <T>(name: string, read: (value: string) => T | undefined) => T | undefined;

function parseFault(part: string): Fault {
  const [, kind = '', text = ''] = /^([^:]*):?(.*)$/s.exec(part) ?? [];
  const invalid = (why: string): LeadsyncError =>
    new LeadsyncError(
      'sandbox.faults-invalid',
      `The fault "${part}" cannot be understood: ${why}.\n${allowed}`,
    );
  const settings = new Map<string, string>();
  for (const setting of text.split(',').filter((item) => item.trim() !== '')) {
    const [name = '', value, ...rest] = setting.split('=').map((item) => item.trim());
    if (value === undefined || rest.length > 0) throw invalid(`"${setting.trim()}" is not NAME=VALUE`);
    if (settings.has(name)) throw invalid(`"${name}" is there twice`);
    settings.set(name, value);
  }
  const take: Take = (name, read) => {
    const value = settings.get(name);
    settings.delete(name);
    const meaning = value === undefined ? undefined : read(value);
    if (value !== undefined && meaning === undefined) throw invalid(`${name} cannot be "${value}"`);
    return meaning;
  };
  const given = takeTimings(take);
  if (given.length > 1) throw invalid('only one of every, once, after and rate can be given');
  const [when = { every: 1 }] = given;
  const on = take('on', readTargets) ?? [];
  const what = takeKind(kind.trim(), take);
  if (what === undefined) throw invalid(`there is no fault "${kind.trim()}"`);
  for (const name of settings.keys()) throw invalid(`"${kind.trim()}" has no setting "${name}"`);
  return { when, on, ...what };
}

function takeTimings(take: Take): readonly When[] {
  const counts = (['every', 'once', 'after'] as const).flatMap((name) => {
    const count = take(name, wholeFrom(1));
    return count === undefined ? [] : [{ [name]: count } as When];
  });
  const rate = take('rate', (value) => (/^(0|1|0?\.\d+|1\.0+)$/.test(value) ? Number(value) : undefined));
  return rate === undefined ? counts : [...counts, { rate }];
}

function takeKind(kind: string, take: Take) {
  if (kind === '429')
    return {
      kind: 'status' as const,
      status: 429,
      retryAfter: take('retryAfter', readRetryAfter) ?? { seconds: 1 },
    };
  if (/^[345]\d\d$/.test(kind)) return { kind: 'status' as const, status: Number(kind) };
  if (kind === 'slow') return { kind: 'slow' as const, ms: take('ms', wholeFrom(0)) ?? 3000 };
  const plain = plainFaults.find((name) => name === kind);
  return plain && { kind: plain };
}

function readRetryAfter(value: string): RetryAfter | undefined {
  if (value === 'none' || value === 'garbage') return value;
  if (/^-?\d+$/.test(value)) return { seconds: Number(value) };
  const date = /^date(?:\+(\d+))?$/.exec(value);
  return date === null ? undefined : { dateInSeconds: Number(date[1] ?? 1) };
}

function readTargets(value: string): Fault['on'] | undefined {
  const words = value.split('+').map((word) => [...methods, ...routes].find((name) => name === word.trim()));
  return words.every((word) => word !== undefined) ? words : undefined;
}

function wholeFrom(least: number): (value: string) => number | undefined {
  return (value) => (/^\d{1,9}$/.test(value) && Number(value) >= least ? Number(value) : undefined);
}
