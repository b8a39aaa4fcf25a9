import type pg from 'pg';
import QueryStream from 'pg-query-stream';

const batchSize = 500;

/** What we use of the cursor within pg-query-stream. */
interface Cursor<Row> {
  /** None: there are no more. */
  read(count: number): Promise<readonly Row[]>;
  close(): Promise<void>;
}

/**
 * The rows of a query, some at a time; nothing else can be asked of the connection meanwhile. Throws when the connection
 * breaks: read as a stream it would wait for ever then, for a server that is gone to be ready.
 */
export async function* streamRows<Row>(
  db: pg.PoolClient,
  text: string,
  values: readonly unknown[],
): AsyncGenerator<Row, void> {
  const { cursor } = db.query(new QueryStream(text, [...values])) as { readonly cursor: Cursor<Row> };
  let isOver = false;
  const read = async (): Promise<readonly Row[]> => {
    try {
      return await cursor.read(batchSize);
    } catch (error) {
      isOver = true;
      throw error;
    }
  };
  try {
    for (let rows = await read(); rows.length > 0; rows = await read()) yield* rows;
    isOver = true;
  } finally {
    if (!isOver) await cursor.close();
  }
}
