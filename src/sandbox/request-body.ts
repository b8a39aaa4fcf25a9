import type { IncomingMessage } from 'node:http';

const mostBytes = 1024 * 1024;

/** The body as text, or null when it is above 1 MB. Rejects when the client goes away. */
export async function readRequestBody(request: IncomingMessage): Promise<string | null> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request) {
    if (!(chunk instanceof Buffer)) continue;
    bytes += chunk.length;
    if (bytes <= mostBytes) chunks.push(chunk);
  }
  return bytes > mostBytes ? null : Buffer.concat(chunks).toString();
}
