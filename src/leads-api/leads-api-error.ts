import { LeadsyncError, type LeadsyncErrorOptions } from '../errors.ts';

interface LeadsApiErrorOptions extends LeadsyncErrorOptions {
  /** HTTP status of the reply; null or absent: no reply. */
  readonly status?: number | null;
  /** The service's own code, such as `auth.forbidden` (API reference, section 7), if the body has one. */
  readonly apiCode?: string | null;
}

/** A failed request to the Leads service. `code`: see `LeadsPort`. */
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
