import type { Direction, FieldMapping } from '../lead/mapping.ts';
import { type Cells, sameCell, type Values } from '../lead/value.ts';

/** Whose value wins where both sides differ; each is also the rule of what is then written. */
export const winners = ['leads-win', 'target-wins'] as const;
export type Winner = (typeof winners)[number];

/** The settings that decisions depend on (docs/architecture.md 5). */
export interface Policy {
  /** Those that this run can see. */
  readonly fields: readonly FieldMapping[];
  /** The mapped fields whose column is missing or there twice. */
  readonly unseen: readonly FieldMapping[];
  readonly direction: Direction;
  readonly onConflict: 'hold' | Winner;
  readonly onFirstSync: 'hold' | Winner;
  readonly onLeadDeleted: 'mark' | 'keep' | 'remove' | 'ask';
  readonly onRowDeleted: 'restore' | 'ignore' | 'delete-lead' | 'ask';
}

/**
 * The unseen fields without which nothing is created and nothing matched: a field that a run cannot see is not one that was
 * never mapped. One that only travels to the target is filled in later.
 */
export function missedFields({ unseen }: Pick<Policy, 'unseen'>): readonly FieldMapping[] {
  return unseen.filter(({ direction }) => direction !== 'to-target');
}

/** Complete scans in different runs that must miss an id before it counts as gone (docs/guarantees.md, 4). */
export const absencesThatProve = 2;

/** Whether a record shows the baseline in all its fields. */
export function sameRecord(cells: Cells, base: Values, policy: Pick<Policy, 'fields' | 'unseen'>): boolean {
  const isSame = ({ field }: FieldMapping): boolean =>
    !(field in cells) || sameCell(cells[field] ?? null, base[field] ?? null);
  return policy.fields.every(isSame) && policy.unseen.every((one) => !(one.field in base) || isSame(one));
}
