import { instantCell, instantText } from './instant.ts';
import type { Cell, FieldType } from './value.ts';

/** All that a type of field decides. Values are canonical from the moment they are read: nothing compares by type. */
export interface FieldKind {
  /** A text of either side as a cell; `timeZone` (IANA): of dates without an offset. */
  read(this: void, text: string, timeZone: string): Cell;
  /** A value as the text of a table, which `read` gives back. */
  write(this: void, value: string, timeZone: string): string;
  /** Whether values are moments: day numbers in spreadsheets, timestamps in databases, local time in mails. */
  readonly isMoment: boolean;
  /** The column of a new table, and the property of a portal. */
  readonly postgres: string;
  readonly hubspot: { readonly type: string; readonly fieldType: string };
  /** Completes "the field must be …". */
  readonly noun: string;
  /** What helps where a cell shows a text that cannot be read: follows that text in a sentence. */
  advice(this: void, text: string): string;
}

export const fieldKinds: Readonly<Record<FieldType, FieldKind>> = {
  text: {
    read: (text) => (text === '' ? null : text),
    write: (value) => value,
    isMoment: false,
    postgres: 'text',
    hubspot: { type: 'string', fieldType: 'text' },
    noun: 'a text',
    advice: () => ' is not text. Type it as text',
  },
  instant: {
    read: instantCell,
    write: instantText,
    isMoment: true,
    postgres: 'timestamptz',
    hubspot: { type: 'datetime', fieldType: 'date' },
    noun: 'a date',
    advice: (text) =>
      mayBeTwoDays(text)
        ? ' may be two days, as day or month may come first. Type it as 2026-11-21, or as a date of the table'
        : '. Type a date such as 2026-11-21 09:30',
  },
};

function mayBeTwoDays(text: string): boolean {
  const [, one, other] = /^\s*(\d{1,2})\/(\d{1,2})\/\d{4}\b/.exec(text) ?? [];
  return one !== other && [one, other].every((part) => Number(part) >= 1 && Number(part) <= 12);
}
