import { Client } from 'undici';

/**
 * The floor of every scan: asks for all pages, one after the other, and parses them. With IDS (a file) it then sends a
 * PATCH for each id in it, one after the other.
 */
// oxlint-disable-next-line node/no-process-env -- how it is told what to ask
const { LEADS_URL = '', LEADS_KEY = '', IDS } = process.env;
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
if (IDS !== undefined) {
  const { readFile } = await import('node:fs/promises');
  for (const id of (await readFile(IDS, 'utf8')).trim().split('\n')) {
    const body = JSON.stringify({ city: `Patch ${id}` });
    const reply = await client.request({ method: 'PATCH', path: `/v1/leads/${id}`, headers, body });
    if (reply.statusCode !== 200)
      throw new Error(`the service said ${reply.statusCode} to the PATCH of ${id}`);
    await reply.body.json();
  }
}
await client.close();
process.stdout.write(JSON.stringify({ leads }));
