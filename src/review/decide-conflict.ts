import type pg from 'pg';
import { LeadsyncError } from '../errors.ts';
import type { FieldMapping } from '../core/lead/mapping.ts';
import { decideConflict, findConflict, type Conflict } from '../store/conflicts.ts';

/** The lead's value or the row's. */
export type Side = 'lead' | 'target';

const sidesByCode: Readonly<Record<string, readonly Side[]>> = {
  'conflict.both-edited': ['lead', 'target'],
  'conflict.first-sight': ['lead', 'target'],
  'row.put-back': ['lead', 'target'],
  'lead.put-back': ['lead', 'target'],
  'row.unreadable': ['lead'],
  'row.company-name-empty': ['lead'],
  'lead.field-refused': ['lead'],
  'lead.unreadable': ['target'],
  'row.undone': ['target'],
  'lead.undone': ['lead'],
};

/** The sides whose value a person may choose; none for what has to be mended in the row or in the service. */
export function decidableSides(item: Conflict, fields: readonly FieldMapping[]): readonly Side[] {
  // A new row has no lead yet whose value could be taken.
  if (item.leadId === '' && item.code !== 'row.undone') return [];
  const sides = sidesByCode[item.code] ?? [];
  const mapping = fields.find(({ field }) => field === item.field);
  return mapping?.direction === 'to-target' ? sides.filter((side) => side === 'lead') : sides;
}

/** What a person chooses, and who. */
interface Choice {
  readonly use: Side;
  readonly by: string;
}

/**
 * Remembers a person's decision on what is held under this id; the next sync carries it out, nothing is written now.
 * `fieldsOf`: the mapping of a connection, undefined for one that is not configured. `isSeen` tells whether the person saw
 * what is held now. Throws `usage.unknown-conflict`, `usage.conflict-changed` and `usage.not-decidable`; then nothing was changed.
 */
export async function decide(
  pool: pg.Pool,
  id: string,
  { use, by }: Choice,
  fieldsOf: (connection: string) => readonly FieldMapping[] | undefined,
  isSeen: (item: Conflict) => boolean = () => true,
): Promise<Conflict> {
  const held = /^\d{1,15}$/.test(id) ? await findConflict(pool, Number(id)) : null;
  const fields = held === null ? undefined : fieldsOf(held.connection);
  if (held === null || fields === undefined) {
    throw new LeadsyncError('usage.unknown-conflict', `nothing with the id ${id} is held`, {
      help: 'leadsync conflicts lists what is held.',
    });
  }
  if (!decidableSides(held, fields).includes(use)) {
    throw new LeadsyncError(
      'usage.not-decidable',
      `the ${use}'s value cannot be chosen here: ${held.message} [${held.code}]`,
      {
        help: 'Nothing was changed. Change the row or the lead as the sentence says, then run leadsync sync.',
      },
    );
  }
  if (!isSeen(held) || !(await decideConflict(pool, held, use, by))) {
    throw new LeadsyncError(
      'usage.conflict-changed',
      `what is held under the id ${id} has changed meanwhile`,
      {
        help: 'Nothing was changed. Look at both values again, then decide.',
      },
    );
  }
  return held;
}
