import type { FieldMapping } from '../../src/core/lead/mapping.ts';
import type { PlannedAction } from '../../src/core/merge/action.ts';
import type { FieldDecision } from '../../src/core/merge/merge-field.ts';
import type { PairState } from '../../src/core/merge/plan.ts';
import type { Policy } from '../../src/core/merge/policy.ts';
import { type Cell, isUnreadable } from '../../src/core/lead/value.ts';

/** Three fields are enough to tell them apart: a name, a text and an instant. */
export const fields: readonly FieldMapping[] = [
  { field: 'companyName', column: 'Company', type: 'text', direction: 'two-way' },
  { field: 'stage', column: 'Stage', type: 'text', direction: 'two-way' },
  { field: 'nextFollowUpAt', column: 'Next', type: 'instant', direction: 'two-way' },
];

/** The defaults of docs/architecture.md 5, with the given choices instead. A connection's direction narrows each field, as in config. */
export function policy(choices: Partial<Policy> = {}): Policy {
  const direction = choices.direction ?? 'two-way';
  return {
    fields: fields.map((mapping) => ({ ...mapping, direction })),
    unseen: [],
    direction,
    onConflict: 'hold',
    onFirstSync: 'hold',
    onLeadDeleted: 'mark',
    onRowDeleted: 'restore',
    ...choices,
  };
}

/** A pair of which nothing is known but what is given. */
export function pair(known: Partial<PairState>): PairState {
  return {
    leadId: 'lead-1',
    base: null,
    lead: null,
    row: null,
    memo: {},
    leadAbsences: 0,
    rowAbsences: 0,
    deletionDone: false,
    ...known,
  };
}

/** A decision as one short text, so that a table of them reads like the one in docs/architecture.md 5. */
export function decided(decision: FieldDecision): string {
  switch (decision.kind) {
    case 'same':
      return 'nothing';
    case 'agree':
      return `agree on ${shown(decision.value)}`;
    case 'to-row':
      return `row := ${shown(decision.value)} (${decision.rule})`;
    case 'to-lead':
      return `lead := ${shown(decision.value)} (${decision.rule})`;
    case 'hold':
      return `hold ${decision.code}`;
  }
}

/** An action as one short text: kind, reason, and each change in the order of the mapping. */
export function told(action: PlannedAction): string {
  const changes = Object.entries(action.changes).map(
    ([field, { from, to }]) => `${field}: ${shown(from)} > ${shown(to)}`,
  );
  return [`${action.kind} (${action.reason})`, ...changes].join('; ');
}

function shown(cell: Cell): string {
  if (cell === null) return '-';
  return isUnreadable(cell) ? `?${cell.unreadable}` : cell;
}
