import { defaultFields, type Direction, type FieldMapping } from '../core/lead/mapping.ts';
import type { FieldType } from '../core/lead/value.ts';
import { leadFields } from '../core/lead/lead-fields.ts';
import type { Readable } from './readable.ts';
import type { ConnectionSettings } from './schema.ts';

function usualColumn({ field, column }: FieldMapping, targetType: string | undefined): string {
  if (targetType === 'hubspot') return leadFields[field]?.hubspot ?? `lead_${field}`;
  return targetType === 'postgres-table'
    ? field.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
    : column;
}

export function defaultIdColumn(targetType: string | undefined): string {
  return targetType === 'hubspot' || targetType === 'postgres-table' ? 'lead_id' : 'Lead ID';
}

export const usualMatchBy: readonly string[] = ['companyName', 'city'];

/** The mapping of a connection: as written, without what lacks a column, or the usual one of its kind of target. */
export function fieldMappings({
  fields,
  target,
  sync,
}: Readable<ConnectionSettings>): readonly FieldMapping[] {
  const direction = sync?.direction ?? 'two-way';
  if (fields === undefined)
    return defaultFields.map((mapping) => ({
      ...mapping,
      column: usualColumn(mapping, target?.type),
      direction,
    }));
  return Object.entries(fields).flatMap(([field, entry]): FieldMapping[] => {
    const written = typeof entry === 'string' ? { column: entry } : entry;
    if (written?.column === undefined) return [];
    const { column, type } = written;
    // checkTogether refuses directions that exclude each other.
    const own = effectiveDirection(direction, written.direction ?? 'two-way') ?? direction;
    return [{ field, column, type: fieldType(field, type), direction: own, ...offered(written.values) }];
  });
}

/** The words of the table, and what they mean in the service where that is told. */
function offered(
  written: readonly (string | undefined)[] | Readonly<Record<string, string | undefined>> | undefined,
): Pick<FieldMapping, 'values' | 'words'> {
  if (written === undefined) return {};
  const isList = Array.isArray(written);
  const words = Object.entries(written).filter((pair): pair is [string, string] => pair[1] !== undefined);
  const values = words.map(([row, lead]) => (isList ? lead : row));
  return isList ? { values } : { values, words };
}

export function fieldType(field: string, written: FieldType | undefined): FieldType {
  return written ?? leadFields[field]?.type ?? 'text';
}

/** The field's own direction, unless the connection's is narrower. Null when the two exclude each other, so that nothing could travel. */
export function effectiveDirection(connection: Direction, field: Direction): Direction | null {
  if (connection === 'two-way' || connection === field) return field;
  return field === 'two-way' ? connection : null;
}
