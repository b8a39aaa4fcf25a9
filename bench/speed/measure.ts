import { type ChildProcess, execFile, fork } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Order } from './service.ts';

const here = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

/** What a process took from its start to its end. */
export interface Cost {
  readonly wallMs: number;
  /** Of the process alone. */
  readonly cpuMs: number;
  /** Of Postgres meanwhile. */
  readonly databaseCpuMs: number;
  /** Resident, at most. */
  readonly peakMb: number;
  /** What Postgres wrote to its log meanwhile. */
  readonly walBytes: number;
  readonly stdout: string;
}

interface Surroundings {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
}

const execute = promisify(execFile);

/** Runs Node with these arguments to its end. Throws what it said when it fails. */
export async function runNode(
  program: readonly string[],
  surroundings: Surroundings,
): Promise<Pick<Cost, 'wallMs' | 'stdout'>> {
  const from = performance.now();
  const { stdout } = await execute(process.execPath, program, surroundings);
  return { wallMs: performance.now() - from, stdout };
}

/** The same, and what the program used: it tells by itself, for which some 30 ms of TypeScript are loaded before it. */
export async function measure(
  program: readonly string[],
  { cwd, env, postgresPid }: Surroundings & { readonly postgresPid: number },
): Promise<Omit<Cost, 'walBytes'>> {
  const file = join(cwd, 'usage.json');
  const before = await cpuOfTree(postgresPid);
  const surroundings = { cwd, env: { ...env, BENCH_USAGE: file } };
  const ran = await runNode(['--import', here('usage.ts'), ...program], surroundings);
  const { cpuMs, peakKb } = JSON.parse(await readFile(file, 'utf8')) as { cpuMs: number; peakKb: number };
  const databaseCpuMs = (await cpuOfTree(postgresPid)) - before;
  return { ...ran, cpuMs, databaseCpuMs, peakMb: peakKb / 1024 };
}

/** CPU time (ms) of a process, of its children, and of those of them that have ended. */
async function cpuOfTree(root: number): Promise<number> {
  let ticks = 0;
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const stat = await readFile(`/proc/${name}/stat`, 'utf8').catch(() => '');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const [parent, user, system, deadUser, deadSystem] = [1, 11, 12, 13, 14].map((at) => Number(fields[at]));
    if (Number(name) === root) ticks += (user ?? 0) + (system ?? 0) + (deadUser ?? 0) + (deadSystem ?? 0);
    else if (parent === root) ticks += (user ?? 0) + (system ?? 0);
  }
  return ticks * 10;
}

/** The Leads service, in a process of its own. */
export class Service implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly url: string;
  readonly apiKey: string;

  private constructor(child: ChildProcess, { url, apiKey }: { url: string; apiKey: string }) {
    this.#child = child;
    this.url = url;
    this.apiKey = apiKey;
  }

  static async open(leads: number): Promise<Service> {
    const child = fork(here('service.ts'), [String(leads)]);
    const [started] = (await once(child, 'message')) as [{ url: string; apiKey: string }];
    return new Service(child, started);
  }

  async order(order: Order): Promise<{ requests: number; byRoute: Record<string, number> }> {
    const answer = once(this.#child, 'message');
    this.#child.send(order);
    const [stats] = (await answer) as [{ requests: number; byRoute: Record<string, number> }];
    return stats;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const exit = once(this.#child, 'exit');
    this.#child.disconnect();
    await exit;
  }
}

/** The middle one. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
