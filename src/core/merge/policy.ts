import type { Direction, FieldMapping } from '../lead/mapping.ts';

/** The settings that decisions depend on (docs/architecture.md 5). */
export interface Policy {
  readonly fields: readonly FieldMapping[];
  readonly direction: Direction;
  readonly onConflict: 'hold' | 'leads-win' | 'target-wins';
  readonly onFirstSync: 'hold' | 'leads-win' | 'target-wins';
  readonly onLeadDeleted: 'mark' | 'keep' | 'remove';
  readonly onRowDeleted: 'restore' | 'ignore' | 'delete-lead';
}
