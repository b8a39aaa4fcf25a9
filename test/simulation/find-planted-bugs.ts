import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startSocketPostgres } from '../support/test-postgres.ts';
import { playWith } from './play-planted.ts';
import { type PlantedBug, plantedBugs } from './planted-bugs.ts';

const { values } = parseArgs({
  options: {
    nights: { type: 'string', default: '200' },
    seed: { type: 'string', default: '1' },
    jobs: { type: 'string', default: '2' },
    /** Part of the name. */
    only: { type: 'string', default: '' },
  },
});

const scratch = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();
const folder = await mkdtemp(join(scratch, 'leadsync-planted-'));
await chmod(folder, 0o755);
const server = await startSocketPostgres(folder);
const queue = plantedBugs.filter(({ name }) => name.includes(values.only));
let missed = 0;
try {
  await Promise.all(
    Array.from({ length: Number(values.jobs) }, async () => {
      for (let bug = queue.shift(); bug !== undefined; bug = queue.shift()) await look(bug);
    }),
  );
} finally {
  await server.close();
  await rm(folder, { recursive: true, force: true });
}
process.exitCode = missed > 0 ? 1 : 0;

async function look(bug: PlantedBug): Promise<void> {
  const [nights, seed] = [Number(values.nights), Number(values.seed)];
  const { code, output } = await playWith(bug, { server: server.connectionString, nights, seed });
  const [, repeat] = /^npm run simulate -- (--seed .*)$/m.exec(output) ?? [];
  const [summary] = /^\d+ nights.*$/m.exec(output) ?? [output.slice(-600)];
  const [fault = ''] = /^ {2}.*$/m.exec(output) ?? [];
  const isFound = code !== 0 && repeat !== undefined;
  if (!isFound) missed++;
  console.log(
    isFound
      ? `found in ${summary}  ${bug.name}\n    ${repeat}\n  ${fault.slice(0, 200)}`
      : `NOT FOUND ${summary}  ${bug.name}`,
  );
}
