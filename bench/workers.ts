/**
 * Two nights of many connections, each with a Leads service of its own that limits its requests, by one worker and by
 * several: wall time, and whether every side is in step, no request came early, and nothing was done twice.
 *
 *     npx node bench/workers.ts [connections] [leads] [workers]
 *
 * The services and one Postgres run on the same machine; the jobs are on it, or in Redis when REDIS_URL is set (one that nobody else uses).
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parse } from 'csv-parse/sync';
import { stringify } from 'csv-stringify/sync';
import { pino } from 'pino';
import { syncQueue } from '../jobs/runs.ts';
import { openWorker } from '../src/worker/open-worker.ts';
import { loadConfig } from '../src/config/load.ts';
import { type Sandbox, startSandbox } from '../src/demo/sandbox.ts';
import { startEmbeddedPostgres } from '../src/postgres/embedded-postgres.ts';
import { getRun } from '../src/store/runs.ts';
import type { SyncReport } from '../src/sync/report.ts';

const bin = fileURLToPath(new URL('../bin/leadsync.js', import.meta.url));
// oxlint-disable-next-line node/no-process-env -- what the command is started with
const { PATH, REDIS_URL } = process.env;
const [connections = 20, leads = 5_000, most = 3] = process.argv.slice(2).map(Number);

/** What each service allows: a bucket of a second's requests. */
const perSecond = 10;

interface Side {
  readonly name: string;
  readonly service: Sandbox;
  readonly path: string;
}

print(`${connections} connections of ${leads} leads (csv), each service: ${perSecond} requests a second`);
print('');
print(
  '| workers | night | s | runs | waited in the queue for services, s | requests | 429 | early | in step | leads and rows twice |',
);
print('|---|---|---|---|---|---|---|---|---|---|');
for (const workers of [1, most]) await measure(workers);

async function measure(workers: number): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'leadsync-bench-'));
  await using stack = new AsyncDisposableStack();
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  const server = stack.adopt(await startEmbeddedPostgres(join(folder, 'postgres')), (one) => one.close());
  const sides: Side[] = [];
  for (let index = 0; index < connections; index++) {
    const rate = { perSecond, burst: perSecond };
    const service = stack.use(await startSandbox({ leads, seed: index + 1, rate }));
    sides.push({ name: `c${index}`, service, path: join(folder, `c${index}.csv`) });
  }
  writeFileSync(join(folder, 'leadsync.yaml'), JSON.stringify({ connections: configuration(sides) }));
  const env = {
    PATH,
    HOME: folder,
    DATABASE_URL: server.connectionString,
    DATA_DIR: join(folder, 'data'),
    PORT: '0',
    LOG_LEVEL: 'warn',
    ...(REDIS_URL !== undefined && { REDIS_URL }),
  };
  const config = await loadConfig({ env, cwd: folder });
  const app = stack.use(await openWorker(config, pino({ level: 'warn' }, pino.destination(2))));
  // What the worker does when it starts is not measured: it finds nothing to make up for.
  await app.pool.query(
    `insert into runs (connection, mode, base_url, settings_hash, allow, status, finished_at)
     select name, 'sync', '', '', '{}', 'stopped', now() from unnest($1::text[]) name`,
    [sides.map(({ name }) => name)],
  );
  const started = await Promise.all(
    Array.from({ length: workers }, () => startWorker(folder, { ...env, LOG_LEVEL: 'info' })),
  );
  stack.defer(async () => void (await Promise.all(started.map((worker) => stopWorker(worker)))));

  const night = async (name: string): Promise<void> => {
    const queues = await app.queues();
    const before = sides.map(({ service }) => service.stats);
    const from = performance.now();
    const jobs = await Promise.all(
      sides.map((side) => {
        const payload = { connection: side.name, allow: [], maxAttempts: 45 };
        return queues.queue(syncQueue).add('sync', payload);
      }),
    );
    const reports: SyncReport[] = [];
    for (const job of jobs) {
      const { runId } = (await job.finished(new AbortController().signal)) as { runId: number };
      const report = (await getRun(app.pool, runId))?.report as SyncReport;
      if (report.status !== 'succeeded') throw new Error(JSON.stringify(report));
      reports.push(report);
    }
    const seconds = (performance.now() - from) / 1000;
    const { rows } = await app.pool.query<{ count: number }>(
      `select count(*)::int as count from runs where status = 'succeeded'`,
    );
    const sum = (of: (side: Side, index: number) => number): number =>
      sides.reduce((total, side, index) => total + of(side, index), 0);
    const cells = [
      workers,
      name,
      seconds.toFixed(1),
      rows[0]?.count,
      (reports.reduce((total, { waitedMs }) => total + waitedMs, 0) / 1000).toFixed(0),
      sum(({ service }, index) => service.stats.requests - (before[index]?.requests ?? 0)),
      sum(({ service }, index) => service.stats.throttled - (before[index]?.throttled ?? 0)),
      sum(({ service }) => service.stats.early),
      `${sides.filter((side) => isInStep(side)).length} of ${sides.length}`,
      sum((side) => doubles(side)),
    ];
    print(`| ${cells.join(' | ')} |`);
  };
  await night('first sync');
  for (const side of sides) editBothSides(side);
  await night('1 % changed on each side, and a new row');
}

