import type { FieldType, Value } from '../../core/lead/value.ts';
import { columnName, longestCellText } from './cell-reference.ts';
import { generalNumber } from '../shared/general-number.ts';
import type { SheetCell } from './rows.ts';
import type { SerialClock } from '../shared/serial-clock.ts';
import type { DateStyles } from './styles.ts';
import { attribute } from './xml-scanner.ts';
import { escapeCellText, escapeXml } from './xml-text.ts';

/** Writes the XML of cells in one workbook. */
export class CellWriter {
  readonly #prefix: string;
  readonly #dates: DateStyles;
  readonly #clock: SerialClock;

  /** @param prefix of the sheet's elements, with its colon */
  constructor(prefix: string, dates: DateStyles, clock: SerialClock) {
    this.#prefix = prefix;
    this.#dates = dates;
    this.#clock = clock;
  }

  /** Replaces a cell and keeps its format; one without a format takes `style`. */
  replaced(cell: SheetCell, style: number | null, value: Value, type: FieldType): string {
    const kept = cell.attributes.replaceAll(/\s+(?:t|cm|vm)\s*=\s*(?:"[^"]*"|'[^']*')/g, '');
    const attributes = Buffer.from(kept, 'latin1').toString('utf8');
    const format = cell.style ?? (cell.raw === '' ? style : null);
    const isNamed = format === null || attribute(kept, 's') !== null;
    return this.#cell(isNamed ? attributes : `${attributes} s="${format}"`, format, value, type, cell);
  }

  /** A cell in an empty place. */
  added(row: number, column: number, style: number | null, value: Value, type: FieldType): string {
    const attributes = ` r="${columnName(column)}${row}"${style === null ? '' : ` s="${style}"`}`;
    return this.#cell(attributes, style, value, type, null);
  }

  #cell(
    attributes: string,
    style: number | null,
    value: Value,
    type: FieldType,
    old: SheetCell | null,
  ): string {
    const p = this.#prefix;
    if (value === null || value === '') return `<${p}c${attributes}/>`;
    const number = type === 'instant' ? this.#serial(value, style) : this.#number(value, style, old);
    if (number !== null) return `<${p}c${attributes}><${p}v>${number}</${p}v></${p}c>`;
    const text = escapeXml(escapeCellText(value));
    return `<${p}c${attributes} t="inlineStr"><${p}is><${p}t xml:space="preserve">${text}</${p}t></${p}is></${p}c>`;
  }

  /** The day number, if the cell shows dates and it reads back as the same moment. */
  #serial(instant: string, style: number | null): string | null {
    if (!this.#dates.has(style ?? 0)) return null;
    const serial = this.#clock.fromInstant(instant);
    return serial === null ? null : String(serial);
  }

  /** Numbers stay numbers, for formulas, if they read back as the same text. */
  #number(text: string, style: number | null, old: SheetCell | null): string | null {
    if (old === null || old.type !== 'n' || old.raw === '' || this.#dates.has(style ?? 0)) return null;
    return /^-?\d/.test(text) && generalNumber(Number(text)) === text ? text : null;
  }
}

/** Why a cell cannot hold a text and give it back unchanged, as a sentence; null when it can. */
export function notStorableInXlsx(text: string): string | null {
  if (text.includes('\0'))
    return 'The text contains a NUL character, which spreadsheet programs cannot read.';
  if (!text.isWellFormed())
    return 'The text contains half a character (a lone surrogate), which no file can hold.';
  if (text.length > longestCellText) {
    return `The text has ${text.length} characters; a cell holds at most ${longestCellText}.`;
  }
  return null;
}
