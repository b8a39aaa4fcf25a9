import type { FieldType } from './value.ts';
import { leadFields } from './lead-fields.ts';

/** The due moment of the next follow-up (API reference, section 2). */
export const followUpField = 'nextFollowUpAt';

/** Which way edits travel. `to-target`: only lead to row; `to-leads`: only row to lead. */
export type Direction = 'two-way' | 'to-target' | 'to-leads';

/**
 * What the table and the service call the values of a field, as configured. Of several words of the table for one of the
 * service the first is written.
 */
export type Words = readonly (readonly [row: string, lead: string])[];

/** A lead field and its column. */
export interface FieldMapping {
  /** The field's name in the Leads service. */
  readonly field: string;
  /** The heading in the target. */
  readonly column: string;
  readonly type: FieldType;
  readonly direction: Direction;
  /** Offered as a list in the cells of a new workbook; other values may still be typed. */
  readonly values?: readonly string[];
  /** Absent: both sides say the same. */
  readonly words?: Words;
}

/** The headings of fields, for messages. */
export type Headings = readonly Pick<FieldMapping, 'field' | 'column'>[];

/** What people call a field: its heading, on one line; a field without a column has only its own name. */
export function headingOf(fields: Headings, field: string): string {
  const column = fields.find((mapping) => mapping.field === field)?.column ?? field;
  return column.replaceAll(/\s+/g, ' ').trim();
}

/**
 * What two headings share when they name the same column: case, the form of accents, and white space of any kind do not
 * matter, line breaks and invisible characters included.
 */
export function headingKey(heading: string): string {
  const text = heading.normalize('NFC').replaceAll(/[\s\p{Cf}]/gu, '');
  return text.toUpperCase().toLowerCase().normalize('NFC');
}

/** Headings by field, as they are. */
export function columnsOf(fields: Headings): ReadonlyMap<string, string> {
  return new Map(fields.map(({ field, column }) => [field, column]));
}

/** The fields of the API reference (section 2) without the id, with readable headings. */
export const defaultFields: readonly FieldMapping[] = Object.entries(leadFields).map(
  ([field, { column, type }]) => ({ field, column, type, direction: 'two-way' }),
);

/** The HubSpot property by which a person requests a lead for a company that has none. Not mapped to a lead field. */
export const optInProperty = 'lead_sync';
