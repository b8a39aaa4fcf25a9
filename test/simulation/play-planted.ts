import { spawn } from 'node:child_process';
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { PlantedBug } from './planted-bugs.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

export interface Play {
  /** A Postgres to use. */
  readonly server: string;
  /** The most nights that are played; the first that goes wrong ends it. */
  readonly nights: number;
  /** Of the first world. */
  readonly seed: number;
}

/** Plants one mistake in a copy of the sources and plays nights until they find it: then `code` is 1. */
export async function playWith(
  { name, file, from, to, format }: PlantedBug,
  { server, nights, seed }: Play,
): Promise<{ readonly code: number | null; readonly output: string }> {
  const tree = await mkdtemp(join(tmpdir(), 'leadsync-planted-'));
  try {
    for (const part of ['src', 'test/simulation', 'test/stand-ins', 'test/support', 'package.json'])
      await cp(join(root, part), join(tree, part), { recursive: true });
    await symlink(join(root, 'node_modules'), join(tree, 'node_modules'));
    const text = await readFile(join(tree, file), 'utf8');
    if (text.split(from).length !== 2) throw new Error(`${name}: the text to replace is not once in ${file}`);
    await writeFile(
      join(tree, file),
      text.replace(from, () => to),
    );
    const run = join(tree, 'test/simulation/run.ts');
    const options = { nights, seed, trace: 0, server, ...(format !== undefined && { format }) };
    const args = Object.entries(options).flatMap(([option, value]) => [`--${option}`, String(value)]);
    const child = spawn(process.execPath, [run, ...args], { cwd: tree });
    let output = '';
    const hear = (chunk: Buffer): void => void (output += chunk.toString());
    child.stdout.on('data', hear);
    child.stderr.on('data', hear);
    const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
    return { code, output };
  } finally {
    await rm(tree, { recursive: true, force: true });
  }
}
