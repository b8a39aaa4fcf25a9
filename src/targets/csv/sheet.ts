import { counted } from '../../core/lead/wording.ts';
import { type Aside, asidesIn, mayShowOthers, recordsIn } from '../../core/lead/aside.ts';
import { fieldKinds } from '../../core/lead/field-kinds.ts';
import { idKey } from '../../core/lead/lead-id.ts';
import type { Cell } from '../../core/lead/value.ts';
import { pauses } from '../../core/lead/table-rows.ts';
import { rowWord } from '../../core/lead/words.ts';
import { type Columns, locateColumns } from '../shared/columns.ts';
import { type CsvDialect, csvHeadBytes, detectCsvDialect } from './format.ts';
import { recordAt } from './record-at.ts';
import { type CsvRecord, isComment, readCsvRecords } from './records.ts';
import { freeCell } from '../shared/table-range.ts';
import { incompleteFile } from '../file/file-fault.ts';
import { type FileTableOptions, resumed } from '../file/file-format.ts';
import { unguarded } from '../../core/lead/formula-guard.ts';
import { isBlank, type PresentRow } from '../shared/row-changes.ts';
import type { SourceFile } from '../file/file-place.ts';

/** An open CSV file: its header, and the rows after it. */
export interface CsvSheet {
  readonly format: CsvDialect;
  readonly header: CsvRecord;
  readonly columns: Columns;
  /** All records after the header, blank ones included; can be read once. */
  readonly records: AsyncGenerator<readonly CsvRecord[]>;
}

/** Reads the header. Call `records.return` when not reading to the end. */
export async function openCsvSheet(file: SourceFile, options: FileTableOptions): Promise<CsvSheet> {
  const format = detectCsvDialect(await file.head(csvHeadBytes), options);
  const batches = readCsvRecords(file.chunks(), format, options.name);
  try {
    const first: CsvRecord[] = [];
    while (first.length < format.headerRow) {
      const next = await batches.next();
      if (next.done === true) break;
      first.push(...next.value);
    }
    const none = { row: 1, line: 1, lines: null, cells: [], start: 0, contentEnd: 0, end: 0 };
    const header = first[format.headerRow - 1] ?? none;
    const columns = columnsOf(header, options);
    return { format, header, columns, records: resumed(first.slice(format.headerRow), batches) };
  } catch (error) {
    await batches.return(undefined);
    throw error;
  }
}

/** A file that ends within its headings is incomplete, not wrong. */
function columnsOf(header: CsvRecord, options: FileTableOptions): Columns {
  const isCut = header.contentEnd === header.end && header.end > 0;
  const cut = (cause?: unknown) =>
    incompleteFile(`${options.name} ends in the middle of its headings`, cause);
  try {
    const headings = headingsShown(header);
    const free = freeCell(headings, header.row, () => false);
    const columns = locateColumns(headings, options, options.name, free);
    if (isCut && columns.missing.length > 0) throw cut();
    return columns;
  } catch (error) {
    throw isCut ? cut(error) : error;
  }
}

/** The texts of the headings. */
export function headingsShown(header: CsvRecord): readonly string[] {
  return header.cells.map((cell) => unguarded(cell.text));
}

/**
 * A record as a row; null when it has neither an id nor anything in a mapped column. A short record does not show the
 * columns after its end; in one with more cells than headings, no cell is known to be in its column.
 */
export function readCsvRow(
  record: CsvRecord,
  { columns, header }: Pick<CsvSheet, 'columns' | 'header'>,
  timeZone: string,
): PresentRow<CsvRecord> | null {
  const text = (index: number) => unguarded(record.cells[index]?.text ?? '');
  const leadId = text(columns.id).trim();
  const cells: Record<string, Cell> = {};
  const shifted = tooWide(record, header.cells.length);
  for (const [field, { index, type, words }] of columns.fields) {
    if (index >= record.cells.length) continue;
    if (shifted !== null) {
      cells[field] = { unreadable: shifted, why: 'shifted' };
      continue;
    }
    cells[field] = rowWord(fieldKinds[type].read(text(index), timeZone), words);
  }
  if (leadId === '' && isBlank(cells)) return null;
  const status = columns.status === null ? null : text(columns.status) || null;
  const isNoRow = header.cells.length > 1 && isComment(record);
  if (isNoRow) return { leadId: null, standing: 'note', cells, status, place: record };
  const isPaused = columns.pause !== null && shifted === null && pauses(text(columns.pause));
  return {
    leadId: leadId === '' ? null : leadId,
    cells,
    status,
    place: record,
    ...(isPaused && { paused: true }),
  };
}

/** A UUID in braces. */
const longestId = 38;

/** What a record shows of other rows: ids in its cells, and whole rows that a quotation mark joined to it. */
export function csvAsides(
  record: CsvRecord,
  { columns, header, format }: Pick<CsvSheet, 'columns' | 'header' | 'format'>,
): readonly Aside[] {
  const { lines, cells } = record;
  const noted = cells.filter(({ text }, nth) => nth !== columns.id && mayShowOthers(text));
  const shown = cells[columns.id]?.text ?? '';
  const isWhole = isQuotedLine(record, header.cells.length, format.delimiter);
  if (noted.length === 0 && lines === null && shown.length <= longestId && !isWhole) return [];
  const shape = { width: header.cells.length, id: columns.id };
  const key = idKey(unguarded(shown).trim());
  const own = key === '' ? null : key;
  const found = [{ text: shown }, ...noted].flatMap(({ text }) => asidesIn(text, shape, own));
  if (lines !== null) found.push(...recordsIn(lines, format.delimiter, shape, own));
  if (isWhole) found.push({ leadId: '', kind: 'table' });
  const last = record.line + (lines?.length ?? 1) - 1;
  const place = last > record.line ? `lines ${record.line} to ${last}` : `line ${record.line}`;
  return found.map((one) => ({ ...one, place }));
}

/**
 * Whether its one cell is a row of the table: some programs quote a line as a whole (`"1,Acme,""Foo, Bar"",Köln"`) when a cell of
 * it needed quotes. It may lack the last column, which was added since. The commas of prose have a blank after them.
 */
function isQuotedLine(
  { lines, cells: [only, second] }: CsvRecord,
  width: number,
  delimiter: string,
): boolean {
  if (only === undefined || second !== undefined || lines !== null || width < 4) return false;
  if (only.text.split(delimiter).length < width - 1) return false;
  const within = cellsIn(only.text, delimiter);
  return [width - 1, width].includes(within.length) && !within.slice(1).every((cell) => /^ \S/.test(cell));
}

function cellsIn(line: string, delimiter: string): readonly string[] {
  const found = recordAt({ bytes: Buffer.from(line), position: 0, isLast: true }, 0, delimiter);
  // A quotation mark that nothing closes, or within a cell: it is no such line.
  return found === null || typeof found === 'string' ? [] : found.cells.map(({ text }) => text);
}

/** That a record has more cells than there are headings, so that none is known to be in its column; null: it has not. */
export function tooWide({ cells }: CsvRecord, headings: number): string | null {
  const width = cells.findLastIndex((cell) => cell.text.trim() !== '') + 1;
  return width > headings ? `${width} cells under ${counted(headings, 'heading')}` : null;
}
