import { codeOf, LeadsyncError, type LeadsyncErrorOptions, type Retry } from '../lib/errors.ts';
import type { HttpFault } from './exchange.ts';

/** `retry`: a number is later, after that many ms. */
export type FaultRow = readonly [code: string, says: string, help?: string | null, retry?: Retry | number];

/** A row for some statuses (`'404 410'`), for all others of a class (`'5xx'`), or for what is left; fixed, or made of the reply. */
export type FaultTable<Reply> = Readonly<Record<string, FaultRow | ((reply: Reply) => FaultRow)>> & {
  readonly other: FaultRow | ((reply: Reply) => FaultRow);
};

export function faultRow<Reply extends { readonly status: number }>(
  table: FaultTable<Reply>,
  reply: Reply,
): readonly [code: string, says: string, options: LeadsyncErrorOptions] {
  const key = [String(reply.status), `${Math.floor(reply.status / 100)}xx`].flatMap(
    (wanted) => Object.keys(table).find((keys) => keys.split(' ').includes(wanted)) ?? [],
  );
  const row = table[key[0] ?? 'other'] ?? table.other;
  const [code, says, help = null, retry = 'never'] = typeof row === 'function' ? row(reply) : row;
  return [code, says, { ...whenAgain(retry), ...(help !== null && { help }) }];
}

export function whenAgain(retry: Retry | number): LeadsyncErrorOptions {
  return typeof retry === 'number' ? { retry: 'later', retryAfterMs: retry } : { retry };
}

export interface NoConnection {
  /** Continues "No connection to SERVER: ". */
  readonly says: string;
  readonly help: string;
  readonly isTls: boolean;
}

type Reason = readonly [codes: RegExp, says: string, help: string];

const ofTls: readonly Reason[] = [
  [
    /^(?:DEPTH_ZERO_SELF_SIGNED|SELF_SIGNED|UNABLE_TO_(?:GET|VERIFY)|CERT_(?:UNTRUSTED|SIGNATURE)|CERT_CHAIN)/,
    'this machine does not trust its certificate',
    'For a certificate of your own, or of a private CA, set NODE_EXTRA_CA_CERTS to the file with it (PEM), and start again.',
  ],
  [/^CERT_HAS_EXPIRED$/, 'its certificate has expired', 'Renew the certificate of the server.'],
  [
    /^(?:ERR_TLS_CERT_ALTNAME_INVALID|HOSTNAME_MISMATCH)$/,
    'its certificate is for another name',
    'Address the server by a name in its certificate.',
  ],
  [
    /^(?:ERR_TLS|ERR_SSL|EPROTO|CERT_)/,
    'no encryption was agreed on',
    'Check the port in the address: does it serve https?',
  ],
];

const check =
  'Check the address, the network, and whether the server is running. A worker tries again by itself.';

const ofNetwork: readonly Reason[] = [
  [/^ENOTFOUND$/, 'nobody knows its host name', check],
  [/^ECONNREFUSED$/, 'nothing listens at that host and port', check],
  [/^/, 'it cannot be reached', check],
];

/** Null: there was a connection, and the request may have been carried out. */
export function whyNoConnection({ kind, cause, message }: HttpFault): NoConnection | null {
  const reasonIn = (reasons: readonly Reason[]) => reasons.find(([codes]) => codes.test(codeOf(cause) ?? ''));
  const tls = reasonIn(ofTls);
  const reason = tls ?? (kind === 'unreachable' ? reasonIn(ofNetwork) : undefined);
  if (reason === undefined) return null;
  const [, says, help] = reason;
  return { says: `${says} (${message})`, help, isTls: tls !== undefined };
}

interface ServiceFaultOptions extends LeadsyncErrorOptions {
  readonly status?: number | null;
  readonly words?: string | null;
}

/** What a service refused or did not answer. Never carries a client's own error, which may hold the request with its token. */
export class ServiceFault extends LeadsyncError {
  /** HTTP status; null: no reply. */
  readonly status: number | null;
  /** The service's words, shortened; null: nothing presentable. For people only. */
  readonly words: string | null;

  constructor(
    code: string,
    message: string,
    { status = null, words = null, ...options }: ServiceFaultOptions = {},
  ) {
    super(code, message, options);
    this.name = new.target.name;
    this.status = status;
    this.words = words;
  }
}
