import { ApiFault, errorInfo } from './api-fault.ts';

export type QuotaKind = 'Read' | 'Write';
export type QuotaScope = 'User' | 'Project';

const minuteMs = 60_000;

/** Limits reads and writes separately, in any 60 seconds, which is at least as strict as Google. */
export class Quotas {
  readonly #limits: Readonly<Record<QuotaKind, number>>;
  readonly #clock: { now(): number };
  readonly #times: Record<QuotaKind, number[]> = { Read: [], Write: [] };

  constructor(limits: { readonly reads: number; readonly writes: number }, clock: { now(): number }) {
    this.#limits = { Read: limits.reads, Write: limits.writes };
    this.#clock = clock;
  }

  /** Counts a request, or throws 429 without counting it. */
  take(kind: QuotaKind): void {
    const now = this.#clock.now();
    const times = this.#times[kind].filter((time) => time > now - minuteMs);
    this.#times[kind] = times;
    if (times.length >= this.#limits[kind]) throw quotaExceeded(kind, 'User', this.#limits[kind]);
    times.push(now);
  }
}

/** Google's 429, as seen in Sage-Bionetworks/data_curator #110. */
export function quotaExceeded(kind: QuotaKind, scope: QuotaScope, limit: number): ApiFault {
  const lower = kind.toLowerCase();
  const name = scope === 'User' ? `${kind} requests per minute per user` : `${kind} requests per minute`;
  const message =
    `Quota exceeded for quota metric '${kind} requests' and limit '${name}' of service ` +
    "'sheets.googleapis.com' for consumer 'project_number:100000000001'.";
  return new ApiFault(429, message, [
    errorInfo('RATE_LIMIT_EXCEEDED', {
      service: 'sheets.googleapis.com',
      consumer: 'projects/100000000001',
      quota_location: 'global',
      quota_unit: scope === 'User' ? '1/min/{project}/{user}' : '1/min/{project}',
      quota_metric: `sheets.googleapis.com/${lower}_requests`,
      quota_limit: `${kind}RequestsPerMinutePer${scope}`,
      quota_limit_value: String(limit),
    }),
    {
      '@type': 'type.googleapis.com/google.rpc.Help',
      links: [
        {
          description: 'Request a higher quota limit.',
          url: 'https://cloud.google.com/docs/quotas/help/request_increase',
        },
      ],
    },
  ]);
}
