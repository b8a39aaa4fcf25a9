/**
 * `npm run check`: types, lint, format and unused code at once, each told when it has ended. What was clean is not looked at
 * again while no file of the repository has changed.
 */
import { execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';

const names = ['typecheck', 'lint', 'format:check', 'deadcode'];
const root = join(import.meta.dirname, '..');
const cache = join(root, 'node_modules/.cache');
const memory = join(cache, 'leadsync-checked');

/** Of all files that git knows or would take, and the Node that runs this. */
function digestNow(): string {
  const args = ['ls-files', '-z', '--cached', '--others', '--exclude-standard'];
  const files = execFileSync('git', args, { cwd: root, encoding: 'utf8' }).split('\0').toSorted();
  const hash = createHash('sha256').update(process.version);
  for (const file of files) hash.update(`\0${file}\0`).update(read(join(root, file)));
  return hash.digest('hex');
}

/** Empty for a file that was deleted, and for none. */
function read(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch {
    return Buffer.alloc(0);
  }
}

async function isClean(name: string): Promise<boolean> {
  const began = Date.now();
  const child = spawn('npm', ['run', '--silent', name], { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = new Promise<number | null>((resolve, reject) =>
    child.once('error', reject).once('close', resolve),
  );
  const said = await Promise.all([text(child.stdout), text(child.stderr)]);
  const code = await ended;
  const seconds = ((Date.now() - began) / 1000).toFixed(1);
  process.stdout.write(`${code === 0 ? 'ok    ' : 'FAILED'} ${name}, ${seconds} s\n`);
  if (code !== 0) process.stdout.write(said.join(''));
  return code === 0;
}

const digest = digestNow();
if (read(memory).toString() === digest) process.stdout.write('ok     as before: no file has changed since\n');
else if ((await Promise.all(names.map(isClean))).every(Boolean)) {
  mkdirSync(cache, { recursive: true });
  // A file that was saved meanwhile was perhaps not looked at.
  if (digestNow() === digest) writeFileSync(memory, digest);
} else process.exitCode = 1;
