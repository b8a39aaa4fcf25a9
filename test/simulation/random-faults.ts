import type { SheetsFault } from '../stand-ins/google-sheets/sheets-sandbox.ts';
import type { GraphIncident } from '../stand-ins/msgraph/msgraph-sandbox.ts';
import * as refuse from '../stand-ins/msgraph/graph-error.ts';
import type { DavFate } from '../support/dav-server.ts';
import type { HubSpotFault } from '../stand-ins/hubspot/hubspot-sandbox.ts';
import type { Random } from '../../src/demo/random.ts';
import type { FaultRates } from './fault-chances.ts';

/** What goes wrong with requests to a Google spreadsheet; null: nothing. */
export function randomSheetsFaults(random: Random): FaultRates<SheetsFault> | null {
  if (random.below(3) === 0) return null;
  const kinds: readonly SheetsFault[] = [
    { status: 429 },
    { status: 429, quota: 'Read' },
    { status: 429, quota: 'Write', scope: 'Project' },
    { status: 429, retryAfter: random.pick(['0', '1', '30', '600', 'garbage']) },
    { status: 429, quota: 'Write', retryAfter: '90' },
    { status: 500 },
    { status: 503 },
    { kind: 'reset' },
    { kind: 'reset-after' },
    { kind: 'html' },
  ];
  // Most of what matters is a write that was carried out and whose reply was lost.
  const faults = kinds.filter(() => random.below(2) === 0);
  return { each: random.float() * 0.08, faults: [{ kind: 'reset-after' }, ...faults] };
}

/** The same of a HubSpot portal. */
export function randomHubSpotFaults(random: Random): FaultRates<HubSpotFault> | null {
  if (random.below(3) === 0) return null;
  const kinds: readonly HubSpotFault[] = [
    { status: 429 },
    { status: 429, policy: 'TEN_SECONDLY_ROLLING' },
    { status: 429, policy: 'SECONDLY', retryAfter: random.pick(['0', '1', '30', 'garbage']) },
    { status: 429, policy: 'DAILY' },
    { status: 423 },
    { status: 477, retryAfter: '20' },
    { status: 500 },
    { status: 502, after: true },
    { status: 503 },
    { status: 524, after: true },
    { kind: 'reset' },
    { kind: 'reset-after' },
    { kind: 'html' },
    { kind: 'not-json' },
    { kind: 'short' },
  ];
  const faults = kinds.filter(() => random.below(3) === 0);
  return { each: random.float() * 0.1, faults: [{ kind: 'reset-after' }, ...faults] };
}

/** The same of a WebDAV server. */
export function randomDavFaults(random: Random): FaultRates<DavFate> | null {
  if (random.below(3) === 0) return null;
  const kinds: readonly DavFate[] = ['lost', 'cut', 403, 423, 429, 500, 502, 503, 507];
  const faults = kinds.filter(() => random.below(2) === 0);
  return { each: random.float() * 0.1, faults: ['unheard', ...faults] };
}

/** The same of Microsoft Graph. */
export function randomGraphFaults(random: Random): FaultRates<GraphIncident> | null {
  if (random.below(3) === 0) return null;
  const kinds: readonly GraphIncident[] = [
    'lose-request',
    refuse.graphError(429, 'tooManyRequests', 'Too many requests', { retryAfter: '0' }),
    refuse.graphError(500, 'generalException', 'General exception'),
    refuse.graphError(503, 'serviceNotAvailable', 'Service unavailable'),
    refuse.accessDenied(),
    refuse.resourceLocked(),
    refuse.insufficientStorage(),
  ];
  const faults = kinds.filter(() => random.below(2) === 0);
  return { each: random.float() * 0.1, faults: ['lose-reply', ...faults] };
}

/** The same of the service, as the sandbox takes it. */
export function randomFaults(random: Random): string {
  const rate = (most: number): string => (random.float() * most).toFixed(3);
  const choices = [
    () => `429:rate=${rate(0.2)},retryAfter=${random.below(40)}`,
    () =>
      `429:once=${1 + random.below(20)},retryAfter=${random.pick(['1', '30', '600', 'date+20', 'none', 'garbage'])}`,
    () => `503:rate=${rate(0.3)}`,
    () => `lost-reply:rate=${rate(0.8)}`,
    () => `lost-reply:rate=${rate(0.8)},on=POST`,
    () => `error-after-write:rate=${rate(0.6)}`,
    () => `unfinished:rate=${rate(0.3)}`,
    () => `not-json:rate=${rate(0.3)},on=POST+PATCH`,
    () => `maintenance:rate=${rate(0.3)},on=POST+PATCH+DELETE`,
    () => `moving:rate=${rate(1)}`,
    () => `expired-cursor:once=${1 + random.below(6)}`,
    () => `reset:rate=${rate(0.3)}`,
    () => `422:rate=${rate(0.2)},on=POST+PATCH`,
    () => `404:rate=${rate(0.1)},on=PATCH`,
  ] as const;
  const picked = new Set<string>();
  for (let count = random.below(4); count > 0; count--) picked.add(random.pick(choices)());
  return [...picked].join(';');
}
