// What matching finds in two made-up lists, and what it costs: `node bench/matching.ts [SIZE…]`, printed as a table.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'csv-stringify/sync';
import type { PlanOutput } from '../src/cli/plan-output.ts';
import { startSandbox } from '../src/demo/sandbox.ts';
import { judgeMatches, twoLists } from '../test/support/two-lists.ts';
import { measureCommand } from './measure-sync.ts';

const seed = 20_261_122;
const sizes = process.argv.slice(2).map(Number);
const lines: string[] = [];
for (const size of sizes.length === 0 ? [2_000, 20_000] : sizes)
  for (const match of ['off', 'exact'] as const) lines.push(await measure(size, match));

const head = [
  'records a side | match | linked right | linked wrong | proposed right | proposed wrong | precision | recall: linked or proposed | or listed | s | peak, MB',
  '---|---|---|---|---|---|---|---|---|---|---',
];
process.stdout.write([...head, ...lines].map((line) => `| ${line.replaceAll('|', ' | ')} |\n`).join(''));

/** One plan of a first sync, from the start of the command to its end. */
async function measure(size: number, match: 'off' | 'exact'): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'leadsync-matching-'));
  await using sandbox = await startSandbox({ leads: 0 });
  try {
    const { leads, rows } = twoLists(size, seed);
    const ofLead = new Map(leads.map(({ company, ...lead }) => [sandbox.leads.add(lead).id, company]));
    const table = [['Lead ID', 'Company', 'City'], ...rows.map((row) => ['', row.companyName, row.city])];
    await writeFile(join(folder, 'leads.csv'), stringify(table));
    const main = {
      leads: { baseUrl: sandbox.url, apiKey: sandbox.apiKey, pageSize: 1_000 },
      target: { type: 'workbook', path: './leads.csv' },
      fields: { companyName: 'Company', city: 'City' },
      sync: { match },
    };
    await writeFile(join(folder, 'leadsync.yaml'), JSON.stringify({ connections: { main } }));
    // oxlint-disable-next-line node/no-process-env -- for the command, which finds its Postgres by it
    const path = process.env['PATH'];
    const env = { PATH: path, HOME: folder, DATA_DIR: join(folder, 'data'), PORT: '0' };
    const { stdout, seconds, peak } = await measureCommand('plan', folder, env);
    const { actions } = JSON.parse(stdout) as PlanOutput;
    const judged = judgeMatches(actions, ofLead, new Map(rows.map(({ company }, nth) => [nth + 2, company])));
    const { linked, proposed, companies } = judged;
    const share = (part: number, whole: number): string =>
      whole === 0 ? '' : `${((100 * part) / whole).toFixed(1)} %`;
    const right = linked.right + proposed.right;
    return [
      size,
      match,
      linked.right,
      linked.wrong,
      proposed.right,
      proposed.wrong,
      share(right, right + linked.wrong + proposed.wrong),
      share(companies.found, companies.inBoth),
      share(companies.listed, companies.inBoth),
      seconds.toFixed(1),
      Math.round(peak / 1024),
    ].join('|');
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
