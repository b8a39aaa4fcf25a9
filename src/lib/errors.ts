/**
 * When the same attempt may succeed: `now` after a short backoff, `later` after `retryAfterMs` or a person's
 * help from outside, `never` without a change of input or configuration.
 */
export type Retry = 'now' | 'later' | 'never';

export interface LeadsyncErrorOptions {
  readonly retry?: Retry;
  /** Milliseconds that must pass before the next attempt, when the other side said so. */
  readonly retryAfterMs?: number;
  /** What the reader can do about it: a sentence or a command. */
  readonly help?: string;
  readonly cause?: unknown;
}

/**
 * The one error family. `code` is stable and is what programs decide by; `message` is a sentence for people and
 * holds no secret.
 */
export class LeadsyncError extends Error {
  readonly code: string;
  readonly retry: Retry;
  readonly retryAfterMs: number | undefined;
  readonly help: string | undefined;

  constructor(code: string, message: string, options: LeadsyncErrorOptions = {}) {
    super(message, { cause: options.cause });
    this.name = 'LeadsyncError';
    this.code = code;
    this.retry = options.retry ?? 'never';
    this.retryAfterMs = options.retryAfterMs;
    this.help = options.help;
  }
}

/** The code of an error, such as one of ours, of the system, of TLS or an SQLSTATE; null: it has none, or a number. */
export function codeOf(error: unknown): string | null {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : null;
}

export function faultText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** A message without its full stop, to continue the sentence. */
export function withoutStop(message: string): string {
  return message.replace(/\.$/, '');
}

export function explain({ message, help }: LeadsyncError): string {
  return help === undefined ? message : `${withoutStop(message)}. ${help}`;
}

/** A problem with one item or one field; the run continues. Part of the contract of `sync --json`. */
export interface Problem {
  readonly code: string;
  readonly message: string;
  readonly leadId?: string;
  readonly row?: number;
  readonly field?: string;
}

/** Node's codes for a certificate that it does not trust. */
export const certificateCodes: ReadonlySet<unknown> = new Set([
  'CERT_HAS_EXPIRED',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'ERR_TLS_CERT_ALTNAME_INVALID',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
]);

export const isCertificateFault = (error: unknown): boolean => certificateCodes.has(codeOf(error));

/** For a Postgres. */
export const certificateHelp =
  'Name the file with the CA that signed its certificate: ?sslrootcert=/path/ca.pem in the address, or NODE_EXTRA_CA_CERTS=/path/ca.pem; and address the server by a name in the certificate.';
