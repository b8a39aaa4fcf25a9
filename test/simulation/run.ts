import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Worker } from 'node:worker_threads';
import { startSocketPostgres } from '../support/test-postgres.ts';
import { formats } from './customs.ts';
import type { Job } from './job.ts';
import { tell, type Trouble, troubles, type Verdict } from './nights.ts';

const { values } = parseArgs({
  options: {
    /** In all. */
    nights: { type: 'string', default: '30' },
    /** Of the first world. */
    seed: { type: 'string', default: '1' },
    /** Nights in one world. */
    each: { type: 'string', default: '3' },
    with: { type: 'string', default: troubles.join(',') },
    /** Of all tables: csv, xlsx, google-sheets, hubspot, webdav or msgraph; else chance says. */
    format: { type: 'string' },
    /** Worlds at once. */
    jobs: { type: 'string', default: '1' },
    keepGoing: { type: 'boolean', default: false },
    /** Lines shown of the trace of a world that failed. */
    trace: { type: 'string', default: '60' },
    digest: { type: 'boolean', default: false },
    /** A Postgres to use; else one is started. */
    server: { type: 'string' },
  },
});
const on = values.with
  .split(',')
  .filter((name): name is Trouble => [...troubles, 'restless', 'quick'].some((known) => known === name));
const format = formats.find((name) => name === values.format);
if (values.format !== undefined && format === undefined) throw new Error(`no format ${values.format}`);
const each = Number(values.each);
const worlds = Math.ceil(Number(values.nights) / each);
const jobs = Math.min(Number(values.jobs), worlds);

const folder = await mkdtemp(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'leadsync-sim-'));
await chmod(folder, 0o755);
const started = performance.now();
let done = 0;
const failed: number[] = [];
const server =
  values.server === undefined
    ? await startSocketPostgres(folder)
    : { connectionString: values.server, close: () => Promise.resolve() };
try {
  const threads = Array.from({ length: jobs }, (_, index) => start(index));
  await Promise.all(threads.map((thread) => once(thread, 'exit')));

  function start(index: number): Worker {
    const workerData: Job = {
      server: server.connectionString,
      folder,
      name: `sim_${process.pid}_${index}`,
      first: Number(values.seed) + index,
      step: jobs,
      worlds: Math.ceil((worlds - index) / jobs),
      nights: each,
      on,
      format,
    };
    const thread = new Worker(new URL('./job.ts', import.meta.url), {
      workerData,
      resourceLimits: { maxYoungGenerationSizeMb: 64 },
    });
    thread.on('message', (verdict: Verdict) => {
      hear(verdict);
      if (verdict.faults.length > 0 && !values.keepGoing) for (const one of threads) void one.terminate();
    });
    return thread;
  }
} finally {
  const seconds = (performance.now() - started) / 1000;
  console.log(
    `${done} nights in ${seconds.toFixed(1)} s, ${failed.length} seeds failed ${failed.toSorted((a, b) => a - b).join(' ')}`,
  );
  await server.close();
  await rm(folder, { recursive: true, force: true });
}
process.exitCode = failed.length > 0 ? 1 : 0;

function hear(verdict: Verdict): void {
  done += each;
  if (values.digest) console.log(verdict.seed, verdict.digest);
  if (done % 300 === 0) process.stderr.write(`${done} `);
  if (verdict.faults.length === 0) return;
  failed.push(verdict.seed);
  console.log(tell(verdict, each, on, Number(values.trace), format));
}
