import { readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { openWorker, type WorkerApp } from '../../src/worker/open-worker.ts';
import { loadConfig } from '../../src/config/load.ts';
import { type Sandbox, startSandbox } from '../../src/demo/sandbox.ts';
import type { SandboxOptions } from '../../src/demo/options.ts';
import type { Run, RunMode } from '../../src/store/runs.ts';
import type { SyncReport } from '../../src/sync/report.ts';
import { advanceRun } from '../../src/sync/run.ts';
import { type CliOptions, CliProcess, type CliResult } from './cli.ts';
import { createTestDatabase, type TestDatabase } from './database.ts';
import type { TestRedis } from './redis.ts';
import { assertNotInRedis, assertNotLogged, assertNotStored, secretsOf } from './secrets.ts';
import { Sheet } from './sheet.ts';

/** A connection as leadsync.yaml holds it, all parts optional: what is not given is filled in for the sandbox. */
export interface ConnectionSettings {
  readonly leads?: object;
  readonly target?: object;
  readonly fields?: object;
  readonly sync?: object;
  readonly reminders?: object;
}

export interface WorkspaceOptions {
  readonly sandbox?: Partial<SandboxOptions>;
  readonly connection?: ConnectionSettings;
  /** More connections after the first, by name. */
  readonly others?: Readonly<Record<string, ConnectionSettings>>;
  /** What stands beside the connections, such as `recipients`. */
  readonly beside?: object;
  readonly env?: NodeJS.ProcessEnv;
  /** Where the jobs are; default: the Postgres that holds the state. */
  readonly redis?: TestRedis;
}

export interface RunOptions {
  readonly mode?: RunMode;
  readonly allow?: readonly string[];
  /** Whether the guard asks before a first sync makes leads of rows; by default somebody has allowed that. */
  readonly asks?: boolean;
  /** Tries before a fault ends the run. */
  readonly maxAttempts?: number;
  /** Default: the first. */
  readonly connection?: string;
}

export const connectionName = 'main';

/** A sandbox, a folder with leadsync.yaml and the CSV file, and a database, all for one test and gone afterwards. */
export class Workspace implements AsyncDisposable {
  readonly folder: string;
  readonly sandbox: Sandbox;
  readonly database: TestDatabase;
  readonly sheet: Sheet;
  readonly env: NodeJS.ProcessEnv;
  readonly #stack: AsyncDisposableStack;
  /** Secrets that processes were told. */
  readonly #told = new Set<string>();
  /** Processes that log what may be kept for long. */
  readonly #discreet: CliProcess[] = [];
  readonly #redis: TestRedis | undefined;
  /** Those that runs in this process work with, by what they were opened with. */
  readonly #apps: Map<string, WorkerApp>;

  private constructor(
    folder: string,
    sandbox: Sandbox,
    database: TestDatabase,
    env: NodeJS.ProcessEnv,
    stack: AsyncDisposableStack,
    redis: TestRedis | undefined,
    apps = new Map<string, WorkerApp>(),
  ) {
    this.#redis = redis;
    this.#apps = apps;
    this.folder = folder;
    this.sandbox = sandbox;
    this.database = database;
    this.sheet = new Sheet(join(folder, 'leads.csv'));
    this.#stack = stack;
    this.env = {
      PATH: process.env['PATH'],
      HOME: folder,
      LEADS_API_KEY: sandbox.apiKey,
      DATABASE_URL: database.url,
      DATA_DIR: join(folder, 'data'),
      PORT: '0',
      ...env,
    };
  }

  static async open({
    sandbox = {},
    connection = {},
    others = {},
    beside = {},
    env = {},
    redis,
  }: WorkspaceOptions = {}): Promise<Workspace> {
    await using stack = new AsyncDisposableStack();
    const folder = await mkdtemp(join(tmpdir(), 'leadsync-sync-'));
    stack.defer(() => rm(folder, { recursive: true, force: true }));
    const database = stack.adopt(await createTestDatabase(), (made) => made.drop());
    const service = stack.use(await startSandbox({ leads: 0, ...sandbox }));
    const queueIn = redis === undefined ? {} : { REDIS_URL: redis.url };
    const workspace = new Workspace(folder, service, database, { ...queueIn, ...env }, stack.move(), redis);
    workspace.configure(connection, others, beside);
    return workspace;
  }

  /** The table of one of the other connections. */
  sheetOf(name: string): Sheet {
    return new Sheet(join(this.folder, `${name}.csv`));
  }

  /** Writes leadsync.yaml (JSON is YAML). */
  configure(
    connection: ConnectionSettings,
    others: Readonly<Record<string, ConnectionSettings>> = {},
    beside: object = {},
  ): void {
    // Two syncs in a row stand for those of two nights.
    const filled = (path: string, { leads = {}, target = {}, sync = {}, ...rest }: ConnectionSettings) => ({
      leads: { baseUrl: this.sandbox.url, apiKey: '${LEADS_API_KEY}', ...leads },
      target: { type: 'workbook', path, ...target },
      sync: { proveAfter: '0m', ...sync },
      ...rest,
    });
    const more = Object.entries(others).map(([name, one]) => [name, filled(`./${name}.csv`, one)]);
    const connections = {
      [connectionName]: filled('./leads.csv', connection),
      ...Object.fromEntries(more),
    };
    writeFileSync(join(this.folder, 'leadsync.yaml'), JSON.stringify({ connections, ...beside }));
  }

  /** The same table and service with a state of its own: another machine, or this one after its state was lost. Not to be disposed. */
  withState(databaseUrl: string): Workspace {
    const { folder, sandbox, database, env } = this;
    return new Workspace(
      folder,
      sandbox,
      database,
      { ...env, DATABASE_URL: databaseUrl },
      this.#stack,
      this.#redis,
      this.#apps,
    );
  }

  /** Everything in this process, as a command builds it. */
  async openApp(): Promise<WorkerApp> {
    return openWorker(await loadConfig({ env: this.env, cwd: this.folder }), pino({ level: 'silent' }));
  }

  /**
   * A run from its beginning (or its checkpoint) to its end in this process; waits whenever the run says so, but for creates
   * that the sandbox has long answered: they are made older.
   */
  async run({
    mode = 'sync',
    allow = [],
    asks = false,
    maxAttempts = 3,
    connection = connectionName,
  }: RunOptions = {}): Promise<Run> {
    const app = await this.#standingApp();
    const context = app.contexts.get(connection);
    if (context === undefined) throw new Error('the connection is not configured');
    const request = { mode, allow: asks ? allow : [...allow, 'first-leads'], maxAttempts };
    for (;;) {
      const result = await advanceRun(context, request, new AbortController().signal);
      if (result.kind === 'finished') return result.run;
      if (result.why === 'settling') await this.#age(result.afterMs);
      else await sleep(result.afterMs);
    }
  }

  /** One for all runs of the same configuration: its connections are warm, as those of a worker are. */
  async #standingApp(): Promise<WorkerApp> {
    const key = JSON.stringify([this.env, readFileSync(join(this.folder, 'leadsync.yaml'), 'utf8')]);
    const known = this.#apps.get(key);
    if (known !== undefined) return known;
    const opened = await this.openApp();
    this.#apps.set(key, opened);
    return opened;
  }

  /** Closes what runs in this process have left open: no connection to the database stays. */
  async rest(): Promise<void> {
    const apps = [...this.#apps.values()];
    this.#apps.clear();
    await Promise.all(apps.map((app) => app[Symbol.asyncDispose]()));
  }

  async #age(ms: number): Promise<void> {
    await this.database.pool.query(
      `update actions set attempted_at = attempted_at - make_interval(secs => $1) where intent is not null`,
      [ms / 1000],
    );
  }

  /** A whole sync in this process. */
  async sync(options: RunOptions = {}): Promise<SyncReport> {
    return (await this.run(options)).report as SyncReport;
  }

  /** Starts the real command. */
  start(
    args: readonly string[],
    options: CliOptions & { readonly env?: NodeJS.ProcessEnv } = {},
  ): CliProcess {
    const env = { ...this.env, ...options.env };
    for (const secret of secretsOf(env)) this.#told.add(secret);
    const started = this.#stack.use(new CliProcess(args, { ...options, cwd: this.folder, env }));
    if (!['debug', 'trace'].includes(env['LOG_LEVEL'] ?? '')) this.#discreet.push(started);
    return started;
  }

  /** Runs the real command to its end. */
  cli(...args: readonly string[]): Promise<CliResult> {
    return this.start(args).ended;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await using _stack = this.#stack;
    await this.rest();
    for (const { stderr } of this.#discreet) assertNotLogged(stderr, personalData(this.sandbox));
    if (this.#told.size === 0) return;
    await assertNotStored(this.database.pool, join(this.folder, 'data'), [...this.#told]);
    if (this.#redis !== undefined) await assertNotInRedis(this.#redis, [...this.#told]);
  }
}

/** What is in no log: names, and addresses of people. Shorter ones may be parts of other words. */
function personalData({ leads }: Sandbox): readonly string[] {
  const texts = leads.list().flatMap(({ companyName, ownerEmail }) => [companyName, ownerEmail]);
  return texts.filter((text): text is string => typeof text === 'string' && text.length >= 8);
}
