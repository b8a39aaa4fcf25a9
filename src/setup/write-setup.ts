import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chmod, link, mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { envFileName } from '../config/env-file.ts';
import { loadConfig } from '../config/load.ts';
import { codeOf, LeadsyncError } from '../errors.ts';
import type { Answers } from './answers.ts';
import { secretsFolder, type SetupFiles, variablesOf } from './setup-files.ts';

/** Only its owner can read it. */
const own = { mode: 0o600, flag: 'wx' } as const;

/** What is to be written, by path from the folder, each with its content; leadsync.yaml is the last. */
function inOrder({ yaml, env, secrets }: SetupFiles, yamlFile: string): readonly [string, string][] {
  return [...secrets, [envFileName, env], [basename(yamlFile), yaml]];
}

/** Looks at leadsync.yaml as every command will, before anything is written. Throws ConfigError. */
export async function assertLoads({ yaml }: SetupFiles, answers: Answers): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'leadsync-init-'));
  try {
    const file = join(folder, 'leadsync.yaml');
    await writeFile(file, yaml, own);
    const env = Object.fromEntries(
      [...variablesOf(answers)].map(([name, answer]) => [
        name,
        typeof answer === 'string' ? answer : answer.value.reveal(),
      ]),
    );
    await loadConfig({ env, cwd: folder, file });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/**
 * Throws `usage.init-exists` when a file of ours would have to be replaced: it says which, and shows what would have been
 * written. A file that has this very content already is no obstacle.
 * @param yamlFile absolute path of leadsync.yaml
 */
export async function refuseExisting(files: SetupFiles, yamlFile: string): Promise<void> {
  const folder = dirname(yamlFile);
  const found: string[] = [];
  for (const [path, content] of inOrder(files, yamlFile)) {
    const there = await readFile(join(folder, path), 'utf8').catch((error: unknown) => codeOf(error));
    if (there !== 'ENOENT' && there !== content) found.push(path);
  }
  if (found.length === 0) return;
  throw new LeadsyncError(
    'usage.init-exists',
    `${found.join(' and ')} ${found.length === 1 ? 'is' : 'are'} in ${folder} already, with other content; nothing was written`,
    {
      help: `Remove what you do not need, or name another place with --out FOLDER/leadsync.yaml. This would be ${basename(yamlFile)}:\n\n${files.yaml}`,
    },
  );
}

/**
 * Writes the configuration and returns the paths of new files, from the folder of `yamlFile` (absolute). Secrets come first
 * and leadsync.yaml last, each as a whole: whatever ends the process, there is no leadsync.yaml without what it names.
 * Never writes over a file. Throws `setup.not-written`.
 */
export async function writeSetup(files: SetupFiles, yamlFile: string): Promise<readonly string[]> {
  const folder = dirname(yamlFile);
  const written: string[] = [];
  try {
    await mkdir(folder, { recursive: true });
    if (await ignoreInGit(folder)) written.push('.gitignore');
    if (files.secrets.size > 0) {
      await mkdir(join(folder, secretsFolder), { recursive: true, mode: 0o700 });
      // It may have been there.
      await chmod(join(folder, secretsFolder), 0o700);
    }
    for (const [path, content] of inOrder(files, yamlFile))
      if (await writeNew(join(folder, path), content)) written.push(path);
    return written;
  } catch (cause) {
    const so = written.length === 0 ? 'nothing was written' : `written so far: ${written.join(', ')}`;
    throw new LeadsyncError(
      'setup.not-written',
      `the configuration cannot be written in ${folder} (${codeOf(cause) ?? String(cause)}); ${so}`,
      { help: 'Name another place with --out FOLDER/leadsync.yaml.', cause },
    );
  }
}

/** False: the file is there with this content. */
async function writeNew(path: string, content: string): Promise<boolean> {
  const temporary = `${path}.${randomUUID()}.tmp`;
  try {
    await writeFile(temporary, content, { ...own, flush: true });
    // Unlike a rename, it fails when the file appeared in between; shares and FAT have no links.
    await link(temporary, path).catch((error: unknown) => {
      if (codeOf(error) === 'EEXIST' || existsSync(path)) throw error;
      return rename(temporary, path);
    });
    return true;
  } catch (error) {
    if (codeOf(error) !== 'EEXIST' || (await readFile(path, 'utf8')) !== content) throw error;
    await chmod(path, own.mode);
    return false;
  } finally {
    await rm(temporary, { force: true });
  }
}

/** Adds the folders of secrets and data to .gitignore in a git repository; false: nothing to add. */
async function ignoreInGit(folder: string): Promise<boolean> {
  if (!isInGit(folder)) return false;
  const path = join(folder, '.gitignore');
  const content = await readFile(path, 'utf8').catch(() => '');
  const lines = content.split(/\r?\n/).map((line) => line.trim());
  const missing = [`/${secretsFolder}/`, '/data/'].filter(
    (line) => ![line, line.slice(1), line.slice(0, -1), line.slice(1, -1)].some((one) => lines.includes(one)),
  );
  if (missing.length === 0) return false;
  const start = content === '' || content.endsWith('\n') ? '' : '\n';
  await writeFile(path, `${start}${missing.join('\n')}\n`, { flag: 'a' });
  return true;
}

function isInGit(folder: string): boolean {
  if (existsSync(join(folder, '.git'))) return true;
  const above = dirname(folder);
  return above !== folder && isInGit(above);
}
