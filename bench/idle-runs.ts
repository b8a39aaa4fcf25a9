/**
 * A run of each kind of table in which nothing has moved: that reads the table, and that does not; requests to the table, bytes to and
 * from it, CPU of leadsync's thread, and time.
 *
 *     npx node bench/idle-runs.ts [rows]
 *
 * Service, stand-ins and what counts the bytes are in a thread of their own, Postgres is a process of its own.
 */
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, connect, createServer } from 'node:net';
import { statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline, Transform } from 'node:stream';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { pino } from 'pino';
import { loadConfig } from '../src/config/load.ts';
import { Secret } from '../src/config/secret.ts';
import { startSandbox } from '../src/demo/sandbox.ts';
import { openWorker } from '../src/worker/open-worker.ts';
import type { Run } from '../src/store/runs.ts';
import { advanceRun, type RunRequest } from '../src/sync/run.ts';
import { openGoogleAccount } from '../src/targets/google-sheets/google-account.ts';
import { createGoogleSheetsTarget } from '../src/targets/google-sheets/google-sheets-target.ts';
import { createHubSpotTarget } from '../src/targets/hubspot/hubspot-target.ts';
import { startDavServer } from '../test/support/dav-server.ts';
import { MemoryJournal } from '../test/support/memory-journal.ts';
import { startTestPostgres } from '../test/support/test-postgres.ts';
import { startHubSpotSandbox } from '../test/stand-ins/hubspot/hubspot-sandbox.ts';
import { startSheetsSandbox } from '../test/stand-ins/google-sheets/sheets-sandbox.ts';

interface Servers {
  readonly service: { readonly url: string; readonly apiKey: string };
  readonly sheets: { readonly url: string; readonly id: string; readonly keyFile: string };
  readonly hubspot: { readonly url: string; readonly token: string };
  readonly dav: string;
  readonly postgres: string;
}

/** Carries everything on to a server, and counts it. */
async function counting(to: string, bytes: BigUint64Array): Promise<string> {
  const url = new URL(to);
  const port = Number(url.port);
  const host = url.hostname;
  const counted = (): Transform =>
    new Transform({
      transform(chunk: Buffer, _encoding, done) {
        Atomics.add(bytes, 0, BigInt(chunk.length));
        done(null, chunk);
      },
    });
  const relay = createServer((near) => {
    const far = connect(port, host);
    pipeline(near, counted(), far, () => {});
    pipeline(far, counted(), near, () => {});
  });
  relay.listen(0, '127.0.0.1');
  await once(relay, 'listening');
  url.hostname = '127.0.0.1';
  url.port = String((relay.address() as AddressInfo).port);
  return url.href;
}

async function serve({ rows, folder, bytes, postgres }: Serving): Promise<void> {
  const { url, apiKey } = await startSandbox({ leads: rows, maxLimit: 1_000 });
  const sheets = await startSheetsSandbox({ timeZone: 'Europe/Berlin', quotas: null });
  const portal = await startHubSpotSandbox({ limits: null, searchLagMs: 0 });
  const dav = await startDavServer(folder);
  const servers: Servers = {
    service: { url, apiKey },
    sheets: { url: await counting(sheets.url, bytes), id: sheets.spreadsheetId, keyFile: sheets.keyFile() },
    hubspot: { url: (await counting(portal.url, bytes)).replace(/\/$/, ''), token: portal.token },
    // Knows itself by this address alone.
    dav: dav.origin,
    postgres: await counting(postgres, bytes),
  };
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has none
  parentPort?.postMessage(servers);
}

interface Serving {
  readonly rows: number;
  readonly folder: string;
  readonly bytes: BigUint64Array;
  readonly postgres: string;
}

async function measure(): Promise<void> {
  const rows = Number(process.argv[2] ?? 10_000);
  const folder = await mkdtemp(join(tmpdir(), 'leadsync-bench-'));
  const bytes = new BigUint64Array(new SharedArrayBuffer(8));
  const postgres = await startTestPostgres(folder);
  const data: Serving = { rows, folder, bytes, postgres: postgres.connectionString };
  const worker = new Worker(new URL(import.meta.url), { workerData: data });
  const [servers] = (await once(worker, 'message')) as [Servers];
  print(`${rows} rows\n\n| table | run | requests | bytes | CPU, ms | ms |\n|---|---|---|---|---|---|`);
  const kinds: Readonly<Record<string, object>> = {
    CSV: { type: 'workbook', path: join(folder, 'leads.csv') },
    xlsx: { type: 'workbook', path: join(folder, 'leads.xlsx') },
    'CSV on WebDAV': { type: 'workbook', path: `${servers.dav}/served.csv` },
    PostgreSQL: { type: 'postgres-table', url: servers.postgres, table: 'leads' },
    'Google Sheets': { type: 'google-sheets', spreadsheet: servers.sheets.id, tab: 'Leads' },
    HubSpot: { type: 'hubspot', token: servers.hubspot.token },
  };
  try {
    for (const [name, target] of Object.entries(kinds))
      await measureKind(name, target, { folder, servers, bytes, state: postgres.connectionString });
  } finally {
    await worker.terminate();
    await postgres.close();
    await rm(folder, { recursive: true, force: true });
  }
}

