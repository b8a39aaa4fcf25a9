import { headingKey } from '../../core/lead/heading-line.ts';
import type { sheets_v4 } from '@googleapis/sheets';
import { z } from 'zod';
import { parseJson } from '../../lib/parse-json.ts';
import { type ColumnMapping, type Columns, locateColumns, missingHeader } from '../shared/columns.ts';
import type { SheetCell } from './sheets-replies.ts';

export const columnKey = 'leadsync.column';

/** A column's record: its field and configured heading. Moves with the column. */
export interface ColumnRecord {
  readonly metadataId: number;
  readonly column: number;
  readonly field: string;
  readonly heading: string;
}

/** A configured column; id and status have names that no lead field has. */
export interface ManagedColumn {
  readonly field: string;
  readonly heading: string;
}

const idField = '@id';
const statusField = '@status';

const recordValue = z
  .object({ field: z.string(), column: z.string() })
  .transform(({ field, column }) => ({ field, heading: column }));

export function managedColumns({ idColumn, fields, statusColumn }: ColumnMapping): ManagedColumn[] {
  return [
    { field: idField, heading: idColumn },
    ...fields.map(({ field, column }) => ({ field, heading: column })),
    ...(statusColumn === undefined ? [] : [{ field: statusField, heading: statusColumn }]),
  ];
}

export function columnRecordValue({ field, heading }: ManagedColumn): string {
  return JSON.stringify({ field, column: heading });
}

export function readColumnRecords(
  metadata: readonly sheets_v4.Schema$DeveloperMetadata[] | undefined,
  column: number,
): ColumnRecord[] {
  return readRecords(metadata, columnKey, recordValue).map((record) => ({ ...record, column }));
}

export function readRecords<T extends object>(
  metadata: readonly sheets_v4.Schema$DeveloperMetadata[] | undefined,
  key: string,
  value: z.ZodType<T>,
): (T & { metadataId: number })[] {
  return (metadata ?? []).flatMap(({ metadataId, metadataKey, metadataValue }) => {
    if (metadataKey !== key || typeof metadataId !== 'number') return [];
    const { success, data } = value.safeParse(parseJson(metadataValue ?? ''));
    return success ? [{ ...data, metadataId }] : [];
  });
}

/**
 * Finds the managed columns: by a record that only one column has and that names the same field and configured heading, so
 * that renamed headings are found; else by heading. A record is ignored where its column has no heading, or another mapped
 * heading: somebody cut and pasted cells, and records stay behind. All are ignored when no heading reads as configured: the
 * header row was deleted or sorted away. Throws as locateColumns does.
 */
export function locateManagedColumns(
  headings: readonly string[],
  records: readonly ColumnRecord[],
  mapping: ColumnMapping,
  name: string,
  free?: string | null,
): Columns {
  const managed = managedColumns(mapping);
  const texts = new Set(headings.map(headingKey));
  if (!managed.some(({ heading }) => texts.has(headingKey(heading))))
    return locateColumns(headings, mapping, name, free);
  const recorded = new Map<number, string>();
  for (const { field, heading } of managed) {
    const [record, second] = records.filter((each) => each.field === field && each.heading === heading);
    if (record === undefined || second !== undefined) continue;
    const shown = headingKey(headings[record.column] ?? '');
    const isOther = managed.some((each) => each.heading !== heading && headingKey(each.heading) === shown);
    if (shown !== '' && !isOther && !recorded.has(record.column)) recorded.set(record.column, heading);
  }
  const decided = new Set([...recorded.values()].map(headingKey));
  const width = Math.max(headings.length, ...[...recorded.keys()].map((column) => column + 1));
  const substituted = Array.from({ length: width }, (_, column) => {
    const shown = headings[column] ?? '';
    return recorded.get(column) ?? (decided.has(headingKey(shown)) ? '' : shown);
  });
  return locateColumns(substituted, mapping, name, free);
}

export function placesOf(
  columns: Columns,
  mapping: ColumnMapping,
): { column: number; managed: ManagedColumn }[] {
  return managedColumns(mapping).flatMap((managed) => {
    const column =
      managed.field === idField
        ? columns.id
        : managed.field === statusField
          ? columns.status
          : (columns.fields.get(managed.field)?.index ?? null);
    return column === null ? [] : [{ column, managed }];
  });
}

/** Rows searched for displaced headings. */
const lastHeadingRow = 50;

/** A first row whose id cell is no mapped heading, with the id heading further down: a sort included it. Throws `target.header-missing`. */
export function assertHeadingsFirst(
  headings: readonly string[],
  cells: readonly (readonly SheetCell[])[],
  idColumn: number,
  mapping: ColumnMapping,
  name: string,
): void {
  const first = headingKey(headings[idColumn] ?? '');
  if (managedColumns(mapping).some(({ heading }) => headingKey(heading) === first)) return;
  const ids = cells.slice(0, lastHeadingRow).map((row) => headingKey(String(row[idColumn] ?? '')));
  const row = ids.indexOf(headingKey(mapping.idColumn));
  if (row > 0)
    throw missingHeader(`The headings of ${name} are in row ${row + 1}, not in the first.`, mapping);
}
