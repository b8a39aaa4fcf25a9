import { LeadsyncError } from '../errors.ts';
import {
  type Fault,
  type Method,
  methods,
  plainFaults,
  type RetryAfter,
  type Route,
  routes,
  type When,
} from './faults.ts';

const allowed = [
  'Faults are KIND or KIND:NAME=VALUE,NAME=VALUE; several are joined by ";".',
  `KIND: a status from 300 to 599, slow, ${plainFaults.join(', ')}.`,
  'When, one of: every=N (each N-th request), once=N (the N-th alone), after=N (from the N-th on), rate=P (0 to 1). Without: every=1.',
  `on=A+B: only these of ${[...methods, ...routes].join(', ')}.`,
  'slow: ms=N (3000). 429: retryAfter=N seconds (1), date or date+N (an HTTP date), none, garbage.',
  'Example: 429:every=5,retryAfter=1;lost-reply:every=4,on=POST',
].join('\n');

/**
 * Reads the text form of faults, as `sandbox --faults` takes it. Empty text: no faults. Throws
 * `sandbox.faults-invalid`, whose message names the part that is wrong and whose help lists what is allowed.
 */
export function parseFaults(spec: string): Fault[] {
  return spec
    .split(';')
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .map(parseFault);
}

function parseFault(part: string): Fault {
  const colon = part.indexOf(':');
  const kind = (colon < 0 ? part : part.slice(0, colon)).trim();
  const settings = parseSettings(part, colon < 0 ? '' : part.slice(colon + 1));
  const timing = { when: takeWhen(part, settings), on: takeOn(part, settings) };
  const fault = { ...timing, ...takeKind(part, kind, settings) };
  for (const name of settings.keys()) throw invalid(part, `"${kind}" has no setting "${name}"`);
  return fault;
}

function parseSettings(part: string, text: string): Map<string, string> {
  const settings = new Map<string, string>();
  for (const setting of text.split(',').filter((item) => item.trim() !== '')) {
    const [name = '', value, ...rest] = setting.split('=').map((item) => item.trim());
    if (value === undefined || rest.length > 0) throw invalid(part, `"${setting.trim()}" is not NAME=VALUE`);
    if (settings.has(name)) throw invalid(part, `"${name}" is there twice`);
    settings.set(name, value);
  }
  return settings;
}

function takeKind(part: string, kind: string, settings: Map<string, string>) {
  if (/^[345]\d\d$/.test(kind)) {
    const status = Number(kind);
    if (status !== 429) return { kind: 'status' as const, status };
    return { kind: 'status' as const, status, retryAfter: takeRetryAfter(part, settings) };
  }
  if (kind === 'slow') return { kind: 'slow' as const, ms: takeWhole(part, settings, 'ms', 0) ?? 3000 };
  const plain = plainFaults.find((name) => name === kind);
  if (plain === undefined) throw invalid(part, `there is no fault "${kind}"`);
  return { kind: plain };
}

function takeRetryAfter(part: string, settings: Map<string, string>): RetryAfter {
  const value = take(settings, 'retryAfter') ?? '1';
  if (value === 'none' || value === 'garbage') return value;
  if (/^-?\d+$/.test(value)) return { seconds: Number(value) };
  const date = /^date(?:\+(\d+))?$/.exec(value);
  if (date !== null) return { dateInSeconds: Number(date[1] ?? 1) };
  throw invalid(part, `retryAfter cannot be "${value}"`);
}

function takeWhen(part: string, settings: Map<string, string>): When {
  const every = takeWhole(part, settings, 'every', 1);
  const once = takeWhole(part, settings, 'once', 1);
  const after = takeWhole(part, settings, 'after', 1);
  const rate = takeRate(part, settings);
  const given: When[] = [];
  if (every !== undefined) given.push({ every });
  if (once !== undefined) given.push({ once });
  if (after !== undefined) given.push({ after });
  if (rate !== undefined) given.push({ rate });
  if (given.length > 1) throw invalid(part, 'only one of every, once, after and rate can be given');
  return given[0] ?? { every: 1 };
}

function takeOn(part: string, settings: Map<string, string>): (Method | Route)[] {
  const value = take(settings, 'on');
  if (value === undefined) return [];
  return value.split('+').map((word) => {
    const target = [...methods, ...routes].find((name) => name === word.trim());
    if (target === undefined) throw invalid(part, `on cannot be "${word.trim()}"`);
    return target;
  });
}

function takeRate(part: string, settings: Map<string, string>): number | undefined {
  const value = take(settings, 'rate');
  if (value === undefined) return undefined;
  if (!/^(0|1|0?\.\d+|1\.0+)$/.test(value)) throw invalid(part, `rate cannot be "${value}"`);
  return Number(value);
}

function takeWhole(
  part: string,
  settings: Map<string, string>,
  name: string,
  least: number,
): number | undefined {
  const value = take(settings, name);
  if (value === undefined) return undefined;
  if (!/^\d{1,9}$/.test(value) || Number(value) < least) throw invalid(part, `${name} cannot be "${value}"`);
  return Number(value);
}

function take(settings: Map<string, string>, name: string): string | undefined {
  const value = settings.get(name);
  settings.delete(name);
  return value;
}

function invalid(part: string, why: string): LeadsyncError {
  return new LeadsyncError(
    'sandbox.faults-invalid',
    `The fault "${part}" cannot be understood: ${why}.\n${allowed}`,
  );
}
