/**
 * `unreachable`: nothing was sent. `unfinished`: the request was begun, and no complete reply came; the service may have
 * acted on it. `too-large`: a 2xx reply was over the bound; the rest was not read.
 */
export type HttpFaultKind = 'unreachable' | 'unfinished' | 'too-large';

/** A request without a complete reply. Each client tells people of it in its own words. */
export class HttpFault extends Error {
  readonly kind: HttpFaultKind;
  /** HTTP status of the reply as far as it came; null: there was none. */
  readonly status: number | null;

  /** `reason`: a code such as `ECONNRESET`, or some words; never bytes that the service sent. */
  constructor(kind: HttpFaultKind, reason: string, options: { status: number | null; cause?: unknown }) {
    super(reason, { cause: options.cause });
    this.name = 'HttpFault';
    this.kind = kind;
    this.status = options.status;
  }
}
