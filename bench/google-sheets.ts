/**
 * Nights of a Google spreadsheet with 100,000 rows on the local stand-in with Google's quotas: requests beside the fewest
 * possible, those over quota, time and peak memory of `leadsync sync`.
 *
 *     npx node bench/google-sheets.ts [rows]
 *
 * The command runs in a process of its own with a Postgres of its own; the stand-in and the Leads service run in this one.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type SheetsSandbox, startSheetsSandbox } from '../test/stand-ins/google-sheets/sheets-sandbox.ts';
import { type Sandbox, startSandbox } from '../src/demo/sandbox.ts';
import { measureSync } from './measure-sync.ts';

const tab = 'Leads';
/** What Google recommends for one request (Sheets API, usage limits). */
const mostBytes = 2_000_000;
/** The tab and its columns; the cells; and, since some made-up names begin with `=`, which of those are formulas. */
const readsPerLook = 3;

const rows = Number(process.argv[2] ?? 100_000);
const folder = await mkdtemp(join(tmpdir(), 'leadsync-bench-'));
try {
  await using service = await startSandbox({ leads: rows });
  await using sheets = await startSheetsSandbox({ timeZone: 'Europe/Berlin' });
  const keyPath = join(folder, 'key.json');
  await writeFile(keyPath, sheets.keyFile());
  const env = {
    PATH: process.env['PATH'],
    HOME: folder,
    LEADS_BASE_URL: service.url,
    LEADS_API_KEY: service.apiKey,
    TARGET: `google-sheets:${sheets.spreadsheetId}/${tab}`,
    GOOGLE_SHEETS_URL: sheets.url,
    GOOGLE_APPLICATION_CREDENTIALS: keyPath,
    DATA_DIR: join(folder, 'data'),
    LOG_LEVEL: 'warn',
  };
  print(
    '| night | reads | fewest | writes | fewest | MB written | over quota | s | waited s | peak memory, MB |',
  );
  print('|---|---|---|---|---|---|---|---|---|---|');
  // To find that there is no such tab takes two, too.
  await night('first sync', sheets, env, 2 + readsPerLook);
  await night('nothing changed', sheets, env, readsPerLook);
  editBothSides(service, sheets);
  await night('1 % changed on each side', sheets, env, 2 * readsPerLook);
  await night('nothing changed', sheets, env, readsPerLook);
} finally {
  await rm(folder, { recursive: true, force: true });
}

/** `fewest`: reads with one look before anything is written, and one at the end that shows it. */
async function night(
  name: string,
  sheets: SheetsSandbox,
  env: NodeJS.ProcessEnv,
  fewest: number,
): Promise<void> {
  const from = sheets.requests.length;
  const { report, seconds, peak } = await measureSync(folder, env);
  if (report.status !== 'succeeded') throw new Error(`${name}: ${JSON.stringify(report)}`);
  const sent = sheets.requests.slice(from);
  const reads = sent.filter(({ kind }) => kind === 'read').length;
  const writes = sent.filter(({ kind }) => kind === 'write');
  const bytes = writes.reduce((sum, request) => sum + request.bytes, 0);
  const over = sent.filter(({ status }) => status === 429).length;
  const cells = [
    name,
    reads,
    fewest,
    writes.length,
    Math.ceil(bytes / mostBytes),
    (bytes / 1e6).toFixed(1),
    over,
    seconds.toFixed(1),
    (report.waitedMs / 1000).toFixed(1),
    Math.round(peak / 1024),
  ];
  print(`| ${cells.join(' | ')} |`);
}

/** A hundredth of the leads in the service, another hundredth in the sheet. */
function editBothSides(service: Sandbox, { person }: SheetsSandbox): void {
  const grid = person.grid(tab) ?? [];
  const city = (grid[0] ?? []).indexOf('City');
  for (let row = 1; row < grid.length; row += 100) {
    const [leadId = ''] = grid[row] ?? [];
    if (service.leads.edit(leadId, { city: `Town ${row}` }) === undefined)
      throw new Error(`no lead ${leadId}`);
    if (row + 50 < grid.length) person.type(tab, row + 50, city, `Village ${row}`);
  }
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
