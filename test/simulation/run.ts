import { mkdtemp, rm, chmod } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startEmbeddedPostgres } from '../../src/store/embedded-postgres.ts';
import { simulate, type Trouble, troubles } from './nights.ts';

const { values } = parseArgs({
  options: {
    nights: { type: 'string', default: '30' },
    seed: { type: 'string', default: '1' },
    each: { type: 'string', default: '3' },
    with: { type: 'string', default: troubles.join(',') },
    seconds: { type: 'string', default: '3600' },
    keepGoing: { type: 'boolean', default: false },
    trace: { type: 'string', default: '60' },
  },
});
const on = new Set(
  values.with.split(',').filter((name): name is Trouble => troubles.some((known) => known === name)),
);
const folder = await mkdtemp(join(tmpdir(), 'leadsync-sim-'));
await chmod(folder, 0o755);
const server = await startEmbeddedPostgres(folder, { durable: false });
let done = 0;
let failed = 0;
let heldRows = 0;
try {
  for (
    let seed = Number(values.seed);
    done < Number(values.nights) && performance.now() < Number(values.seconds) * 1000;
    seed++
  ) {
    const started = Date.now();
    const verdict = await simulate(server.connectionString, seed, Number(values.each), on);
    process.stderr.write(`${seed}:${Date.now() - started}ms `);
    done += Math.max(1, verdict.nights);
    heldRows += verdict.heldRows;
    if (verdict.faults.length === 0) continue;
    failed++;
    console.log(
      `\nSEED ${seed} failed (${Date.now() - started} ms):\n  ${verdict.faults.slice(0, 8).join('\n  ')}`,
    );
    console.log(
      verdict.trace
        .slice(0, 1)
        .concat(verdict.trace.slice(-Number(values.trace)))
        .join('\n'),
    );
    if (!values.keepGoing) break;
  }
} finally {
  console.log(`${done} nights, ${failed} seeds failed, ${heldRows} rows held`);
  await server.close();
  await rm(folder, { recursive: true, force: true });
}
process.exitCode = failed > 0 ? 1 : 0;
