/** One of the details of a Google error: ErrorInfo, BadRequest, Help. */
export type FaultDetail = { readonly '@type': string } & Readonly<Record<string, unknown>>;

const statusNames: Readonly<Record<number, string>> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  429: 'RESOURCE_EXHAUSTED',
  500: 'INTERNAL',
  501: 'UNIMPLEMENTED',
  503: 'UNAVAILABLE',
};

/** An error reply in the form of AIP-193. The client sees the message. */
export class ApiFault extends Error {
  readonly status: number;
  readonly details: readonly FaultDetail[];

  constructor(status: number, message: string, details: readonly FaultDetail[] = []) {
    super(message);
    this.name = 'ApiFault';
    this.status = status;
    this.details = details;
  }

  /** The body of the reply. */
  get body(): object {
    const { status: code, message, details } = this;
    const status = statusNames[code] ?? 'UNKNOWN';
    return { error: { code, message, status, ...(details.length > 0 && { details }) } };
  }
}

/** 400 with this message. */
export function invalid(message: string): ApiFault {
  return new ApiFault(400, message);
}

/** 400 that names a field, as Google's JSON parser and its field masks do. */
export function badField(field: string, description: string, message = description): ApiFault {
  const detail = {
    '@type': 'type.googleapis.com/google.rpc.BadRequest',
    fieldViolations: [{ ...(field !== '' && { field }), description }],
  };
  return new ApiFault(400, message, [detail]);
}

/** 501: Google supports it, this stand-in does not. */
export function notCarriedOut(what: string): ApiFault {
  return new ApiFault(501, `The stand-in of Google Sheets does not carry out ${what}.`);
}

/** ErrorInfo, which names the reason of an error. */
export function errorInfo(
  reason: string,
  metadata: Readonly<Record<string, string>>,
  domain = 'googleapis.com',
): FaultDetail {
  return { '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason, domain, metadata };
}
