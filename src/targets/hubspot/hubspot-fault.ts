import { LeadsyncError, type LeadsyncErrorOptions } from '../../lib/errors.ts';
import { faultRow, type FaultTable, whenAgain } from '../../http/fault-table.ts';
import type { HttpFault } from '../../http/exchange.ts';
import { visibleText } from '../../lib/visible-text.ts';
import type { SaidFault } from './hubspot-replies.ts';

/** A write without a reply may still be carried out: an immediate check could miss it, and the write be repeated. */
const lateWriteMs = 10_000;
/** The least time HubSpot wants a locked record to be left alone. */
const lockedMs = 2_000;
const migrationMs = 60_000;

const scopes =
  'crm.objects.companies.read, crm.objects.companies.write, crm.schemas.companies.read and crm.schemas.companies.write';

/** Only a write can have taken effect. */
export type RequestKind = 'read' | 'write';

interface HubSpotFaultOptions extends LeadsyncErrorOptions {
  /** HTTP status; absent: no reply. */
  readonly status?: number;
  readonly said?: SaidFault;
  readonly words?: string | null;
}

export class HubSpotFault extends LeadsyncError {
  readonly status: number | null;
  readonly said: SaidFault | null;
  /** HubSpot's words, shortened; null: nothing presentable. For people only. */
  readonly words: string | null;

  constructor(code: string, message: string, options: HubSpotFaultOptions = {}) {
    super(code, message, options);
    this.name = 'HubSpotFault';
    this.status = options.status ?? null;
    this.said = options.said ?? null;
    this.words = options.words ?? null;
  }
}

export function isForbidden(error: unknown): error is HubSpotFault {
  return error instanceof HubSpotFault && error.code === 'target.forbidden';
}

interface RefusedReply {
  readonly status: number;
  readonly said: SaidFault;
  /** From the header, if usable. */
  readonly retryAfterMs: number | null;
  readonly kind: RequestKind;
}

/** `named`: the status, and HubSpot's number of the case; `saying`: HubSpot's words, or a full stop. */
type Refusal = RefusedReply & { readonly named: string; readonly saying: string };

/** HubSpot, error handling. 423: a record is locked; 477: the account moves. */
const faults: FaultTable<Refusal> = {
  '401': ({ named, saying }) => [
    'target.unauthenticated',
    `HubSpot rejected the access token ${named}${saying}`,
    'Create a service key in HubSpot (Development, Keys, Service keys) and set it as HUBSPOT_TOKEN.',
  ],
  '403': ({ said, named, saying }) => {
    const missing = scopesOf(said);
    const lacks = 'The access token lacks';
    if (missing.length === 0) {
      const help = `Give the key these scopes: ${scopes}.`;
      return ['target.forbidden', `${lacks} permission in HubSpot ${named}${saying}`, help];
    }
    const [what, it] = missing.length === 1 ? ['the scope', 'it'] : ['each of the scopes', 'one of them'];
    const help = `Add ${it} to the key in HubSpot: Development, Keys, Service keys.`;
    return ['target.forbidden', `${lacks} ${what} ${missing.join(', ')} ${named}.`, help];
  },
  '404': ({ named, saying }) => [
    'target.not-found',
    `HubSpot does not have this address ${named}${saying}`,
    'Check the address of the API, and that this version of leadsync is still supported by HubSpot.',
  ],
  '423': ({ named, saying, retryAfterMs }) => [
    'target.busy',
    `HubSpot has temporarily locked a record ${named}${saying}`,
    null,
    Math.max(lockedMs, retryAfterMs ?? 0),
  ],
  '477': ({ named, saying, retryAfterMs }) => [
    'target.unavailable',
    `HubSpot is moving the account's data ${named}${saying}`,
    null,
    retryAfterMs ?? migrationMs,
  ],
  '408 5xx': ({ named, saying, kind, retryAfterMs }) => [
    'target.unavailable',
    `HubSpot could not serve the request ${named}${saying}${effect(kind)}`,
    null,
    again(kind, retryAfterMs),
  ],
  other: ({ named, saying }) => ['target.refused', `HubSpot refuses the request ${named}${saying}`],
};

/** By the status alone. */
export function hubspotFault(reply: RefusedReply): HubSpotFault {
  const { status, said } = reply;
  const id = said.correlationId === null ? '' : `, correlation id ${visibleText(said.correlationId, 100)}`;
  const named = `(${status}${id})`;
  const [code, message, options] = faultRow(faults, { ...reply, named, saying: saying(said) });
  return new HubSpotFault(code, message, { status, said, words: wordsOf(said), ...options });
}

function saying(said: SaidFault): string {
  const words = wordsOf(said);
  return words === null ? '.' : `: ${words}`;
}

/** `target.unavailable` or `target.too-large`. */
export function lostReply(fault: HttpFault, kind: RequestKind): HubSpotFault {
  const { kind: how, message: reason, cause } = fault;
  if (how === 'too-large') {
    const message = `HubSpot sent ${reason} for one reply; the rest was not read.`;
    return new HubSpotFault('target.too-large', message);
  }
  if (how === 'unreachable') {
    const message = `HubSpot cannot be reached (${visibleText(reason, 100)}). Nothing was sent.`;
    return new HubSpotFault('target.unavailable', message, {
      retry: 'now',
      cause,
      help: 'Check the network and the address of the API.',
    });
  }
  const message = `HubSpot did not send a complete reply (${visibleText(reason, 100)}).${effect(kind)}`;
  return new HubSpotFault('target.unavailable', message, { cause, ...whenAgain(again(kind, null)) });
}

/** For an unintelligible 2xx: a proxy's page, or a truncated body. */
export function senselessReply(status: number, kind: RequestKind, wanted: string): HubSpotFault {
  const message = `HubSpot answered ${status}, but not with ${wanted}.${effect(kind)}`;
  return new HubSpotFault('target.unavailable', message, { status, ...whenAgain(again(kind, null)) });
}

export function notRead(said: SaidFault): HubSpotFault {
  const message = `HubSpot did not return all requested companies${saying(said)}`;
  return new HubSpotFault('target.unavailable', message, { words: wordsOf(said), retry: 'now' });
}

/** HubSpot's own words; the useful part is in the details. */
export function wordsOf(said: SaidFault): string | null {
  const messages = said.errors.flatMap(({ message }) => message ?? []);
  const text = messages.length > 0 ? messages.join(' ') : (said.message ?? said.category ?? '');
  return text.trim() === '' ? null : visibleText(text, 300);
}

/** Alternative scopes, from the reply's context or details. */
function scopesOf({ context, errors }: SaidFault): string[] {
  const names = ['requiredGranularScopes', 'missingScopes', 'requiredScopes'];
  const own = names.flatMap((name) => context[name] ?? []).flatMap((text) => text.split(/[\s,]+/));
  const all = [...own, ...errors.flatMap(scopesOf)].filter((scope) => /^[\w.-]{1,100}$/.test(scope));
  return [...new Set(all)];
}

const again = (kind: RequestKind, askedMs: number | null): number | 'now' =>
  askedMs ?? (kind === 'write' ? lateWriteMs : 'now');

function effect(kind: RequestKind): string {
  return kind === 'write' ? ' The write may have taken effect; leadsync checks before it writes again.' : '';
}
