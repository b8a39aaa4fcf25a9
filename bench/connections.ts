/**
 * What many connections cost at rest: commands of Redis, transactions and sessions of Postgres, CPU of worker and Postgres,
 * the series of /metrics, and the time of the status page.
 *
 *     npx node bench/connections.ts [connections] [seconds]
 *
 * Each has a CSV file and mails; one sandbox service for all; jobs in Redis when REDIS_URL is set (a server that nobody else uses).
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Redis } from 'ioredis';
import pg from 'pg';
import { startEmbeddedPostgres } from '../src/postgres/embedded-postgres.ts';
import { startSandbox } from '../src/demo/sandbox.ts';

const bin = fileURLToPath(new URL('../bin/leadsync.js', import.meta.url));
// oxlint-disable-next-line node/no-process-env -- what the command is started with
const { PATH, REDIS_URL } = process.env;
const [connections = 200, seconds = 60] = process.argv.slice(2).map(Number);

const folder = await mkdtemp(join(tmpdir(), 'leadsync-bench-'));
await using stack = new AsyncDisposableStack();
stack.defer(() => rm(folder, { recursive: true, force: true }));
const server = stack.adopt(await startEmbeddedPostgres(join(folder, 'postgres')), (one) => one.close());
const service = stack.use(await startSandbox({ leads: 20, seed: 1 }));
const entries = Array.from({ length: connections }, (_, index): [string, object] => [
  `c${index}`,
  {
    leads: { baseUrl: service.url, apiKey: service.apiKey },
    target: { type: 'workbook', path: join(folder, `c${index}.csv`) },
    sync: { schedule: '0 0 1 1 *' },
    reminders: { from: 'leadsync@example.com', to: ['anna@example.com'], skipStages: [], before: ['0m'] },
  },
]);
writeFileSync(join(folder, 'leadsync.yaml'), JSON.stringify({ connections: Object.fromEntries(entries) }));
const pool = stack.adopt(new pg.Pool({ connectionString: server.connectionString, max: 1 }), (one) =>
  one.end(),
);
const redis = REDIS_URL === undefined ? null : stack.adopt(new Redis(REDIS_URL), (one) => one.disconnect());
const worker = spawn(process.execPath, [bin, 'worker'], {
  cwd: folder,
  env: {
    PATH,
    HOME: folder,
    DATABASE_URL: server.connectionString,
    DATA_DIR: join(folder, 'data'),
    PORT: '0',
    LOG_LEVEL: 'info',
    ...(REDIS_URL !== undefined && { REDIS_URL }),
  },
  stdio: ['ignore', 'ignore', 'pipe'],
});
stack.defer(() => stop(worker));
const url = await ready(worker);
await until(
  async () =>
    (await count(`select count(distinct connection) from runs where status = 'succeeded'`)) >= connections,
);
// What starts with the worker ends: housekeeping, the first look.
await sleep(20_000);

const before = await figures();
await sleep(seconds * 1000);
const after = await figures();
const per = (of: keyof typeof before): string => ((after[of] - before[of]) / seconds).toFixed(1);
const { text } = await timed('metrics');
const series = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
const own = series.filter((line) => /"(?:[a-z]+-)?c7"/.test(line));
const times: number[] = [];
for (let nth = 0; nth < 5; nth++) times.push((await timed('')).ms);
const scrape = await timed('metrics');
process.stdout.write(`| connections | jobs in | Redis commands/s | transactions/s | sessions | worker CPU, ms/s | Postgres CPU, ms/s | series | of one connection | \`/\`, ms: median, longest of 5 | \`/metrics\`, ms |
|---|---|---|---|---|---|---|---|---|---|---|
| ${[
  connections,
  redis === null ? 'Postgres' : 'Redis',
  redis === null ? '–' : per('commands'),
  per('transactions'),
  after.sessions,
  per('workerMs'),
  per('postgresMs'),
  series.length,
  own.length,
  `${times.toSorted((a, b) => a - b)[2]}, ${Math.max(...times)}`,
  scrape.ms,
].join(' | ')} |\n`);
process.stderr.write(`${own.join('\n')}\n`);

async function figures() {
  const info = (await redis?.info('commandstats')) ?? '';
  const calls = [...info.matchAll(/^cmdstat_(?!info)[^:]+:calls=(\d+)/gm)].map(([, calls]) => Number(calls));
  return {
    // Those of scripts included, as Redis counts them.
    commands: calls.reduce((sum, one) => sum + one, 0),
    transactions: await count(`select sum(xact_commit + xact_rollback) from pg_stat_database`),
    sessions: await count(`select count(*) from pg_stat_activity where application_name like 'leadsync%'`),
    workerMs: cpuMs([String(worker.pid)]),
    postgresMs: cpuMs(postgresPids()),
  };
}

async function count(query: string): Promise<number> {
  const { rows } = await pool.query<Record<string, string>>(query);
  return Number(Object.values(rows[0] ?? {})[0]);
}

/** Those of its children that have ended included. */
function cpuMs(pids: readonly string[]): number {
  let ticks = 0;
  for (const pid of pids) {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
    ticks += [11, 12, 13, 14].reduce((sum, field) => sum + Number(fields[field]), 0);
  }
  return ticks * 10;
}

/** The server under our folder, and its processes. */
function postgresPids(): readonly string[] {
  const lines = execFileSync('ps', ['-eo', 'pid=,ppid=,args='], { encoding: 'utf8' }).split('\n');
  const all = lines.map((line) => line.trim().split(/\s+/));
  const main = all.find((words) => words.includes(join(folder, 'postgres', 'postgres', 'data')))?.[0];
  return all.flatMap(([pid = '', parent]) => (pid === main || (parent === main && pid !== '') ? [pid] : []));
}

async function timed(path: string): Promise<{ readonly ms: number; readonly text: string }> {
  const from = performance.now();
  const reply = await fetch(new URL(path, url));
  const text = await reply.text();
  if (!reply.ok) throw new Error(text);
  return { ms: Math.round(performance.now() - from), text };
}

async function ready(process: ChildProcess): Promise<string> {
  for await (const line of createInterface({ input: process.stderr ?? ([] as never) })) {
    if (!line.includes('worker is ready')) continue;
    process.stderr?.resume();
    return (JSON.parse(line) as { url: string }).url;
  }
  throw new Error('the worker ended');
}

async function until(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) await sleep(500);
}

async function stop(process: ChildProcess): Promise<void> {
  const exit = once(process, 'exit');
  process.kill('SIGTERM');
  await exit;
}
