import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { bundledBin } from './bundled-cli.ts';
import { assertNoSecrets, assertNotInCommandLines, secretsOf } from './secrets.ts';

const cloneBin = fileURLToPath(new URL('../../bin/leadsync.js', import.meta.url));

/** How a command is started: `before` is a command that is to run it; `sources`: as in a clone, not as it is installed. */
export interface CliOptions {
  readonly before?: readonly string[];
  readonly sources?: boolean;
}

/** V8's usual size: who sets one is not started a second time to save memory (bin.test.ts looks at that). */
const roomy = '--max-semi-space-size=16';

export interface CliResult {
  /** Null when a signal ended the process. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** The one JSON object of `--json`; throws when stdout is anything else. */
  json<T = Record<string, unknown>>(): T;
}

/** What `--json` prints: exactly one object, on one line, and nothing else on stdout. */
export function oneObject({ stdout, stderr }: CliResult): Record<string, unknown> {
  if (!/^\{.*\}\n$/.test(stdout)) throw new Error(`not one JSON object on one line: ${stdout}${stderr}`);
  return JSON.parse(stdout) as Record<string, unknown>;
}

/** The real command in a process of its own. What it prints is searched for the secrets that it was told. */
export class CliProcess implements AsyncDisposable {
  readonly child: ChildProcess;
  readonly ended: Promise<CliResult>;
  #stdout = '';
  #stderr = '';
  readonly #secrets: readonly string[];

  constructor(
    args: readonly string[],
    options: CliOptions & { readonly cwd: string; readonly env: NodeJS.ProcessEnv },
  ) {
    const node = [process.execPath, roomy];
    const bin = options.sources ? cloneBin : bundledBin;
    const [file = process.execPath, ...rest] = [...(options.before ?? []), ...node, bin, ...args];
    this.#secrets = secretsOf(options.env);
    this.child = spawn(file, rest, { cwd: options.cwd, env: options.env, stdio: ['ignore', 'pipe', 'pipe'] });
    this.child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      this.#stdout += text;
    });
    this.child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#stderr += text;
    });
    const closed = new Promise<number | null>((resolve, reject) => {
      this.child.once('error', reject);
      this.child.once('close', resolve);
    });
    this.ended = closed.then((code) => {
      const said = this.#stdout + this.#stderr;
      assertNoSecrets(`the output of leadsync ${args.join(' ')}`, said, this.#secrets);
      return this.#result(code);
    });
    // Whoever waits sees the error; nobody has to.
    this.ended.catch(() => {});
  }

  get stderr(): string {
    return this.#stderr;
  }

  get stdout(): string {
    return this.#stdout;
  }

  /** Sends a signal and waits for the end. */
  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<CliResult> {
    if (this.child.pid !== undefined) await assertNotInCommandLines(this.child.pid, this.#secrets);
    this.child.kill(signal);
    return this.ended;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.child.exitCode === null && this.child.signalCode === null) this.child.kill('SIGKILL');
    await this.ended;
  }

  #result(code: number | null): CliResult {
    const stdout = this.#stdout;
    return {
      code,
      stdout,
      stderr: this.#stderr,
      json<T>(): T {
        return JSON.parse(stdout) as T;
      },
    };
  }
}
