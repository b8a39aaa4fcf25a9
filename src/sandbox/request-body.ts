import type { IncomingMessage } from 'node:http';

export interface RequestBody {
  /** null: larger than what is read. */
  readonly text: string | null;
  readonly bytes: number;
}

/** The body of a request, cut off at `mostBytes`. Rejects when the client goes away. */
export async function readRequestBody(
  request: IncomingMessage,
  mostBytes = 1024 * 1024,
): Promise<RequestBody> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request) {
    if (!(chunk instanceof Buffer)) continue;
    bytes += chunk.length;
    if (bytes <= mostBytes) chunks.push(chunk);
  }
  return { text: bytes > mostBytes ? null : Buffer.concat(chunks).toString(), bytes };
}
