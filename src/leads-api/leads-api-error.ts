import { LeadsyncError, type LeadsyncErrorOptions } from '../errors.ts';

interface LeadsApiErrorOptions extends LeadsyncErrorOptions {
  /** HTTP status of the reply; null or absent: there was none. */
  readonly status?: number | null;
  /** The service's own code, such as `auth.forbidden` (API reference, section 7), when the body shows one. */
  readonly apiCode?: string | null;
}

/** A fault of one request to the Leads service. `code` is one of the table at `LeadsPort`. */
export class LeadsApiError extends LeadsyncError {
  readonly status: number | null;
  readonly apiCode: string | null;

  constructor(code: string, message: string, options: LeadsApiErrorOptions = {}) {
    super(code, message, options);
    this.name = 'LeadsApiError';
    this.status = options.status ?? null;
    this.apiCode = options.apiCode ?? null;
  }
}
