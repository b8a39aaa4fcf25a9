/**
 * `unreachable`: nothing was sent. `unfinished`: the request was begun and no complete reply came; the service may have
 * acted. `too-large`: a 2xx reply exceeded the limit and was not read to the end.
 */
export type HttpFaultKind = 'unreachable' | 'unfinished' | 'too-large';

/** A request without a complete reply. Each client words its own message. */
export class HttpFault extends Error {
  readonly kind: HttpFaultKind;
  /** HTTP status, if it arrived. */
  readonly status: number | null;

  /** `reason`: a code such as `ECONNRESET`, or some words; never received bytes. */
  constructor(kind: HttpFaultKind, reason: string, options: { status: number | null; cause?: unknown }) {
    super(reason, { cause: options.cause });
    this.name = 'HttpFault';
    this.kind = kind;
    this.status = options.status;
  }
}
