import { randomUUID } from 'node:crypto';

/** What is wrong with one property of a record. */
export interface PropertyFault {
  readonly name: string;
  /** HubSpot's, such as INVALID_OPTION. */
  readonly code: string;
  readonly message: string;
}

export type FaultContext = Readonly<Record<string, readonly string[]>>;

interface FaultExtras {
  readonly category?: string;
  readonly subCategory?: string;
  readonly context?: FaultContext;
  readonly errors?: readonly object[];
  readonly errorType?: string;
  readonly policyName?: string;
}

/** An error reply in HubSpot's shape (facts: section 4). The client sees the message. */
export class ApiFault extends Error {
  readonly status: number;
  readonly extras: FaultExtras;

  constructor(status: number, message: string, extras: FaultExtras = {}) {
    super(message);
    this.name = 'ApiFault';
    this.status = status;
    this.extras = extras;
  }

  /** The body of the reply. */
  get body(): object {
    return { status: 'error', message: this.message, correlationId: randomUUID(), ...this.extras };
  }

  /** As an entry of a batch's `errors`; `context` names the input. */
  inBatch(context: FaultContext): object {
    return {
      status: 'error',
      ...this.extras,
      message: this.message,
      context: { ...this.extras.context, ...context },
    };
  }
}

/** 400 for a request as a whole. */
export function badRequest(message: string): ApiFault {
  return new ApiFault(400, message, { category: 'VALIDATION_ERROR' });
}

/** 400 for a record with refused values: the details are in `errors`, and as JSON inside the message. */
export function badValues(faults: readonly PropertyFault[]): ApiFault {
  const inner = faults.map(({ name, code, message }) => ({ isValid: false, message, error: code, name }));
  return new ApiFault(400, `Property values were not valid: ${JSON.stringify(inner)}`, {
    category: 'VALIDATION_ERROR',
    errors: faults.map(({ name, code, message }) => ({ message, code, context: { propertyName: [name] } })),
  });
}

/** 404 for records or a path. */
export function notFound(message: string, ids: readonly string[] = []): ApiFault {
  return new ApiFault(404, message, {
    category: 'OBJECT_NOT_FOUND',
    ...(ids.length > 0 && { context: { ids } }),
  });
}

/** 409 for a property or group that exists. */
export function alreadyExists(message: string, subCategory: string): ApiFault {
  return new ApiFault(409, message, { category: 'OBJECT_ALREADY_EXISTS', subCategory });
}

/** 401: no token, or a wrong one. */
export function unauthenticated(): ApiFault {
  return new ApiFault(401, 'Authentication credentials not found. This API takes a bearer token.', {
    category: 'INVALID_AUTHENTICATION',
  });
}

/** 403 that names the missing scopes. */
export function missingScopes(scopes: readonly string[]): ApiFault {
  const message = "This app hasn't been granted all required scopes to make this call.";
  const asked = {
    message: 'One or more of the following scopes are required.',
    context: { requiredGranularScopes: scopes },
  };
  return new ApiFault(403, message, { category: 'MISSING_SCOPES', errors: [asked] });
}

export type LimitPolicy = 'TEN_SECONDLY_ROLLING' | 'DAILY' | 'SECONDLY';

/** 429. Without a policy it does not name the limit. */
export function rateLimited(policyName?: LimitPolicy): ApiFault {
  const limit = policyName === undefined ? '' : `${policyName.toLowerCase()} `;
  return new ApiFault(429, `You have reached your ${limit}limit.`, {
    errorType: 'RATE_LIMIT',
    ...(policyName !== undefined && { policyName }),
  });
}
