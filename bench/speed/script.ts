// What a developer would write instead: all pages, the table and the difference in memory, nothing durable.
// Values of the service win; nothing that is typed into the table survives, and a crash leaves half a file.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { parse } from 'csv-parse/sync';
import { stringify } from 'csv-stringify/sync';
import { Client } from 'undici';

// oxlint-disable-next-line node/no-process-env -- how it is told what to ask
const { LEADS_URL = '', LEADS_KEY = '', TABLE = '' } = process.env;
const columns = {
  'Lead ID': 'id',
  Company: 'companyName',
  Segment: 'segment',
  City: 'city',
  Region: 'region',
  Stage: 'stage',
  'Next follow-up': 'nextFollowUpAt',
};
type Lead = Record<string, string | null>;

const client = new Client(LEADS_URL);
const leads: Lead[] = [];
let cursor: string | null = null;
do {
  const query = new URLSearchParams({ limit: '100', ...(cursor !== null && { cursor }) });
  const reply = await client.request({
    method: 'GET',
    path: `/v1/leads?${query.toString()}`,
    headers: { authorization: `Bearer ${LEADS_KEY}` },
  });
  if (reply.statusCode !== 200) throw new Error(`the service said ${reply.statusCode}`);
  const page = (await reply.body.json()) as { items: Lead[]; nextCursor: string | null };
  leads.push(...page.items);
  cursor = page.nextCursor;
} while (cursor !== null);
await client.close();

const rows = existsSync(TABLE)
  ? parse<Record<string, string>>(readFileSync(TABLE), { columns: true, bom: true })
  : [];
const known = new Map(rows.map((row) => [row['Lead ID'], row]));
let changed = 0;
for (const lead of leads) {
  const wanted = Object.fromEntries(
    Object.entries(columns).map(([column, field]) => [column, lead[field] ?? '']),
  );
  const row = known.get(lead['id'] ?? '');
  if (row === undefined) {
    rows.push(wanted);
    changed += 1;
  } else if (Object.keys(columns).some((column) => row[column] !== wanted[column])) {
    Object.assign(row, wanted);
    changed += 1;
  }
}
if (changed > 0) writeFileSync(TABLE, stringify(rows, { header: true, columns: Object.keys(columns) }));
process.stdout.write(JSON.stringify({ leads: leads.length, changed }));
