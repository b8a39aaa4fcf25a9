import type { FieldMapping } from '../lead/mapping.ts';
import { type Cell, isUnreadable, showCell } from '../lead/value.ts';
import type { HoldCode } from './merge-field.ts';

/** What an undo took away does not come back by itself; as it is told. */
export const undoneMessages = {
  'row.undone':
    'an undo took away the lead that was made of this row, so none is made of it again. Change the row to have one made, or choose it: leadsync conflicts names the id for leadsync resolve ID --use target',
  'lead.undone':
    'an undo took away the row of this lead, so none is written again. Change the lead to have one written, or choose it: leadsync conflicts names the id for leadsync resolve ID --use lead',
} as const;

/** Why a field is held, as a sentence. */
export function holdMessage(
  code: HoldCode,
  { field, type }: Pick<FieldMapping, 'field' | 'type'>,
  lead: Cell,
  row: Cell,
): string {
  const both = `the lead has ${showCell(lead)}, the row has ${showCell(row)}`;
  switch (code) {
    case 'conflict.both-edited':
      return `${field} was edited on both sides: ${both}. Both were kept`;
    case 'conflict.first-sight':
      return `${field} differs and was never in step: ${both}. Both were kept`;
    case 'row.unreadable':
      return `${field} cannot be read in the row: ${unreadableAdvice(row, type)}; the lead keeps ${showCell(lead)}`;
    case 'lead.unreadable':
      return `${field} cannot be read in the lead: ${showCell(lead)}. The row keeps ${showCell(row)}`;
    case 'row.company-name-empty':
      return `${field} was emptied in the row; a lead without a name is not sent. The lead keeps ${showCell(lead)}`;
    case 'lead.field-refused':
      return `the service does not take this value of ${field}: ${both}. It is not sent again until it changes`;
    case 'row.put-back':
      return `${field} shows in the row again what it showed before: ${both}. Was it put back, or is the table an older copy? Both were kept`;
    case 'lead.put-back':
      return `${field} shows in the lead again what it showed before: ${both}. Was it put back, or was the service put back to an earlier state? Both were kept`;
  }
}

function unreadableAdvice(row: Cell, type: FieldMapping['type']): string {
  switch (isUnreadable(row) ? row.why : undefined) {
    case 'formula':
      return `${showCell(row)} is a formula, which is not carried over. Type the value in its place`;
    case 'error':
      return `the cell shows the error ${showCell(row)}. Mend it, or type the value in its place`;
    case 'merged':
      return `the cell is covered by merged cells (${showCell(row)}). Unmerge them`;
    case 'shifted':
      return `the row has ${showCell(row)}, so a cell may stand in the wrong column. Put a text that has the separator in it in quotes, or give the further column a heading`;
    case undefined:
      return type === 'instant'
        ? `${showCell(row)}. Type a date such as 2026-11-21 09:30`
        : `${showCell(row)} is no text. Type it as text`;
  }
}
