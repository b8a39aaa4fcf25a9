import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { findOldNode } from '../../support/programs.ts';
import { until } from '../../support/until.ts';
import { Workspace } from '../../support/workspace.ts';

const bin = fileURLToPath(new URL('../../../bin/leadsync.js', import.meta.url));

/** A Node that is too old to run the sources. */
const oldNode = findOldNode() ?? '';

interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

describe('under an old Node of the machine', { tags: 'node' }, () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'leadsync-bin-'));
  });
  afterEach(() => {
    rmSync(folder, { recursive: true, force: true });
  });

  /** Runs the wrapper to its end; one that does not end is killed, and its code is null. */
  async function run(args: readonly string[], env: NodeJS.ProcessEnv = {}, cwd = folder): Promise<Ended> {
    const child = spawn(oldNode, [bin, ...args], {
      cwd,
      env: { PATH: process.env['PATH'], HOME: folder, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let [stdout, stderr] = ['', ''];
    child.stdout.setEncoding('utf8').on('data', (text: string) => void (stdout += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => void (stderr += text));
    const [code] = (await once(child, 'close')) as [number | null];
    return { code, stdout, stderr };
  }

  test.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ])('a child that %s ends before it listens: %i', async (signal, code) => {
    const early = `if (Number(process.versions.node.split('.')[0]) >= 24) process.kill(process.pid, '${signal}');`;
    const ended = await run(['--version'], {
      NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(early)}`,
    });
    expect(ended).toMatchObject({ code, stdout: '' });
  });

  test('help, version and mistakes: it ends by itself, with the right code', async () => {
    writeFileSync(join(folder, 'bad.yaml'), 'connections: {}\n');
    const [help, version, usage, missing, invalid] = await Promise.all([
      run(['--help']),
      run(['--version']),
      run(['nonsense']),
      run(['sync', '--json']),
      run(['status', '--config', 'bad.yaml']),
    ]);
    expect(help).toMatchObject({ code: 0, stderr: '' });
    expect(help.stdout).toContain('Usage: leadsync');
    expect(version).toMatchObject({ code: 0, stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) });
    expect(usage).toMatchObject({ code: 2, stdout: '' });
    expect(usage.stderr).toContain("unknown command 'nonsense'");
    expect(missing?.code).toBe(2);
    expect(JSON.parse(missing?.stdout ?? '')).toMatchObject({ error: { code: 'config.missing' } });
    expect(invalid?.code).toBe(2);
    expect(invalid?.stderr).toContain('[config.invalid]');
  });

  test('a normal end, and one with held items: code 0 and 3, all of the output', async () => {
    await using workspace = await Workspace.open({ sandbox: { leads: 5 } });
    const done = await run(['sync', '--json'], workspace.env, workspace.folder);
    expect(done.code, done.stderr).toBe(0);
    expect(JSON.parse(done.stdout)).toMatchObject({ status: 'succeeded', created: { rows: 5 } });
    workspace.sheet.add({ 'Lead ID': 'nobody', Company: 'Orphan AG' });
    const held = await run(['sync', '--json'], workspace.env, workspace.folder);
    expect(held.code, held.stderr).toBe(3);
  });

  test('a signal is passed on; kill -9 of the wrapper ends the child too', async () => {
    const start = async (): Promise<{ wrapper: ReturnType<typeof spawn>; url: string }> => {
      const wrapper = spawn(oldNode, [bin, 'sandbox', '--leads', '1', '--json'], {
        cwd: folder,
        env: { PATH: process.env['PATH'], HOME: folder },
        stdio: ['ignore', 'pipe', 'ignore'],
      });
      const [line] = (await once(wrapper.stdout, 'data')) as [Buffer];
      return { wrapper, url: (JSON.parse(line.toString()) as { baseUrl: string }).baseUrl };
    };
    const isUp = async (url: string): Promise<boolean> =>
      fetch(url, { headers: { connection: 'close' } }).then(
        () => true,
        () => false,
      );

    const asked = await start();
    expect(await isUp(asked.url)).toBe(true);
    asked.wrapper.kill('SIGTERM');
    expect(await once(asked.wrapper, 'exit')).toEqual([0, null]);
    expect(await isUp(asked.url)).toBe(false);

    const killed = await start();
    expect(await isUp(killed.url)).toBe(true);
    killed.wrapper.kill('SIGKILL');
    await once(killed.wrapper, 'exit');
    await until('the child is gone too', async () => !(await isUp(killed.url)));
  });
});

test('what works for long is started with a heap that grows slowly, what does not with that of Node, once', () => {
  const tells = 'process.stderr.write(`started ${process.execArgv.join()}\\n`)';
  const env = {
    PATH: process.env['PATH'],
    NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(tells)}`,
  };
  const startsOf = (...args: string[]): string[] => {
    const { stderr } = spawnSync(process.execPath, [...args, '--help'], { env, encoding: 'utf8' });
    return stderr.split('\n').filter((line) => line.startsWith('started '));
  };
  const slowly = '--max-semi-space-size=4';
  expect(startsOf(bin, 'sync')).toEqual(['started ', `started ${slowly}`]);
  expect(startsOf('--max-semi-space-size=16', bin, 'sync')).toEqual(['started --max-semi-space-size=16']);
  expect(startsOf(bin, 'status')).toEqual(['started ']);
});
