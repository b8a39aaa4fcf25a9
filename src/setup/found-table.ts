import { defaultFields } from '../core/lead/mapping.ts';
import { countKnown } from './propose-mapping.ts';

/** The content of a place. */
export interface FoundTable {
  /** As shown; null: no table yet, the first sync creates it. */
  readonly headings: readonly string[] | null;
  /** Whether any row follows the headings. */
  readonly hasRows: boolean;
}

export const noTable: FoundTable = { headings: null, hasRows: false };

const fields = defaultFields.map(({ field }) => field);

/** A table from the texts of its first rows: its headings are in the row that has most of the known ones. */
export function tableOf(rows: readonly (readonly string[])[]): FoundTable {
  const filled = rows.filter((row) => row.some((text) => text.trim() !== ''));
  const known = filled.map((row) => countKnown(row, fields));
  const at = known.indexOf(Math.max(...known));
  const headings = filled[at];
  return headings === undefined ? noTable : { headings, hasRows: filled.length > at + 1 };
}
