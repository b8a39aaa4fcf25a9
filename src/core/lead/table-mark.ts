/**
 * What travels with the content of a table: who has written it last, and when. `generation` is the number of the run.
 * Where a mark is written but once, it has neither generation nor nonce.
 */
export interface TableMark {
  readonly keeper: string;
  readonly connection: string;
  readonly place?: string | undefined;
  readonly generation?: number | undefined;
  readonly nonce?: string | undefined;
}

/** Compact: programs show and keep 255 characters of a property of a file. */
export function markText(mark: TableMark): string {
  return JSON.stringify({ v: 1, ...mark });
}

/** Null for a text that is no mark of ours: whatever somebody has typed there is theirs. */
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
