import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { asNobody } from '../support/programs.ts';
import { createCsvTarget } from '../../src/targets/csv/csv-target.ts';
import { localPlace } from '../../src/targets/local/local-place.ts';
import { csvOptions, makeCsvHarness } from '../contract/csv-harness.ts';
import { append, readAll, update } from '../contract/target-harness.ts';

const signal = new AbortController().signal;
const moduleUrl = new URL('../../src/targets/file/workbook-target.ts', import.meta.url).href;
const targetAt = (path: string) => createCsvTarget(localPlace(path), csvOptions);
const root = process.getuid?.() === 0;
const rome = update('a', {}, { city: 'Rome' });
const done = [{ key: 'a', status: 'done' }];

/**
 * A program that appends a row and prints the outcome, or the code of the error. It kills itself when its signal is
 * asked for the `killedAt`-th time.
 */
function writer(path: string, killedAt = 0): string {
  return `
    const { createWorkbookTarget } = await import('${moduleUrl}');
    const target = await createWorkbookTarget(${JSON.stringify({ path, ...csvOptions })}, { dataDir: '' });
    const values = { name: 'x'.repeat(1000) };
    const signal = new AbortController().signal;
    let asked = 0;
    signal.throwIfAborted = () => ++asked === ${killedAt} && process.kill(process.pid, 'SIGKILL');
    try {
      const [outcome] = await target.write([{ kind: 'append', key: 'k', leadId: 'n0', values }], signal);
      console.log(outcome.code ?? outcome.status);
    } catch (error) {
      console.log(error.code);
    }`;
}

function runNode(program: string, ...wrapper: string[]): string {
  const command = [...wrapper, process.execPath, '--input-type=module', '-e', program];
  const { stdout, stderr } = spawnSync(command[0] ?? '', command.slice(1), { encoding: 'utf8' });
  expect(stderr).toBe('');
  return stdout.trim();
}

/** What to put before a command so that it runs without the rights of root. */
const ordinaryUser = root ? asNobody : [];

