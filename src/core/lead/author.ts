import type { Cell } from './value.ts';

/** Who changed a value, as reported by the place that holds it. Personal data. */
export interface Author {
  /** `value`: who wrote this very value; `file`: only who last changed or saved the file. */
  readonly of: 'value' | 'file';
  /** The place that reports it. */
  readonly place: 'HubSpot' | 'Google Drive' | 'workbook';
  /** A name, an e-mail address, or `user 123`; null: no person is named. */
  readonly by: string | null;
  /** ISO instant; null: not reported. */
  readonly at: string | null;
  /** How it was changed, in the place's own words (IMPORT and its number); absent: by hand. */
  readonly source?: { readonly type: string; readonly id: string | null };
}

/** A cell whose author is wanted. */
export interface ShownCell {
  readonly leadId: string;
  readonly field: string;
  /** Where the row stood when it was read, and what the cell showed. */
  readonly row: number;
  readonly shown: Cell;
}

/** The author in words, without the time: `changed by Anna Meyer (HubSpot)`. */
export function authorWords({ of, place, by, source }: Author): string {
  if (of === 'file')
    return place === 'workbook'
      ? `workbook last saved by ${by}`
      : `spreadsheet last changed by ${by} (${place})`;
  const means = source === undefined ? [] : [source.type, source.id ?? ''].filter((word) => word !== '');
  if (by === null) return `changed by ${means.join(' ') || 'an unnamed user'} (${place})`;
  return `changed by ${by} (${[place, means.join(' ')].filter((word) => word !== '').join(', ')})`;
}
