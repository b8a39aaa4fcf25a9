// quick look: one connection of N leads: first sync, nightly, 1%
import { mkdtemp, rm, writeFile, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { parse } from 'csv-parse/sync';
import { stringify } from 'csv-stringify/sync';
import { startEmbeddedPostgres } from '../../src/store/embedded-postgres.ts';
import { measure, Service, type Cost } from './measure.ts';
const [N = 100_000, latency = 0] = process.argv.slice(2).map(Number);
const bin = fileURLToPath(new URL('../../bin/leadsync.js', import.meta.url));
const folder = await mkdtemp(join(tmpdir(), 'bench-'));
console.log(folder);
await using stack = new AsyncDisposableStack();
if (!process.env['SLOW']) stack.defer(() => rm(folder, { recursive: true, force: true }));
const server = stack.adopt(await startEmbeddedPostgres(join(folder, 'pg')), (one) => one.close());
const service = stack.use(await Service.open(N));
await service.order({ latencyMs: latency });
const admin = new pg.Client({ connectionString: server.connectionString });
await admin.connect();
const { rows } = await admin.query(`select pg_backend_pid() as pid`);
const stat = await readFile(`/proc/${rows[0].pid}/stat`, 'utf8');
const postgresPid = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
if (process.env['SLOW'])
  await admin
    .query('alter system set log_min_duration_statement=200')
    .then(() => admin.query('select pg_reload_conf()'));
if (process.env['ASYNC']) await admin.query('alter role current_user set synchronous_commit=off');
await admin.end();
const table = join(folder, 'leads.csv');
const env = {
  PATH: process.env['PATH'],
  HOME: folder,
  DATABASE_URL: server.connectionString,
  DATA_DIR: join(folder, 'data'),
  LEADS_BASE_URL: service.url,
  LEADS_API_KEY: service.apiKey,
  LEADS_URL: service.url,
  LEADS_KEY: service.apiKey,
  TARGET: table,
  TABLE: join(folder, 'script.csv'),
  LOG_LEVEL: 'warn',
  ...(process.env['SHOW'] && { NODE_OPTIONS: process.env['SHOW'] }),
  ...(process.env['PROF'] && { NODE_OPTIONS: `--cpu-prof --cpu-prof-dir=${process.env['PROF']}` }),
};
const show = (name: string, c: Cost) =>
  console.log(
    name.padEnd(22),
    (c.wallMs / 1000).toFixed(2) + ' s wall',
    (c.cpuMs / 1000).toFixed(2) + ' s cpu',
    (c.databaseCpuMs / 1000).toFixed(2) + ' s db',
    c.peakMb.toFixed(0) + ' MB',
  );
const at = { cwd: folder, env, postgresPid };
const here = (n: string) => fileURLToPath(new URL(n, import.meta.url));
show('bare loop', await measure([here('bare-loop.ts')], at));
show('script first', await measure([here('script.ts')], at));
show('script again', await measure([here('script.ts')], at));
const sync = async (name: string) => {
  const before = await service.order({ tell: 'stats' });
  const c = await measure([bin, 'sync', '--json'], at);
  show(name, c);
  const r = JSON.parse(c.stdout);
  const after = await service.order({ tell: 'stats' });
  console.log(
    '   ',
    r.status,
    JSON.stringify({
      pulled: r.pulled,
      created: r.created,
      updated: r.updated,
      ms: r.durationMs,
      requests: after.requests - before.requests,
    }),
  );
};
await sync('first');
await sync('nightly');
await service.order({ edit: 'Town' });
const grid = parse(await readFile(table)) as string[][];
const city = grid[0]!.indexOf('City');
for (let i = 51; i < grid.length; i += 100) grid[i]![city] = `Village ${i}`;
await writeFile(table, stringify(grid));
if (!process.env['SKIP1']) await sync('one percent');
