import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { bundledBin } from './bundled-cli.ts';

/** A command in a terminal of its own, made by `script` (its tests need that program). */
export class Terminal implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #ended: Promise<unknown[]>;
  #shown = '';

  /** `line`: what a shell runs there; `$leadsync` is the command. */
  constructor(line: string, { cwd, env }: { readonly cwd: string; readonly env: NodeJS.ProcessEnv }) {
    const leadsync = `${process.execPath} --max-semi-space-size=16 ${bundledBin}`;
    this.#child = spawn('script', ['-qec', `stty cols 160 rows 40; ${line}`, '/dev/null'], {
      cwd,
      env: { ...env, leadsync, SHELL: '/bin/sh', TERM: 'xterm' },
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    this.#ended = once(this.#child, 'close');
    this.#child.stdout?.setEncoding('utf8').on('data', (text: string) => (this.#shown += text));
  }

  get shown(): string {
    return this.#shown;
  }

  type(keys: string): void {
    this.#child.stdin?.write(keys);
  }

  ctrlC(): void {
    this.type('\u0003');
  }

  /** The exit code; 128 and the signal when one ended the command. */
  async ended(): Promise<number> {
    const [code] = await this.#ended;
    return Number(code);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#ended;
  }
}
