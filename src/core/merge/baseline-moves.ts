import { sameCell, type Value, type Values } from '../lead/value.ts';
import type { Change, PlannedAction } from './action.ts';
import type { Absences } from './difference.ts';
import { putsBack, reopenedBases } from './undo.ts';

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
 * lead never had a row, or the row never had a lead; `forgotten`: the pair itself goes; `placed`: its row stands there now;
 * `present`: its row was just written, so what scans before did not see of it says nothing of a deletion; `missed`: how often a
 * scan missed it by now; `known`: a lead of the scan is remembered though it has no row yet.
 */
export type BaselineMove = { readonly leadId: string } & (
  | { readonly to: 'agreed'; readonly values: Values; readonly row?: number | undefined; readonly had?: Had }
  | {
      readonly to: 'reopened';
      readonly values: Readonly<Record<string, Value | undefined>>;
      readonly had?: Had;
    }
  | { readonly to: 'placed'; readonly row: number }
  | { readonly to: 'missed' | 'known'; readonly missed: Missed; readonly row?: number | undefined }
  | { readonly to: 'lead-deleted' | 'cleared' | 'forgotten' | 'present' }
);

/** How often each side was missed in a row until a run, and since when (epoch ms). */
interface Missed extends Pick<Absences, 'lead' | 'row' | 'since'> {
  readonly run: number;
}

/** By side the fields in which it showed what the baseline moves to when the run read it: the run did not change it there. */
export interface Had {
  readonly lead: readonly string[];
  readonly row: readonly string[];
}

interface Written extends Pick<PlannedAction, 'kind' | 'reason'> {
  readonly changes: Readonly<Record<string, Pick<Change, 'from' | 'to'>>>;
}

/**
 * Which side showed what the baseline moves to before an action wrote. A record that it made had shown nothing; of the side
 * beside one that an undo wrote nothing is known. Pure.
 */
export function hadBefore(
  { kind, reason, changes }: Written,
  values: Readonly<Record<string, Value | undefined>>,
): Had {
  const showing = (side: 'from' | 'to'): readonly string[] =>
    Object.entries(changes).flatMap(([field, change]) => {
      const value = values[field];
      return value !== undefined && sameCell(change[side], value) ? [field] : [];
    });
  const written = kind === 'update-lead' || kind === 'update-row' ? showing('from') : [];
  const other = putsBack({ reason }) ? [] : showing('to');
  return kind === 'update-lead' || kind === 'create-lead'
    ? { lead: written, row: other }
    : { lead: other, row: written };
}

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
  const movesTo = (values: Values): BaselineMove => ({
    to: 'agreed',
    leadId,
    values,
    row,
    had: hadBefore(action, values),
  });
  const taken = Object.entries(action.changes).filter(([field]) => !refused.includes(field));
  switch (action.kind) {
    case 'update-lead':
    case 'update-row':
      if (isUndo) {
        const values = reopenedBases(Object.fromEntries(taken));
        return [{ to: 'reopened', leadId, values, had: hadBefore(action, values) }];
      }
      if (action.kind === 'update-row') return [movesTo(agreed)];
      // The baseline of a row that is linked in the same round moves with that link.
      return action.contentHash !== '' || Object.keys(agreed).length === 0 ? [] : [movesTo(agreed)];
    case 'create-lead':
    case 'create-row':
    case 'link':
      return isUndo ? [] : [movesTo(agreed)];
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
