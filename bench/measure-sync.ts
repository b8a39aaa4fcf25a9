import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { SyncReport } from '../src/sync/report.ts';

const bin = fileURLToPath(new URL('../bin/leadsync.js', import.meta.url));

/** One `leadsync sync` in a folder, from start to end; `peak` in kilobytes, of its process alone. */
export async function measureSync(
  folder: string,
  env: NodeJS.ProcessEnv,
): Promise<{ readonly report: SyncReport; readonly seconds: number; readonly peak: number }> {
  const { stdout, ...rest } = await measureCommand('sync', folder, env);
  return { report: JSON.parse(stdout) as SyncReport, ...rest };
}

/** The same of any command. */
export async function measureCommand(
  command: string,
  folder: string,
  env: NodeJS.ProcessEnv,
): Promise<{ readonly stdout: string; readonly seconds: number; readonly peak: number }> {
  const startedAt = performance.now();
  const child = spawn(process.execPath, [bin, command, '--json'], {
    cwd: folder,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let stdout = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  const closed = once(child, 'close');
  let peak = 0;
  while (child.exitCode === null && child.signalCode === null) {
    const status = await readFile(`/proc/${child.pid}/status`, 'utf8').catch(() => '');
    peak = Math.max(peak, Number(/^VmHWM:\s+(\d+)/m.exec(status)?.[1] ?? 0));
    await sleep(50);
  }
  await closed;
  const seconds = (performance.now() - startedAt) / 1000;
  return { stdout, seconds, peak };
}
