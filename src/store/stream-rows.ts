import type { Socket } from 'node:net';
import pg from 'pg';

/**
 * The rows of a query as they come, over a connection of its own. What was received and is not used yet is one chunk of the socket, and
 * the row that it ends in: the server waits meanwhile. Throws when the connection breaks.
 */
export async function* streamRows<Row extends object>(
  pool: pg.Pool,
  text: string,
  values: readonly unknown[],
): AsyncGenerator<Row, void> {
  const client = await pool.connect();
  const { stream } = (client as unknown as { readonly connection: { readonly stream: Socket } }).connection;
  const now = {
    ready: [] as Row[],
    end: null as null | { readonly error?: Error },
    change: Promise.withResolvers<void>(),
  };
  const end = (error?: Error): void => {
    now.end ??= error === undefined ? {} : { error };
    now.change.resolve();
  };
  try {
    client
      .query(new pg.Query<Row>(text, [...values]))
      .on('row', (row) => {
        if (now.ready.push(row) > 1) return;
        stream.pause();
        now.change.resolve();
      })
      .on('end', () => end())
      .on('error', end);
    for (;;) {
      if (now.ready.length === 0 && now.end === null) await now.change.promise;
      const { ready } = now;
      if (ready.length === 0) break;
      now.ready = [];
      now.change = Promise.withResolvers();
      yield* ready;
      stream.resume();
    }
    if (now.end?.error !== undefined) throw now.end.error;
  } finally {
    stream.resume();
    // Not ended: that would wait for a server that is gone. The connection ends, and the query with it.
    client.release(now.end === null || now.end.error !== undefined);
  }
}