function configuration(sides: readonly Side[]): object {
  const entries = sides.map<[string, object]>(({ name, service, path }) => [
    name,
    {
      leads: { baseUrl: service.url, apiKey: service.apiKey },
      target: { type: 'workbook', path },
      sync: { schedule: '0 0 1 1 *' },
    },
  ]);
  return Object.fromEntries(entries);
}

async function startWorker(folder: string, env: NodeJS.ProcessEnv): Promise<ChildProcess> {
  const child = spawn(process.execPath, [bin, 'worker'], {
    cwd: folder,
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let log = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    if (log.includes('worker is ready')) return;
    log += text;
  });
  while (!log.includes('worker is ready')) {
    if (child.exitCode !== null) throw new Error(log);
    await sleep(20);
  }
  return child;
}

async function stopWorker(worker: ChildProcess): Promise<void> {
  const exit = once(worker, 'exit');
  worker.kill('SIGTERM');
  await exit;
}

function editBothSides({ service, path }: Side): void {
  const [headings = [], ...records] = grid(path);
  const city = headings.indexOf('City');
  for (let index = 0; index < records.length; index += 100) {
    const [id = ''] = records[index] ?? [];
    service.leads.edit(id, { city: `Town ${index}` });
    const record = records[index + 50];
    if (record !== undefined) record[city] = `Village ${index}`;
  }
  records.push(headings.map((heading) => (heading === 'Company' ? 'New row GmbH' : '')));
  writeFileSync(path, stringify([headings, ...records]));
}

function isInStep({ service, path }: Side): boolean {
  const [headings = [], ...records] = grid(path);
  const columns: Readonly<Record<string, string>> = { Company: 'companyName', City: 'city', Stage: 'stage' };
  const rows = new Map(records.map((record) => [record[headings.indexOf('Lead ID')] ?? '', record]));
  return (
    records.length === service.leads.size &&
    service.leads.list().every((lead) => {
      const row = rows.get(lead.id);
      return Object.entries(columns).every(
        ([heading, field]) => shown(row?.[headings.indexOf(heading)]) === (lead[field] ?? ''),
      );
    })
  );
}

/** Without the sign that keeps spreadsheet programs from running a text. */
function shown(cell = ''): string {
  return cell.replace(/^'(?=[=+\-@'])/, '');
}

function doubles({ service, path }: Side): number {
  const [headings = [], ...records] = grid(path);
  const ids = records.map((record) => record[headings.indexOf('Lead ID')]);
  const made = service.leads.list().filter(({ companyName }) => companyName === 'New row GmbH').length;
  return ids.length - new Set(ids).size + Math.max(0, made - 1);
}

function grid(path: string): string[][] {
  return parse(readFileSync(path, 'utf8'), { bom: true });
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
