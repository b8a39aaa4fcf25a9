import type { Cell } from './value.ts';

/** Who changed a value, as far as the place where it stands knows. Personal data. */
export interface Author {
  /** What is known: who wrote this very `value`, or only who changed or saved the `file` last. */
  readonly of: 'value' | 'file';
  /** What tells it. */
  readonly place: 'HubSpot' | 'Google Drive' | 'workbook';
  /** A name, an e-mail address, or `user 123`; null: no person is named. */
  readonly by: string | null;
  /** ISO instant; null: not told. */
  readonly at: string | null;
  /** In the place's own words by what means, such as IMPORT and its number; absent: by hand. */
  readonly source?: { readonly type: string; readonly id: string | null };
}

/** A cell of a table of which it is asked who changed it. */
export interface AskedCell {
  readonly leadId: string;
  readonly field: string;
  /** Where the row stood when it was read, and what the cell showed. */
  readonly row: number;
  readonly shown: Cell;
}

/** What is known, in words and without the time: `changed by Anna Meyer (HubSpot)`. */
export function authorWords({ of, place, by, source }: Author): string {
  if (of === 'file')
    return place === 'workbook'
      ? `workbook last saved by ${by}`
      : `spreadsheet last changed by ${by} (${place})`;
  const means = source === undefined ? [] : [source.type, source.id ?? ''].filter((word) => word !== '');
  if (by === null) return `changed by ${means.join(' ') || 'nobody who is named'} (${place})`;
  return `changed by ${by} (${[place, means.join(' ')].filter((word) => word !== '').join(', ')})`;
}