interface Around {
  readonly folder: string;
  readonly servers: Servers;
  readonly bytes: BigUint64Array;
  readonly state: string;
}

async function measureKind(name: string, target: object, around: Around): Promise<void> {
  const { folder, servers, bytes, state } = around;
  const id = name.toLowerCase().replaceAll(' ', '-');
  const keyPath = join(folder, 'key.json');
  await writeFile(keyPath, servers.sheets.keyFile);
  const leads = { baseUrl: servers.service.url, apiKey: servers.service.apiKey };
  await writeFile(
    join(folder, 'leadsync.yaml'),
    JSON.stringify({ connections: { [id]: { leads, target } } }),
  );
  const env = {
    DATABASE_URL: state,
    DATA_DIR: join(folder, 'data'),
    GOOGLE_SHEETS_URL: servers.sheets.url,
    GOOGLE_APPLICATION_CREDENTIALS: keyPath,
    HUBSPOT_URL: servers.hubspot.url,
  };
  await using app = await openWorker(await loadConfig({ env, cwd: folder }), pino({ level: 'silent' }));
  const context = app.contexts.get(id);
  if (context === undefined) throw new Error('the connection is not configured');
  const { connection } = context;
  // Ahead of the stand-ins, so that their last change has settled.
  const clock = { now: () => Date.now() + 900_000, random: Math.random };
  const { fields, target: settings } = connection;
  const own =
    settings.type === 'google-sheets'
      ? createGoogleSheetsTarget({
          ...settings,
          fields,
          apiUrl: servers.sheets.url,
          account: openGoogleAccount(keyPath),
          clock,
          connection: id,
          journal: new MemoryJournal(),
          perMinute: { read: 1e6, write: 1e6 },
        })
      : settings.type === 'hubspot'
        ? createHubSpotTarget({
            ...settings,
            fields,
            apiUrl: servers.hubspot.url,
            accessToken: new Secret(servers.hubspot.token),
            clock,
          })
        : context.target;
  const run = async (): Promise<Run> => {
    const request: RunRequest = { mode: 'sync', allow: ['first-leads'], maxAttempts: 2, isUnattended: true };
    for (;;) {
      const result = await advanceRun({ ...context, target: own }, request, new AbortController().signal);
      if (result.kind === 'finished') return result.run;
    }
  };
  const served = join(folder, 'served.csv');
  const file = 'path' in settings ? (settings.path.startsWith('http') ? served : settings.path) : null;
  const measured = async (what: string): Promise<void> => {
    const [cpu, sent, from] = [process.threadCpuUsage(), Atomics.load(bytes, 0), performance.now()];
    const { status, tableReadAt, targetRequests, report } = await run();
    if (status !== 'succeeded' || (tableReadAt === null) !== (what === 'reads'))
      throw new Error(`${name}, ${what}: ${tableReadAt} ${JSON.stringify(report).slice(0, 600)}`);
    const ms = performance.now() - from;
    const { user, system } = process.threadCpuUsage(cpu);
    // Of a file on this disk both read all of it.
    const size = file === null || (file === served && what !== 'reads') ? null : statSync(file).size;
    const passed = file === served && size === null ? 0 : (size ?? Number(Atomics.load(bytes, 0) - sent));
    const numbers = [targetRequests, passed, Math.round((user + system) / 1_000), Math.round(ms)];
    print(`| ${name} | ${what} | ${numbers.map((one) => one.toLocaleString('en')).join(' | ')} |`);
  };
  for (let count = 0; count < 3; count++) await run();
  await app.pool.query('update place_notes set read_tag = null');
  await measured('reads');
  await measured('does not');
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

if (isMainThread) await measure();
else await serve(workerData as Serving);
