import type { Direction } from '../../src/core/lead/mapping.ts';
import type { Cell, Value } from '../../src/core/lead/value.ts';
import { type FieldMemo, mergeField } from '../../src/core/merge/merge-field.ts';
import type { Policy, Winner } from '../../src/core/merge/policy.ts';
import { decided, policy } from './pair-state.ts';

export type Win = Winner | 'hold';

/** A field of a pair, and the settings that matter to it. */
export interface Case {
  readonly base?: Value | undefined;
  readonly lead: Cell;
  readonly row: Cell;
  readonly field?: string;
  readonly memo?: FieldMemo;
  readonly direction?: Direction;
  readonly onConflict?: Policy['onConflict'];
  readonly onFirstSync?: Win;
}

/** What is decided, as one short text. */
export function decide({
  base,
  lead,
  row,
  memo,
  field = 'stage',
  direction = 'two-way',
  ...choices
}: Case): string {
  const mapping = { field, column: 'Any', type: 'text', direction } as const;
  return decided(mergeField({ base, lead, row, memo }, mapping, policy({ direction, ...choices })));
}