describe('replacing the file', () => {
  test.each([
    ['its owner alone', 0o755, 0o600],
    ['its owner alone', 0o700, 0o600],
    ['its owner and the group that may write to the folder', 0o770, 0o660],
    ['its owner and the group that may write to the folder', 0o2775, 0o660],
    ['its owner and the group, not for all who may write to the folder', 0o777, 0o660],
  ])('a new file is for %s (%o)', async (_, folderMode, fileMode) => {
    const folder = mkdtempSync(join(tmpdir(), 'leadsync-new-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    chmodSync(folder, folderMode);
    const path = join(folder, 'leads.csv');
    const target = targetAt(path);
    await target.open({ create: true }, signal);
    const umask = Number.parseInt(execFileSync('sh', ['-c', 'umask'], { encoding: 'utf8' }), 8);
    expect(statSync(path).mode & 0o777).toBe(fileMode & ~umask);
  });

  test('keeps the mode, and the owner where the system lets us', async () => {
    await using harness = await makeCsvHarness();
    harness.write('Lead ID,City\na,Bonn\n');
    chmodSync(harness.path, 0o640);
    if (root) chownSync(harness.path, 1234, 2345);
    const before = statSync(harness.path);
    expect(await harness.target().write([rome], signal)).toEqual(done);
    const { mode, uid, gid, ino } = statSync(harness.path);
    expect({ mode, uid, gid }).toEqual({ mode: before.mode, uid: before.uid, gid: before.gid });
    expect(ino).not.toBe(before.ino);
  });

  test('leaves a symbolic link a link, also one whose file does not exist yet', async () => {
    await using harness = await makeCsvHarness();
    const folder = join(harness.folder, 'real');
    mkdirSync(folder);
    symlinkSync('real/other.csv', harness.path);
    expect(await harness.target().open({ create: true }, signal)).toMatchObject({ created: true });
    await harness.target().write([append('a', { city: 'Bonn' })], signal);
    expect(await harness.target().write([rome], signal)).toEqual(done);
    expect(lstatSync(harness.path).isSymbolicLink()).toBe(true);
    expect(readlinkSync(harness.path)).toBe('real/other.csv');
    expect(readFileSync(join(folder, 'other.csv'), 'utf8')).toContain('a,,Rome');
    expect(readdirSync(folder)).toEqual(['other.csv']);
  });

  test('a writer killed at any moment leaves the old file, and the next one clears up and writes', async () => {
    await using harness = await makeCsvHarness();
    const content = 'Lead ID,City,Company\na,Bonn,\n';
    let leftovers = 0;
    for (let at = 1, killed = true; killed; at++) {
      harness.write(content);
      const child = spawnSync(process.execPath, ['--input-type=module', '-e', writer(harness.path, at)]);
      killed = child.signal === 'SIGKILL';
      if (!killed) continue;
      expect(harness.read()).toBe(content);
      leftovers += readdirSync(harness.folder).filter((name) => name.includes('leadsync-tmp')).length;
      expect(await harness.target().write([rome], signal)).toEqual(done);
      expect(harness.read()).toBe(content.replace('Bonn', 'Rome'));
      expect(readdirSync(harness.folder)).toEqual(['leads.csv']);
    }
    expect(harness.read()).toMatch(/^n0,,x/m);
    expect(leftovers).toBeGreaterThan(0);
  });
});

const open = (path: string) => targetAt(path).open({ create: true }, signal);

describe('when the file cannot be written', () => {
  test('a full disk: the old file stays, nothing is left over', { tags: 'mount' }, async () => {
    const folder = mkdtempSync(join(tmpdir(), 'leadsync-full-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=256k', 'tmpfs', folder]);
    onTestFinished(() => void execFileSync('umount', [folder]));
    const path = join(folder, 'leads.csv');
    const content = `Lead ID,City\na,Bonn\n${'b,Linz\n'.repeat(25_000)}`;
    writeFileSync(path, content);
    await expect(targetAt(path).write([rome], signal)).rejects.toMatchObject({
      code: 'target.disk-full',
      retry: 'later',
    });
    expect(readFileSync(path, 'utf8')).toBe(content);
    expect(readdirSync(folder)).toEqual(['leads.csv']);
  });

  test('a limit on file size is a full disk, too', async () => {
    await using harness = await makeCsvHarness();
    const content = `Lead ID,Company\n${'b,Linz\n'.repeat(50_000)}`;
    harness.write(content);
    expect(runNode(writer(harness.path), 'sh', '-c', 'ulimit -f 128; exec "$@"', 'sh')).toBe(
      'target.disk-full',
    );
    expect(harness.read()).toBe(content);
    expect(readdirSync(harness.folder)).toEqual(['leads.csv']);
  });

  test.each([
    ['folder', 0o555, 0o666, 'target.not-writable'],
    ['file', 0o777, 0o444, 'target.not-writable'],
    ['nothing', 0o777, 0o666, 'done'],
    ['file without the right to read', 0o777, 0o000, 'target.unreadable'],
  ])('read-only %s', { tags: root ? 'setpriv' : [] }, async (_, folderMode, fileMode, result) => {
    await using harness = await makeCsvHarness();
    harness.write('Lead ID,City,Company\na,Bonn,\n');
    chmodSync(harness.path, fileMode);
    chmodSync(harness.folder, folderMode);
    expect(runNode(writer(harness.path), ...ordinaryUser)).toBe(result);
    chmodSync(harness.folder, 0o755);
    expect(readdirSync(harness.folder)).toEqual(['leads.csv']);
  });

  test('a missing folder, a folder in place of the file, a named pipe', async () => {
    await using harness = await makeCsvHarness();
    await expect(open(join(harness.folder, 'no', 'leads.csv'))).rejects.toMatchObject({
      code: 'target.not-writable',
    });
    await expect(open(harness.folder)).rejects.toMatchObject({ code: 'target.unreadable' });
    execFileSync('mkfifo', [harness.path]);
    await expect(open(harness.path)).rejects.toMatchObject({ code: 'target.unreadable' });
  });

  test('a file that was there and is gone', async () => {
    await using harness = await makeCsvHarness();
    const target = harness.target();
    const { rows } = await target.open({ create: true }, signal);
    rmSync(harness.path);
    await expect(rows[Symbol.asyncIterator]().next()).rejects.toMatchObject({ code: 'target.changed' });
    await expect(target.write([rome], signal)).rejects.toMatchObject({ code: 'target.changed' });
    expect(readdirSync(harness.folder)).toEqual([]);
  });
});

test('requests are the times the file was read or written', async () => {
  await using harness = await makeCsvHarness();
  const target = harness.target();
  await target.open({ create: true }, signal);
  const created = target.requests;
  await readAll(target);
  const read = target.requests;
  await target.write([append('a', {})], signal);
  expect([created > 0, read - created, target.requests - read]).toEqual([true, 2, 2]);
});

test('a file has another version whenever somebody has touched it, also without another size or time', async () => {
  await using harness = await makeCsvHarness();
  const target = harness.target();
  expect(await target.version?.(signal)).toBeNull();
  harness.edit(() => [
    ['Lead ID', 'City'],
    ['a', 'Bonn'],
  ]);
  const versions = [await target.version?.(signal)];
  await readAll(target);
  expect(await target.version?.(signal)).toBe(versions[0]);

  const { atime, mtime } = statSync(harness.path);
  writeFileSync(harness.path, readFileSync(harness.path, 'utf8').replace('Bonn', 'Rome'));
  utimesSync(harness.path, atime, mtime);
  versions.push(await target.version?.(signal));
  await target.write([update('a', { city: 'Rome' }, { city: 'Oslo' })], signal);
  versions.push(await target.version?.(signal));
  expect(new Set(versions).size).toBe(3);
  writeFileSync(join(dirname(harness.path), `.~lock.${basename(harness.path)}#`), ',anna,pc,,');
  await expect(target.version?.(signal)).rejects.toMatchObject({ code: 'target.busy' });
});
