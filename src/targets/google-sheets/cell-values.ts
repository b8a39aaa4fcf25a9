import { generalNumber, isGeneralNumber } from '../shared/cell-name.ts';
import { Temporal } from 'temporal-polyfill';
import { LeadsyncError } from '../../lib/errors.ts';
import { type FieldKind, fieldKinds } from '../../core/lead/field-kinds.ts';
import { type Cell, type FieldType, isUnreadable, type Value } from '../../core/lead/value.ts';
import { SerialClock } from '../shared/serial-clock.ts';
import { cellAt, type Formula, type Grid, type GridCell, isFormula } from './grid.ts';
import type { SheetCell } from './sheets-api.ts';

/** Google's limit for one cell (Drive help, "Files you can store"). */
const longestCellText = 50_000;

/** 1 March 1900: before it, Sheets counts days differently from SerialClock, and a number is hardly a date. */
const firstSerial = 61;

export interface SpreadsheetTerms {
  /** IANA, or `GMT-07:00`. */
  readonly timeZone: string;
  /** Such as `de_DE`, `en`. */
  readonly locale: string;
}

export class CellValues {
  readonly #clock: SerialClock;
  readonly #isMonthFirst: boolean | null;

  /** @throws LeadsyncError `target.unreadable` for an unknown time zone. */
  constructor({ timeZone, locale }: SpreadsheetTerms) {
    this.#clock = new SerialClock(knownTimeZone(timeZone), false);
    this.#isMonthFirst = isMonthFirst(locale);
  }

  /** A formula is unreadable: nothing is written over it. A number in a text column reads unformatted; dates and errors are the caller's. */
  read(cell: GridCell, type: FieldType): Cell {
    if (isFormula(cell)) return { unreadable: showFormula(cell), why: 'formula' };
    const text = cellText(cell);
    if (text === '') return null;
    const { isMoment, read } = fieldKinds[type];
    if (!isMoment) return read(text, this.#clock.timeZone);
    if (typeof cell === 'number') return this.#instantOf(cell, text);
    // A boolean in a date column: a guess could lose an edit.
    if (typeof cell === 'boolean') return { unreadable: text };
    return this.#momentFrom(text, read);
  }

  /**
   * Null empties the cell. `asNumber`: whether it would show a number as the meant value. When no day number means a moment exactly
   * (ambiguous hours, years before 1900) it becomes ISO text; a text stays text when a number would read differently.
   */
  write(value: Value, type: FieldType, asNumber: boolean): SheetCell {
    if (value === null || value === '') return null;
    const { isMoment, write } = fieldKinds[type];
    const serial = asNumber && isMoment ? this.#clock.fromInstant(value) : null;
    if (serial !== null && serial >= firstSerial) return serial;
    if (asNumber && !isMoment && isGeneralNumber(value)) return Number(value);
    return write(value, this.#clock.timeZone);
  }

  #instantOf(serial: number, text: string): Cell {
    if (serial < firstSerial) return { unreadable: text };
    if (this.#clock.isSkipped(serial))
      return { unreadable: this.#clock.toLocalText(serial) ?? text, why: 'skipped' };
    return this.#clock.toInstant(serial) ?? { unreadable: text };
  }

  /** Day and month in the locale's order, where both are possible. */
  #momentFrom(text: string, read: FieldKind['read']): Cell {
    const cell = read(text, this.#clock.timeZone);
    if (!isUnreadable(cell) || cell.why !== undefined || this.#isMonthFirst === null) return cell;
    const date = /^(\d{1,2})([-/])(\d{1,2})\2(\d{4})(?!\d)/.exec(text.trim());
    if (date === null) return cell;
    const [whole, first = '', , second = '', year = ''] = date;
    const [month, day] = this.#isMonthFirst ? [first, second] : [second, first];
    const iso = `${year}-${month}-${day}${text.trim().slice(whole.length)}`;
    const ordered = read(iso, this.#clock.timeZone);
    return isUnreadable(ordered) ? { ...ordered, unreadable: text } : ordered;
  }
}

export function cellText(cell: GridCell): string {
  if (isFormula(cell)) return cellText(cell.shows);
  if (cell === null) return '';
  if (typeof cell === 'number') return generalNumber(cell);
  if (typeof cell === 'boolean') return cell ? 'TRUE' : 'FALSE';
  return cell;
}

export function idText(grid: Grid, row: number, column: number): string {
  return cellText(cellAt(grid, row, column)).trim();
}

export function notStorableInSheets(text: string): string | null {
  if (text.includes('\0')) return 'The text contains a NUL character, which spreadsheets cannot show.';
  if (!text.isWellFormed())
    return 'The text contains half a character (a lone surrogate), which cannot be sent.';
  if (text.length > longestCellText) {
    return `The text has ${text.length} characters; a cell holds at most ${longestCellText}.`;
  }
  return null;
}

export function showFormula(cell: Formula): string {
  const { formula } = cell;
  const value = cellText(cell);
  return `formula ${formula}${value === '' ? '' : ` (shows ${value})`}`;
}

function knownTimeZone(name: string): string {
  const offset = /^(?:GMT|UTC)([+-]\d{2}:\d{2})$/.exec(name)?.[1];
  try {
    return Temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(offset ?? name).timeZoneId;
  } catch (error) {
    // Temporal throws this for an unknown zone.
    if (!(error instanceof RangeError)) throw error;
    throw new LeadsyncError(
      'target.unreadable',
      `The spreadsheet has the time zone ${JSON.stringify(name)}, which is unknown here. Nothing was read or written.`,
      { help: 'Choose another time zone in File > Settings of the spreadsheet.', cause: error },
    );
  }
}

/** Whether a locale writes the month first; null: year first, or unknown. */
function isMonthFirst(locale: string): boolean | null {
  try {
    const parts = new Intl.DateTimeFormat(locale.replaceAll('_', '-')).formatToParts(0);
    const order = parts.map(({ type }) => type).filter((type) => ['day', 'month', 'year'].includes(type));
    return order[0] === 'year' ? null : order[0] === 'month';
  } catch (error) {
    // Intl throws this for an invalid locale.
    if (error instanceof RangeError) return null;
    throw error;
  }
}
