import type pg from 'pg';
import QueryStream from 'pg-query-stream';

const batchSize = 500;

/** What we use of the cursor within pg-query-stream. */
interface Cursor<Row> {
  /** None: there are no more. */
  read(count: number): Promise<readonly Row[]>;
}

/**
 * The rows of a query, some at a time, over a connection of its own. Throws when that breaks: read as a stream it would wait
 * for ever then, for a server that is gone to be ready.
 */
export async function* streamRows<Row>(
  pool: pg.Pool,
  text: string,
  values: readonly unknown[],
): AsyncGenerator<Row, void> {
  const client = await pool.connect();
  let isComplete = false;
  try {
    const { cursor } = client.query(new QueryStream(text, [...values])) as { readonly cursor: Cursor<Row> };
    for (;;) {
      const rows = await cursor.read(batchSize);
      if (rows.length === 0) break;
      yield* rows;
    }
    isComplete = true;
  } finally {
    // Not closed: that, too, would wait for a server that is gone. The connection ends, and the query with it.
    client.release(!isComplete);
  }
}
