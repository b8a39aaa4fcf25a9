import type pg from 'pg';
import { LeadsyncError } from '../errors.ts';
import type { FieldMapping } from '../core/lead/mapping.ts';
import { isUnreadable } from '../core/lead/value.ts';
import { decideConflict, findConflict, type Conflict } from '../store/conflicts.ts';
import { decideEdit } from '../store/requested-edits.ts';

/** The lead's value or the row's. */
export type Side = 'lead' | 'target';

const sidesByCode: Readonly<Record<string, readonly Side[]>> = {
  'conflict.both-edited': ['lead', 'target'],
  'conflict.first-sight': ['lead', 'target'],
  'row.put-back': ['lead', 'target'],
  'lead.put-back': ['lead', 'target'],
  'row.garbled': ['lead', 'target'],
  'row.unreadable': ['lead'],
  'row.company-name-empty': ['lead'],
  'lead.field-refused': ['lead'],
  'lead.unreadable': ['target'],
  'row.undone': ['target'],
  'row.twin': ['target'],
  'lead.create-refused': ['target'],
  'lead.exists': ['target'],
  'lead.undone': ['lead'],
  'edit.conflict': ['lead', 'target'],
  'edit.many': ['lead', 'target'],
  'edit.failed': ['lead', 'target'],
};

/** Whether an item is a requested edit: then the target's side is the requested value. */
export function isEdit({ code }: Pick<Conflict, 'code'>): boolean {
  return code.startsWith('edit.');
}

/** The sides whose value a person may choose; none: the row or the lead has to be corrected. */
export function decidableSides(item: Conflict, fields: readonly FieldMapping[]): readonly Side[] {
  // What cannot be read cannot be compared: nothing is written over it.
  if (isEdit(item) && isUnreadable(item.lead)) return ['lead'];
  const sides = sidesByCode[item.code] ?? [];
  // A new row has no lead yet whose value could be taken.
  if (item.leadId === '') return sides.filter((side) => side === 'target' && item.field === '');
  const mapping = fields.find(({ field }) => field === item.field);
  return mapping?.direction === 'to-target' ? sides.filter((side) => side === 'lead') : sides;
}

interface Choice {
  readonly use: Side;
  readonly by: string;
}

/**
 * Stores a person's decision on the conflict with this id; the next sync carries it out, and the worker that on a requested edit. `fieldsOf`: the mapping of a
 * connection, undefined for one that is not configured. `isSeen`: whether the person saw both values of now. Throws
 * `usage.unknown-conflict`, `usage.conflict-changed` and `usage.not-decidable`, and then changes nothing.
 */
export async function decide(
  pool: pg.Pool,
  id: string,
  { use, by }: Choice,
  fieldsOf: (connection: string) => readonly FieldMapping[] | undefined,
  isSeen: (conflict: Conflict) => boolean = () => true,
): Promise<Conflict> {
  const conflict = /^\d{1,15}$/.test(id) ? await findConflict(pool, Number(id)) : null;
  const fields = conflict === null ? undefined : fieldsOf(conflict.connection);
  if (conflict === null || fields === undefined)
    throw new LeadsyncError('usage.unknown-conflict', `there is no conflict with the id ${id}`, {
      help: 'leadsync conflicts lists all conflicts.',
    });
  if (!decidableSides(conflict, fields).includes(use)) {
    const message = `the ${use}'s value cannot be chosen here: ${conflict.message} [${conflict.code}]`;
    throw new LeadsyncError('usage.not-decidable', message, {
      help: 'Nothing was changed. Change the row or the lead as the sentence says, then run leadsync sync.',
    });
  }
  const store = isEdit(conflict) ? decideEdit : decideConflict;
  if (!isSeen(conflict) || !(await store(pool, conflict, use, by)))
    throw new LeadsyncError('usage.conflict-changed', `the conflict ${id} has changed meanwhile`, {
      help: 'Nothing was changed. Look at both values again, then decide.',
    });
  return conflict;
}
