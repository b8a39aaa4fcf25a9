/**
 * Travels with a table's content: who wrote it last, and when. `generation` is the run's number; a mark that is written
 * only once has neither generation nor nonce.
 */
export interface TableMark {
  readonly keeper: string;
  readonly connection: string;
  readonly place?: string | undefined;
  readonly generation?: number | undefined;
  readonly nonce?: string | undefined;
}

/** Compact: programs keep only 255 characters of a file property. */
export function markText(mark: TableMark): string {
  return JSON.stringify({ v: 1, ...mark });
}

/** Null for a text that is not one of our marks. */
export function readMark(text: string | null): TableMark | null {
  const found = text === null || text === '' ? null : parsed(text);
  if (typeof found !== 'object' || found === null) return null;
  const { v, keeper, connection, place, generation, nonce } = found as Partial<Record<string, unknown>>;
  if (v !== 1 || typeof keeper !== 'string' || typeof connection !== 'string') return null;
  return {
    keeper,
    connection,
    ...(typeof place === 'string' && { place }),
    ...(typeof generation === 'number' && { generation }),
    ...(typeof nonce === 'string' && { nonce }),
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}
