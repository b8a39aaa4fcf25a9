import type pg from 'pg';
import type { ConnectionConfig } from '../config/config.ts';
import { headingOf } from '../core/lead/mapping.ts';
import { fieldKinds } from '../core/lead/field-kinds.ts';
import { isUnreadable, type Value } from '../core/lead/value.ts';
import { LeadsyncError } from '../lib/errors.ts';
import { insertEdit, type NewEdit, type RequestedEdit } from '../store/requested-edits.ts';

/**
 * Stores an edit that a person requests outside table and service; a job `edit` applies it (`editJob`). Call it in a
 * transaction: the edits of one read of a calendar in one, to be judged together. Stores nothing and throws
 * `edit.not-allowed` for a field that leadsync must not write, `edit.invalid` for a value that the field cannot hold.
 */
export function requestEdit(
  db: pg.PoolClient,
  { name, fields }: Pick<ConnectionConfig, 'name' | 'fields'>,
  edit: NewEdit,
): Promise<RequestedEdit> {
  const mapping = fields.find(({ field }) => field === edit.field);
  if (mapping?.direction !== 'two-way') throw notAllowed(headingOf(fields, edit.field), mapping?.direction);
  const canonical = (value: Value): Value => {
    const { read, noun } = fieldKinds[mapping.type];
    const cell = value === null ? null : read(value, 'UTC');
    if (isUnreadable(cell))
      throw new LeadsyncError('edit.invalid', `${headingOf(fields, edit.field)} must be ${noun}`);
    return cell;
  };
  const requestedBy = edit.requestedBy.toLowerCase();
  return insertEdit(db, name, {
    ...edit,
    requestedBy,
    from: canonical(edit.from),
    to: canonical(edit.to),
  });
}

function notAllowed(heading: string, direction: 'to-target' | 'to-leads' | undefined): LeadsyncError {
  const why =
    direction === 'to-target'
      ? 'leadsync writes it to the table alone (direction: to-target)'
      : direction === 'to-leads'
        ? 'only the table decides it (direction: to-leads)'
        : 'it is not mapped';
  return new LeadsyncError('edit.not-allowed', `${heading} cannot be changed here: ${why}`, {
    help: 'Nothing was changed. Change it in the service or in the table.',
  });
}
