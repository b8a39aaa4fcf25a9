import { Client } from 'undici';

/**
 * The floor of every scan: asks for all pages, one after the other, and parses them. With EDITS (a file of lines of an id
 * and a city) it then sends a PATCH for each of them, one after the other.
 */
// oxlint-disable-next-line node/no-process-env -- how it is told what to ask
const { LEADS_URL = '', LEADS_KEY = '', EDITS } = process.env;
const client = new Client(LEADS_URL);
const headers = { authorization: `Bearer ${LEADS_KEY}`, 'content-type': 'application/json' };
let cursor: string | null = null;
let leads = 0;
do {
  const query = new URLSearchParams({ limit: '100', ...(cursor !== null && { cursor }) });
  const { body } = await client.request({ method: 'GET', path: `/v1/leads?${query.toString()}`, headers });
  const page = (await body.json()) as { items: unknown[]; nextCursor: string | null };
  leads += page.items.length;
  cursor = page.nextCursor;
} while (cursor !== null);
if (EDITS !== undefined) {
  const { readFile } = await import('node:fs/promises');
  for (const line of (await readFile(EDITS, 'utf8')).trim().split('\n')) {
    const [id, city] = line.split('\t');
    const body = JSON.stringify({ city });
    const reply = await client.request({ method: 'PATCH', path: `/v1/leads/${id ?? ''}`, headers, body });
    if (reply.statusCode !== 200)
      throw new Error(`the service said ${reply.statusCode} to the PATCH of ${id ?? ''}`);
    await reply.body.json();
  }
}
await client.close();
process.stdout.write(JSON.stringify({ leads }));
