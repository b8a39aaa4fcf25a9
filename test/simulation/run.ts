import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startEmbeddedPostgres } from '../../src/store/embedded-postgres.ts';
import { simulate, type Trouble, troubles, type Verdict } from './nights.ts';
import { SimDatabase } from './sim-database.ts';

const { values } = parseArgs({
  options: {
    /** In all. */
    nights: { type: 'string', default: '30' },
    seed: { type: 'string', default: '1' },
    /** Nights in one world. */
    each: { type: 'string', default: '3' },
    with: { type: 'string', default: troubles.join(',') },
    keepGoing: { type: 'boolean', default: false },
    trace: { type: 'string', default: '60' },
    digest: { type: 'boolean', default: false },
  },
});
const on = new Set(
  values.with.split(',').filter((name): name is Trouble => troubles.some((known) => known === name)),
);
const folder = await mkdtemp(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'leadsync-sim-'));
await chmod(folder, 0o755);
const server = await startEmbeddedPostgres(folder, { durable: false });
const started = performance.now();
let done = 0;
let failed = 0;
try {
  await using database = await SimDatabase.open(server.connectionString, `sim_${process.pid}`);
  for (let seed = Number(values.seed); done < Number(values.nights); seed++) {
    const began = performance.now();
    const verdict = await simulate(database, seed, Number(values.each), on);
    process.stderr.write(`${seed}:${Math.round(performance.now() - began)} `);
    if (values.digest) console.log(seed, verdict.digest);
    done += Number(values.each);
    if (verdict.faults.length === 0) continue;
    failed++;
    tell(verdict);
    if (!values.keepGoing) break;
  }
} finally {
  const seconds = (performance.now() - started) / 1000;
  console.log(`\n${done} nights in ${seconds.toFixed(1)} s, ${failed} seeds failed`);
  await server.close();
  await rm(folder, { recursive: true, force: true });
}
process.exitCode = failed > 0 ? 1 : 0;

function tell({ seed, faults, trace }: Verdict): void {
  console.log(
    `\nnpm run simulate -- --seed ${seed} --each ${values.each} --nights ${values.each} --with ${[...on].join(',')}`,
  );
  console.log(`  ${faults.slice(0, 8).join('\n  ')}`);
  console.log([...trace.slice(0, 1), ...trace.slice(1).slice(-Number(values.trace))].join('\n'));
}
