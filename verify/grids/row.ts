import { type Field, leadFields, type Row } from './grid.ts';

/** A row from what a program's API gives for each field. */
export function rowOf(key: number, valueOf: (field: Field) => unknown): Row {
  const id = valueOf('leadId');
  return {
    key,
    leadId: typeof id === 'string' && id !== '' ? id : null,
    values: Object.fromEntries(leadFields.map((field) => [field, textOf(field, valueOf(field))])),
  };
}

/** A value of either side as it is compared: one text for one meaning. */
export function textOf(field: Field, value: unknown): string | null {
  if (value === null || value === undefined || value === '') return null;
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  if (field === 'nextFollowUpAt') return new Date(text).toISOString();
  // Decimals are numbers to some and texts to others.
  return field === 'revenue' || field === 'headcount' ? String(Number(text)) : text;
}
