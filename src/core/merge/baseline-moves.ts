import type { Value, Values } from '../lead/value.ts';
import type { PlannedAction } from './action.ts';
import { putsBack, reopenedBases } from './put-back.ts';

/** An action that was carried out, as far as the other side confirmed it. */
export interface Confirmed {
  readonly action: Pick<PlannedAction, 'kind' | 'reason' | 'contentHash' | 'changes'>;
  readonly leadId: string;
  /** By field what both sides show now. */
  readonly agreed: Values;
  /** The number of the row that was just written, if known. */
  readonly row?: number | undefined;
  /** Fields that the other side did not take. */
  readonly refused?: readonly (string | undefined)[];
}

/**
 * What becomes of the baseline of one lead. `reopened`: undefined where the two sides were never in step; `cleared`: the
 * lead never had a row, or the row never had a lead; `forgotten`: the pair itself goes.
 */
export type BaselineMove = { readonly leadId: string } & (
  | { readonly to: 'agreed'; readonly values: Values; readonly row?: number | undefined }
  | { readonly to: 'reopened'; readonly values: Readonly<Record<string, Value | undefined>> }
  | { readonly to: 'lead-deleted' | 'cleared' | 'forgotten' }
);

/**
 * How the baseline moves after an action. What an undo puts back is an edit like any other, except where the run had
 * decided between two values: that decision is open again. Pure.
 */
export function movesAfter({
  action,
  leadId,
  agreed,
  row,
  refused = [],
}: Confirmed): readonly BaselineMove[] {
  const isUndo = putsBack(action);
  const taken = Object.entries(action.changes).filter(([field]) => !refused.includes(field));
  switch (action.kind) {
    case 'update-lead':
    case 'update-row':
      if (isUndo) return [{ to: 'reopened', leadId, values: reopenedBases(Object.fromEntries(taken)) }];
      if (action.kind === 'update-row') return [{ to: 'agreed', leadId, values: agreed, row }];
      // The baseline of a row that is linked in the same round moves with that link.
      return action.contentHash !== '' || Object.keys(agreed).length === 0
        ? []
        : [{ to: 'agreed', leadId, values: agreed }];
    case 'create-lead':
    case 'create-row':
    case 'link':
      return isUndo ? [] : [{ to: 'agreed', leadId, values: agreed, row }];
    case 'remove-row':
      // After an undo the row is no deleted lead's: it must not be marked or removed again.
      return [{ to: isUndo ? 'cleared' : 'lead-deleted', leadId }];
    case 'mark-row':
      return isUndo ? [] : [{ to: 'lead-deleted', leadId }];
    case 'delete-lead':
      return isUndo ? [{ to: 'cleared', leadId }] : [];
    case 'unlink':
      return [{ to: 'forgotten', leadId }];
    default:
      return [];
  }
}
