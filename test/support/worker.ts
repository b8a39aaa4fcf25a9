import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { CliProcess } from './cli.ts';
import { until } from './until.ts';
import type { Workspace } from './workspace.ts';

/** A schedule that does not come due while a test runs, and was due within the last year. */
export const yearly = { schedule: `0 0 ${new Date(Date.now() - 2 * 24 * 3_600_000).getUTCDate()} 1 *` };

interface RunningWorker {
  readonly process: CliProcess;
  readonly url: string;
}

/** Starts the real worker and waits until it says that it is ready. */
export async function startWorker(workspace: Workspace, env: NodeJS.ProcessEnv = {}): Promise<RunningWorker> {
  const process = workspace.start(['worker'], { env });
  let port: number | undefined;
  await until('the worker is ready', () => {
    if (process.child.exitCode !== null) throw new Error(process.stderr);
    port = readyPort(process.stderr);
    return port !== undefined;
  });
  return { process, url: `http://127.0.0.1:${port}` };
}

function readyPort(log: string): number | undefined {
  const line = log.split('\n').find((text) => text.includes('"worker is ready"'));
  return line === undefined ? undefined : (JSON.parse(line) as { port: number }).port;
}

export async function lastRuns(workspace: Workspace): Promise<{ id: string; status: string }[]> {
  const { rows } = await workspace.database.pool.query<{ id: string; status: string }>(
    `select id, status from runs order by id`,
  );
  return rows;
}

export async function isSynced(workspace: Workspace): Promise<boolean> {
  const runs = await lastRuns(workspace);
  return runs.some(({ status }) => status === 'succeeded');
}

export async function outbox(workspace: Workspace): Promise<string[]> {
  const folder = join(workspace.folder, 'data', 'outbox');
  const names = await readdir(folder).catch(() => []);
  return Promise.all(
    names.filter((name) => name.endsWith('.eml')).map((name) => readFile(join(folder, name), 'utf8')),
  );
}
