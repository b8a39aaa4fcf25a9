import { spawn } from 'node:child_process';
import { chmod, cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { startEmbeddedPostgres } from '../../src/store/embedded-postgres.ts';
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

const root = fileURLToPath(new URL('../..', import.meta.url));
const scratch = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();
const folder = await mkdtemp(join(scratch, 'leadsync-planted-'));
await chmod(folder, 0o755);
const server = await startEmbeddedPostgres(folder, { durable: false });
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

/** Plants one mistake in a copy of the sources and plays nights until they find it. */
async function look({ name, file, from, to }: PlantedBug): Promise<void> {
  const tree = await mkdtemp(join(scratch, 'leadsync-planted-'));
  try {
    for (const part of ['src', 'test/simulation', 'package.json'])
      await cp(join(root, part), join(tree, part), { recursive: true });
    await symlink(join(root, 'node_modules'), join(tree, 'node_modules'));
    const text = await readFile(join(tree, file), 'utf8');
    if (text.split(from).length !== 2) throw new Error(`${name}: the text to replace is not once in ${file}`);
    await writeFile(
      join(tree, file),
      text.replace(from, () => to),
    );
    const { code, output } = await run(tree);
    const [, repeat] = /^npm run simulate -- (--seed .*)$/m.exec(output) ?? [];
    const [summary] = /^\d+ nights.*$/m.exec(output) ?? [output.slice(-600)];
    if (code === 0 || repeat === undefined) missed++;
    const [fault = ''] = /^ {2}.*$/m.exec(output) ?? [];
    console.log(
      code !== 0 && repeat !== undefined
        ? `found in ${summary}  ${name}\n    ${repeat}\n  ${fault.slice(0, 200)}`
        : `NOT FOUND ${summary}  ${name}`,
    );
  } finally {
    await rm(tree, { recursive: true, force: true });
  }
}

function run(tree: string): Promise<{ code: number | null; output: string }> {
  const args = [
    '--nights',
    values.nights,
    '--seed',
    values.seed,
    '--trace',
    '0',
    '--server',
    server.connectionString,
  ];
  const child = spawn(process.execPath, [join(tree, 'test/simulation/run.ts'), ...args], { cwd: tree });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()));
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, output })));
}
