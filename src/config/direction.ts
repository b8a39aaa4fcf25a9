import type { Direction } from '../core/lead/mapping.ts';

/**
 * The way a field's edits travel: its own direction, unless the connection's is narrower. Null when the two exclude
 * each other, so that nothing could travel.
 */
export function effectiveDirection(connection: Direction, field: Direction): Direction | null {
  if (connection === 'two-way' || connection === field) return field;
  return field === 'two-way' ? connection : null;
}
