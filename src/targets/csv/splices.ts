import { counted } from '../../core/lead/counted.ts';
import { fieldKinds } from '../../core/lead/field-kinds.ts';
import { guarded } from '../../core/lead/formula-guard.ts';
import type { FieldType, Value } from '../../core/lead/value.ts';
import { type Columns, ownedColumns } from '../shared/columns.ts';
import type { NewRow, RowDecisions, RowWrite } from '../shared/row-changes.ts';
import { contentOf } from '../shared/row-content.ts';
import { type Splice, splice } from '../file/splice.ts';
import type { CsvRecord } from './records.ts';

export interface CsvStyle {
  readonly delimiter: string;
  readonly lineEnd: string;
  readonly allQuoted: boolean;
  /** IANA zone in which dates without a time are read. */
  readonly timeZone: string;
}

export interface CsvEnd {
  /** The last record of the table: new rows go after it, before blank lines and what people wrote below. */
  readonly last: Pick<CsvRecord, 'row' | 'contentEnd' | 'end'>;
  readonly width: number;
}

export function csvSplices(
  decisions: RowDecisions<CsvRecord>,
  columns: Columns,
  style: CsvStyle,
  end: CsvEnd,
): readonly Splice[] {
  const takenOut = ({ remove, place }: RowWrite<CsvRecord>): boolean =>
    remove && !hasOwnCells(place, columns);
  const splices = decisions.writes.flatMap((write) =>
    takenOut(write) ? [splice(write.place.start, write.place.end, '')] : rowSplices(write, columns, style),
  );
  const lines = decisions.appends.map((row) => newLine(newTexts(row, columns, end.width, style), style));
  if (lines.length === 0) return splices;
  const { last } = end;
  const unended =
    last.contentEnd === last.end &&
    !decisions.writes.some((write) => takenOut(write) && write.place === last);
  return [...splices, splice(last.end, last.end, (unended ? style.lineEnd : '') + lines.join(''))];
}

export function hasOwnCells({ cells }: CsvRecord, columns: Columns): boolean {
  const owned = ownedColumns(columns);
  return cells.some(({ text }, index) => text.trim() !== '' && !owned.has(index));
}

export function newLine(texts: readonly string[], { delimiter, allQuoted, lineEnd }: CsvStyle): string {
  const cells = texts.map((text) => csvCell(guarded(text), delimiter, allQuoted));
  return cells.join(delimiter) + lineEnd;
}

function newTexts(
  { leadId, values, status }: NewRow,
  columns: Columns,
  width: number,
  { timeZone }: CsvStyle,
): readonly string[] {
  const texts = Array.from({ length: width }, () => '');
  texts[columns.id] = leadId;
  if (status !== null && columns.status !== null) texts[columns.status] = status;
  for (const [field, { index, type }] of columns.fields)
    texts[index] = textOf(values[field] ?? null, type, timeZone);
  return texts;
}

function textOf(value: Value, type: FieldType, timeZone: string): string {
  return value ? fieldKinds[type].write(value, timeZone) : '';
}

function textsOf(
  write: Partial<RowWrite<unknown>>,
  columns: Columns,
  { timeZone }: Pick<CsvStyle, 'timeZone'>,
): Map<number, string> {
  return new Map(
    [...contentOf(write, columns)].map(([index, { value, type }]) => [index, textOf(value, type, timeZone)]),
  );
}

function rowSplices(write: RowWrite<CsvRecord>, columns: Columns, style: CsvStyle): Splice[] {
  const { place } = write;
  const content = textsOf(write, columns, style);
  const filled = [...content].filter(([, text]) => text !== '').map(([index]) => index);
  return paddedTo(place, Math.max(0, ...filled.map((index) => index + 1)), content, style);
}

export function paddedTo(
  record: CsvRecord,
  width: number,
  content: ReadonlyMap<number, string>,
  style: CsvStyle,
): Splice[] {
  const splices: Splice[] = [];
  for (const [index, text] of content) {
    const cell = record.cells[index];
    if (cell === undefined) continue;
    splices.push(splice(cell.start, cell.end, csvCell(guarded(text), style.delimiter, cell.quoted)));
  }
  let padding = '';
  for (let index = record.cells.length; index < width; index++) {
    padding += style.delimiter + csvCell(guarded(content.get(index) ?? ''), style.delimiter, style.allQuoted);
  }
  return padding === '' ? splices : [...splices, splice(record.contentEnd, record.contentEnd, padding)];
}

/** Why a short row cannot be written to, as a sentence: the cells between its end and the text would look as if emptied by a person. */
export function notPaddable(write: RowWrite<CsvRecord>, columns: Columns): string | null {
  const { place } = write;
  if (write.leadId !== null || write.remove || write.unlink !== null) return null;
  const content = contentOf(write, columns);
  const last = Math.max(
    ...[...content].filter(([, { value }]) => (value ?? '') !== '').map(([index]) => index),
  );
  const unknown = [...columns.fields.values()].some(
    ({ index }) => index >= place.cells.length && index < last && !content.has(index),
  );
  if (!unknown) return null;
  return `Row ${place.row} ends after ${counted(place.cells.length, 'cell')}, before other mapped columns: fill them in.`;
}

/** A cell as written (RFC 4180, section 2); quoted when a program might split it, at this separator or at another one, or `always`. */
export function csvCell(text: string, delimiter: string, always: boolean): string {
  const quoted = always || text.includes(delimiter) || /[",;|\t\r\n]/.test(text);
  return quoted ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Longest text that we write: well below what records.ts reads as one row. */
export const longestCsvText = 1_000_000;
