import { guard, type Limit, type PlanCounts, type Refusal } from '../../src/core/merge/guard.ts';

export const rows = (amount: number): Limit => ({ amount, percent: false });
export const share = (amount: number): Limit => ({ amount, percent: true });
const defaults = { maxDeletes: share(10), maxChanges: share(50) };

/** A plan of 100 known pairs in which nothing is wrong, but for `counts`. */
export function refusals(
  counts: Partial<PlanCounts>,
  limits: Partial<typeof defaults> = {},
  allow: readonly string[] = [],
): readonly Refusal[] {
  const all = {
    knownPairs: 100,
    leads: 100,
    otherService: null,
    foreign: null,
    byKind: {},
    byField: {},
    rewritten: 0,
    emptied: {},
    strangers: 0,
    permuted: {},
    shifted: {},
    idsUnknown: 0,
    misread: [],
    otherPlace: null,
    rows: 100,
    mark: { kind: 'current' as const },
    firstLeads: null,
    firstIds: null,
    ...counts,
  };
  return guard(all, { ...defaults, ...limits }, allow);
}

export function refused(...plan: Parameters<typeof refusals>): readonly string[] {
  return refusals(...plan).map(({ code }) => code);
}
