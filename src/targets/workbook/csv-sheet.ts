import { readInstant } from '../../lead/instant.ts';
import type { Cell, Cells } from '../../lead/value.ts';
import { locateColumns, type ColumnMapping, type Columns } from '../columns.ts';
import { csvHeadBytes, detectCsvFormat, type CsvFormat } from './csv-format.ts';
import { readCsvRecords, type CsvRecord } from './csv-records.ts';
import { unguarded } from './csv-text.ts';
import type { PresentRow } from '../row-changes.ts';
import type { SourceFile } from './source-file.ts';

export interface CsvMapping extends ColumnMapping {
  /** IANA zone in which a date without offset is meant. */
  readonly timeZone: string;
}

/** A CSV file under reading: what its first row tells, and the rows after it. */
export interface CsvSheet {
  readonly format: CsvFormat;
  readonly header: CsvRecord;
  readonly columns: Columns;
  /** All records after the header, blank ones too; to be read once. */
  readonly records: AsyncGenerator<readonly CsvRecord[]>;
}

/**
 * Reads the header of a file and stands ready to read the rest. End `records` (`return`) when not reading to the end.
 * @throws LeadsyncError `target.unreadable`, `target.header-missing`, `target.id-column-missing`.
 */
export async function openCsvSheet(
  file: SourceFile,
  mapping: CsvMapping,
  name: string,
  signal: AbortSignal,
): Promise<CsvSheet> {
  const headings = [mapping.idColumn, ...mapping.fields.map((field) => field.column)];
  const format = detectCsvFormat(await file.head(csvHeadBytes), headings, name);
  const batches = readCsvRecords(file.chunks(signal), format, name);
  try {
    let first: readonly CsvRecord[] = [];
    while (first.length === 0) {
      const next = await batches.next();
      if (next.done === true) break;
      first = next.value;
    }
    const header = first[0] ?? { row: 1, cells: [], start: 0, contentEnd: 0, end: 0 };
    const columns = locateColumns(
      header.cells.map((cell) => unguarded(cell.text)),
      mapping,
      name,
    );
    return { format, header, columns, records: following(first.slice(1), batches) };
  } catch (error) {
    await batches.return(undefined);
    throw error;
  }
}

async function* following(
  first: readonly CsvRecord[],
  batches: AsyncGenerator<readonly CsvRecord[]>,
): AsyncGenerator<readonly CsvRecord[]> {
  try {
    yield first;
    yield* batches;
  } finally {
    await batches.return(undefined);
  }
}

/** What a record means to the sync; null when it carries neither an id nor anything in a mapped column. */
export function readCsvRow(
  record: CsvRecord,
  columns: Columns,
  timeZone: string,
): PresentRow<CsvRecord> | null {
  const text = (index: number) => unguarded(record.cells[index]?.text ?? '');
  const leadId = text(columns.id).trim();
  const cells: Record<string, Cell> = {};
  for (const [field, { index, type }] of columns.fields) {
    cells[field] = type === 'instant' ? instantCell(text(index), timeZone) : textCell(text(index));
  }
  if (leadId === '' && isEmpty(cells)) return null;
  const status = columns.status === null ? null : textCell(text(columns.status));
  return { leadId: leadId === '' ? null : leadId, cells, status, place: record };
}

function textCell(text: string): string | null {
  return text === '' ? null : text;
}

function instantCell(text: string, timeZone: string): Cell {
  if (text.trim() === '') return null;
  return readInstant(text, timeZone) ?? { unreadable: text };
}

function isEmpty(cells: Cells): boolean {
  return Object.values(cells).every((cell) => cell === null);
}
