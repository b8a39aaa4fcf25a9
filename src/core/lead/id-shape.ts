import { idKey } from './lead-id.ts';
import { isUuid } from './uuid.ts';

/**
 * Whether cells can be ids of a service that shows `ids`: most look like them or are UUIDs and, where those are all, one of the
 * cells is one of them. Empty cells can.
 */
export function canBeIds(cells: readonly string[], ids: readonly string[], isAll: boolean): boolean {
  const known = new Set(ids.map(idKey));
  const shapes = new Set(ids.map(shapeOf));
  const filled = cells.filter((text) => text.trim() !== '');
  const alike = filled.filter((text) => isUuid(text) || shapes.has(shapeOf(text)));
  const isOne = (text: string): boolean => !isAll || isUuid(text) || known.has(idKey(text));
  return filled.length === 0 || (alike.length * 2 >= filled.length && alike.some(isOne));
}

/** Numbers of any length, letters of any length, and the signs between them. */
function shapeOf(id: string): string {
  return isUuid(id)
    ? 'uuid'
    : id
        .trim()
        .replaceAll(/\d+/g, '0')
        .replaceAll(/\p{L}+/gu, 'a');
}
