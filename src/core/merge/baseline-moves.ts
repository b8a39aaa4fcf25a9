import type { Value, Values } from '../lead/value.ts';
import type { PlannedAction } from './action.ts';
import { putsBack, reopenedBases } from './put-back.ts';

/** An action that was carried out, as far as the other side confirmed it. */
export interface Confirmed {
  readonly action: Pick<PlannedAction, 'kind' | 'reason' | 'contentHash' | 'changes'>;
  readonly leadId: string;
  /** By field what both sides show now. */
  readonly agreed: Values;
  /** Where the row stands that was just written, when that is known. */
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

/** How the baseline moves after an action. Pure. */
export function movesAfter(confirmed: Confirmed): readonly BaselineMove[] {
  const { action, leadId, agreed, row } = confirmed;
  if (putsBack(action)) return movesAfterUndo(confirmed);
  switch (action.kind) {
    case 'create-lead':
    case 'create-row':
    case 'update-row':
    case 'link':
      return [{ to: 'agreed', leadId, values: agreed, row }];
    case 'update-lead':
      // With a row to be linked in this round it moves when that is done.
      return action.contentHash !== '' || Object.keys(agreed).length === 0
        ? []
        : [{ to: 'agreed', leadId, values: agreed }];
    case 'mark-row':
    case 'remove-row':
      return [{ to: 'lead-deleted', leadId }];
    case 'unlink':
      // Its lead is gone: the next sync makes a new one of the row.
      return [{ to: 'forgotten', leadId }];
    default:
      return [];
  }
}

/** What an undo puts back is an edit like any other, but for what the run had decided: that is open again. */
function movesAfterUndo({ action, leadId, refused = [] }: Confirmed): readonly BaselineMove[] {
  const taken = Object.entries(action.changes).filter(([field]) => !refused.includes(field));
  switch (action.kind) {
    case 'update-lead':
    case 'update-row':
      return [{ to: 'reopened', leadId, values: reopenedBases(Object.fromEntries(taken)) }];
    case 'delete-lead':
    case 'remove-row':
      // The row is no deleted lead's: it is not marked or removed, also when it cannot be given back now.
      return [{ to: 'cleared', leadId }];
    case 'unlink':
      return [{ to: 'forgotten', leadId }];
    default:
      return [];
  }
}
