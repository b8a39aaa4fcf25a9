import fc from 'fast-check';
import { type ActionKind, type PlannedAction, rowKinds } from '../../src/core/merge/action.ts';
import type { PairState } from '../../src/core/merge/plan.ts';
import type { Policy } from '../../src/core/merge/policy.ts';
import { lawRuns } from '../support/law-runs.ts';
import { anyPolicy, anyState } from './any-pair.ts';

/** Kinds that write to the service. */
export const leadKinds: readonly ActionKind[] = ['update-lead', 'create-lead', 'delete-lead'];

/** Checks what must hold for whatever is known of a lead id, under every policy. */
export function law(check: (state: PairState, policy: Policy) => void): void {
  fc.assert(fc.property(anyState, anyPolicy, check), { numRuns: lawRuns(5000) });
}

export const writes = ({ kind }: PlannedAction): boolean => [...leadKinds, ...rowKinds].includes(kind);

/** The fields that actions of these kinds name, as often as they do. */
export function fieldsOf(actions: readonly PlannedAction[], kinds: readonly string[]): readonly string[] {
  return actions.filter(({ kind }) => kinds.includes(kind)).flatMap(({ changes }) => Object.keys(changes));
}
