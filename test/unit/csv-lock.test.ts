import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { lockFile, lockPathOf } from '../../src/targets/local/file-lock.ts';
import { makeCsvHarness, withFile, type CsvHarness } from '../contract/csv-harness.ts';
import { append } from '../contract/target-harness.ts';

const signal = new AbortController().signal;

const withRow = (body: (harness: CsvHarness) => Promise<void>) => withFile('Lead ID,City\na,Bonn\n', body);

/** A process that holds our lock on the path until it is killed. */
async function holder(path: string) {
  const module = new URL('../../src/targets/local/file-lock.ts', import.meta.url).href;
  const program = `
    const { lockFile } = await import(${JSON.stringify(module)});
    globalThis.lock = await lockFile(${JSON.stringify(path)});
    console.log('held');
    setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const kill = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  };
  onTestFinished(kill);
  expect(String((await once(child.stdout, 'data'))[0])).toBe('held\n');
  return kill;
}

const write = (harness: CsvHarness) => harness.target().write([append('n', { city: 'Oslo' })], signal);
const done = [{ key: 'n', status: 'done', row: 3 }];

describe('our own lock', () => {
  test('a second writer is told to come back, and takes over at once when the first was killed', () =>
    withRow(async (harness) => {
      const kill = await holder(harness.path);
      await expect(write(harness)).rejects.toMatchObject({ code: 'target.busy', retry: 'later' });
      expect(harness.read()).toBe('Lead ID,City\na,Bonn\n');
      await kill();
      expect(await write(harness)).toEqual(done);
      expect(readdirSync(harness.folder)).toEqual(['leads.csv']);
    }));

  test('within one process as well', () =>
    withRow(async (harness) => {
      await using lock = await lockFile(harness.path);
      await lock.assertHeld();
      await expect(write(harness)).rejects.toMatchObject({ code: 'target.busy' });
    }));

  test.each([
    ['a process number that now belongs to another process', { pid: process.pid, started: '1' }],
    ['a process that is gone', { pid: 2 ** 22 + 1, started: '1' }],
  ])('is taken over from %s', (_, dead) =>
    withRow(async (harness) => {
      await using lock = await lockFile(harness.path);
      const content = await ownLock(harness.path);
      writeFileSync(lockPathOf(harness.path), JSON.stringify({ ...content, ...dead, token: 'other' }));
      await expect(lock.assertHeld()).rejects.toMatchObject({ code: 'target.busy' });
      expect(await write(harness)).toEqual(done);
    }),
  );

  test.each([
    [
      'another machine',
      'for 20 s',
      JSON.stringify({ token: 't', pid: 1, machine: 'elsewhere', started: null }),
      20_000,
    ],
    ['a writer that has not put its name in yet', 'for 2 s', '', 2_000],
  ])('of %s holds until it is silent %s', (_what, _for, content, silenceMs) =>
    withRow(async (harness) => {
      const early = new Date(Date.now() + 60_000);
      writeFileSync(lockPathOf(harness.path), content);
      utimesSync(lockPathOf(harness.path), early, early);
      await expect(write(harness)).rejects.toMatchObject({ code: 'target.busy' });
      const past = new Date(Date.now() - silenceMs - 10);
      utimesSync(lockPathOf(harness.path), past, past);
      expect(await write(harness)).toEqual(done);
    }),
  );

  test('a writer that lost its lock in the middle writes nothing', () =>
    withRow(async (harness) => {
      const losing = new AbortController().signal;
      losing.throwIfAborted = () =>
        writeFileSync(
          lockPathOf(harness.path),
          JSON.stringify({ token: 't', pid: 1, machine: 'elsewhere', started: null }),
        );
      await expect(harness.target().write([append('n', {})], losing)).rejects.toMatchObject({
        code: 'target.busy',
      });
      expect(harness.read()).toBe('Lead ID,City\na,Bonn\n');
    }));
});

describe("an editor's lock file", () => {
  test.each([
    [
      'LibreOffice',
      '.~lock.leads.csv#',
      ',anna,desk-7,21.11.2026 09:30,file:///home/anna/x;',
      'anna on desk-7',
    ],
    [
      'LibreOffice with a name set',
      '.~lock.leads.csv#',
      'Anna Adler,anna,desk-7,21.11.2026 09:30,;',
      'Anna Adler',
    ],
    ['Excel', '~$leads.csv', '\x05Berta                        ', 'Berta'],
    ['an unreadable one', '~$leads.csv', '', 'open in a spreadsheet program'],
  ])('of %s means come back later', (_, name, content, who) =>
    withRow(async (harness) => {
      writeFileSync(join(harness.folder, name), content);
      const fault = { code: 'target.busy', retry: 'later', message: expect.stringContaining(who) };
      await expect(harness.target().open({ create: true }, signal)).rejects.toMatchObject(fault);
      await expect(write(harness)).rejects.toMatchObject(fault);
      expect(harness.read()).toBe('Lead ID,City\na,Bonn\n');
    }),
  );

  test('is seen beside the file that a link leads to, and when it comes in the middle of a write', () =>
    withRow(async (harness) => {
      await using other = await makeCsvHarness();
      symlinkSync(harness.path, other.path);
      const editing = new AbortController().signal;
      editing.throwIfAborted = () =>
        writeFileSync(join(harness.folder, '.~lock.leads.csv#'), ',anna,desk-7,,;');
      await expect(harness.target().write([append('n', {})], editing)).rejects.toMatchObject({
        code: 'target.busy',
      });
      await expect(write(other)).rejects.toMatchObject({ code: 'target.busy' });
      const opening = other.target().open({ create: false }, signal);
      await expect(opening).rejects.toMatchObject({ code: 'target.busy' });
      expect(harness.read()).toBe('Lead ID,City\na,Bonn\n');
    }));
});

/** What a lock that this process takes says. */
async function ownLock(path: string): Promise<object> {
  return JSON.parse(await readFile(lockPathOf(path), 'utf8'));
}
