import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { CliProcess, type CliResult } from '../../support/cli.ts';
import { TcpProxy } from './tcp-proxy.ts';

const clock = fileURLToPath(new URL('./shifted-clock.ts', import.meta.url));

/** A process is to end within n ms of SIGTERM. */
const stopWithinMs = 10_000;

/** However long a service or a server is away in a round: a command is to end within n ms. */
const commandWithinMs = 180_000;

/** What members are started with. */
export interface MemberSurroundings {
  readonly folder: string;
  readonly env: NodeJS.ProcessEnv;
  readonly postgres: { readonly path: string; url(port: number): string };
  readonly mailPort: number;
  readonly redisPort: number | null;
  readonly trace: (event: string) => void;
  readonly fault: (fault: string) => void;
}

/** A machine of the team of workers: its own cables to the servers, its own clock, and one process. */
export class Member implements AsyncDisposable {
  readonly name: string;
  /** To Postgres, the mail server, and Redis when there is one. */
  readonly cables: ReadonlyMap<string, TcpProxy>;
  process: CliProcess | null = null;
  /** All that its processes have printed. */
  readonly #printed: string[] = [];
  readonly #surroundings: MemberSurroundings;
  /** Whether the process is to live: then one that ends is started again. */
  #isWanted = false;
  #isStopped = false;

  private constructor(name: string, cables: ReadonlyMap<string, TcpProxy>, surroundings: MemberSurroundings) {
    this.name = name;
    this.cables = cables;
    this.#surroundings = surroundings;
    this.setClock(0);
  }

  static async open(name: string, surroundings: MemberSurroundings): Promise<Member> {
    const { postgres, mailPort, redisPort } = surroundings;
    const cables = new Map([
      ['postgres', await TcpProxy.open(postgres.path)],
      ['mail', await TcpProxy.open(mailPort)],
    ]);
    if (redisPort !== null) cables.set('redis', await TcpProxy.open(redisPort));
    return new Member(name, cables, surroundings);
  }

  get isReady(): boolean {
    return this.process?.stderr.includes('"worker is ready"') ?? false;
  }

  get pid(): number | null {
    return this.process?.child.pid ?? null;
  }

  /** Whether it lives, is up and not stopped, so that something can be done to it. */
  get isUp(): boolean {
    return this.#isWanted && this.isReady && !this.#isStopped;
  }

  get printed(): string {
    return [...this.#printed, this.process?.stdout ?? '', this.process?.stderr ?? ''].join('');
  }

  /** Starts the worker, and again whenever it ends while it is coming up, as its supervisor would. */
  start(): void {
    this.#isWanted = true;
    const process = this.run(['worker']);
    this.process = process;
    void process.ended.then(async (result) => {
      if (this.process !== process) return;
      const wasReady = this.isReady;
      this.#keep(process);
      this.process = null;
      if (!this.#isWanted) return;
      const end = `${this.name} ended by itself with code ${result.code}`;
      this.#surroundings.trace(`${end}: ${result.stderr.trim().slice(-2_000)}`);
      if (wasReady) this.#surroundings.fault(`${end}: ${result.stderr.slice(-1_000)}`);
      await sleep(1_000);
      if (this.#isWanted && this.process === null) this.start();
    });
  }

  /** What its processes are started with. */
  get environment(): NodeJS.ProcessEnv {
    const { env, postgres } = this.#surroundings;
    const port = (cable: string): number => this.cables.get(cable)?.port ?? 0;
    return {
      ...env,
      DATABASE_URL: postgres.url(port('postgres')),
      SMTP_URL: `${env['SMTP_URL'] ?? ''}:${port('mail')}`,
      ...(this.cables.has('redis') && { REDIS_URL: `redis://127.0.0.1:${port('redis')}` }),
      NODE_OPTIONS: `--import ${clock}`,
      CHAOS_CLOCK: this.#clockFile,
    };
  }

  /** A command on this machine. */
  run(args: readonly string[]): CliProcess {
    return new CliProcess(args, { cwd: this.#surroundings.folder, env: this.environment });
  }

  /** Runs a command to its end. */
  async command(...args: readonly string[]): Promise<CliResult> {
    const process = this.run(args);
    const ended = await Promise.race([process.ended, sleep(commandWithinMs, null, { ref: false })]);
    if (ended === null)
      this.#surroundings.fault(`${args.join(' ')} did not end: ${process.stdout}${process.stderr}`);
    const result = ended ?? (await process.kill());
    this.#keep(process);
    return result;
  }

  async kill(): Promise<void> {
    this.#isWanted = false;
    const { process } = this;
    this.#isStopped = false;
    if (process === null) return;
    await process.kill();
    this.#gone(process);
  }

  /** SIGTERM, and what it is to come to. */
  async end(): Promise<void> {
    this.#isWanted = false;
    const { process } = this;
    if (process === null) return;
    const wasReady = this.isReady;
    const from = performance.now();
    const result = await Promise.race([process.kill('SIGTERM'), sleep(stopWithinMs, null, { ref: false })]);
    if (result === null) {
      this.#surroundings.fault(`${this.name} lives 10 s after SIGTERM: ${process.stderr.slice(-1_500)}`);
      await process.kill();
    } else {
      this.#surroundings.trace(`${this.name} ended ${Math.round(performance.now() - from)} ms after SIGTERM`);
      if (wasReady && result.code !== 0)
        this.#surroundings.fault(
          `${this.name} ended with code ${result.code} after SIGTERM: ${result.stderr.slice(-1_500)}`,
        );
    }
    this.#gone(process);
  }

  stop(): void {
    this.#isStopped = true;
    this.process?.child.kill('SIGSTOP');
  }

  continue(): void {
    this.#isStopped = false;
    this.process?.child.kill('SIGCONT');
  }

  /** Its wall clock goes wrong by n ms from now on. */
  setClock(shiftMs: number): void {
    writeFileSync(this.#clockFile, String(shiftMs));
  }

  heal(): void {
    for (const cable of this.cables.values()) cable.heal();
    this.continue();
    this.setClock(0);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
    for (const cable of this.cables.values()) await cable[Symbol.asyncDispose]();
  }

  get #clockFile(): string {
    return join(this.#surroundings.folder, `clock-${this.name}`);
  }

  #gone(process: CliProcess): void {
    if (this.process !== process) return;
    this.#keep(process);
    this.process = null;
  }

  #keep(process: CliProcess): void {
    this.#printed.push(process.stdout, process.stderr);
  }
}
