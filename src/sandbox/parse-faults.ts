import { LeadsyncError } from '../lib/errors.ts';
import { type Fault, methods, plainFaults, type RetryAfter, routes, type When } from './faults.ts';

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
