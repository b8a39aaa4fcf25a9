import { fieldKinds } from './field-kinds.ts';
import { type FieldMapping, followUpField } from './mapping.ts';
import { type Cell, isUnreadable } from './value.ts';

/** A follow-up in any other year is a slip, such as 21.11.0026: it travels from no row, and nobody is mailed. */
export const followUpYears = { first: 1970, last: 2200 } as const;

/** Whether a cell holds a follow-up in a year that nobody means. */
export function isImplausible(cell: Cell, { field, type }: Pick<FieldMapping, 'field' | 'type'>): boolean {
  if (field !== followUpField || !fieldKinds[type].isMoment || cell === null || isUnreadable(cell))
    return false;
  const year = new Date(cell).getUTCFullYear();
  return year < followUpYears.first || year > followUpYears.last;
}
