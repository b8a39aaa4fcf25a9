import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { pino } from 'pino';
import type { ConnectionConfig } from '../../src/config/config.ts';
import { Secret } from '../../src/config/secret.ts';
import { defaultFields, type FieldMapping } from '../../src/core/lead/mapping.ts';
import { LeadsClient, retryReads } from '../../src/leads-api/leads-client.ts';
import { planReminders } from '../../src/reminders/plan/plan-reminders.ts';
import type { SandboxOptions } from '../../src/demo/options.ts';
import type { Random } from '../../src/demo/random.ts';
import { type Sandbox, startSandbox } from '../../src/demo/sandbox.ts';
import type { Run } from '../../src/store/runs.ts';
import { advanceRun } from '../../src/sync/run.ts';
import type { Target } from '../../src/ports/target.ts';
import { createWorkbookTarget } from '../../src/targets/file/workbook-target.ts';
import { reminderConnection } from '../support/reminder-rules.ts';
import type { Format } from './customs.ts';
import { type Elsewhere, hideFile, switchFile } from './elsewhere.ts';
import { Crash, type Fate, Life, type Surroundings } from './life.ts';
import { Sessions } from './sessions.ts';
import type { SimClock } from './sim-clock.ts';
import type { SimDatabase } from './sim-database.ts';
import type { OnlineTable } from './online-table.ts';
import { openOnline, type OnlineSettings } from './open-online.ts';
import { pauseHeading } from './paused-rows.ts';
import { propertyOf } from './portal.ts';
import { CsvTable, type Table } from './table.ts';
import { Turns } from './turns.ts';
import { MemoryThrottle } from '../support/memory-throttle.ts';
import { Witness } from './witness.ts';
import { XlsxTable } from './xlsx-table.ts';

export interface WorldOptions extends OnlineSettings {
  readonly database: SimDatabase;
  readonly folder: string;
  readonly clock: SimClock;
  readonly random: Random;
  readonly sandbox: Partial<SandboxOptions>;
  readonly query: Readonly<Record<string, string>>;
  readonly fields: readonly FieldMapping[];
  readonly sync: Partial<ConnectionConfig['sync']>;
  readonly statusColumn: boolean;
  readonly pauseColumn: boolean;
  readonly format: Format;
  readonly trace: (event: string) => void;
  readonly heard: (operation: string) => void;
}

export type End =
  | { readonly kind: 'finished'; readonly run: Run }
  | { readonly kind: 'crashed' | 'stopped' }
  | { readonly kind: 'threw'; readonly error: unknown };

export interface LifePlan {
  readonly name: string;
  readonly fate: Fate | null;
  /** What a person has said that it may do. */
  readonly allow?: readonly string[];
  /** People may act now. */
  readonly tick: (operation: string) => Promise<void>;
  /** Absent: that of the world. */
  readonly connection?: ConnectionConfig;
}

const log = pino({ level: process.env['SIM_LOG'] ?? 'silent' });

/** A service, a file and a database, on which processes live one after the other, or at once. */
export class World implements AsyncDisposable {
  readonly sandbox: Sandbox;
  readonly table: Table;
  /** Null: the table is a file. */
  readonly online: OnlineTable | null;
  readonly witness: Witness;
  /** Where files lie. */
  readonly folder: string;
  readonly #witnessOfOthers = new Witness(true);
  /** The store's goes by the time of the database, which is not the simulation's. */
  readonly throttle = new MemoryThrottle();
  #connection: ConnectionConfig;
  readonly #options: WorldOptions;
  readonly #stack: AsyncDisposableStack;

  private constructor(
    sandbox: Sandbox,
    connection: ConnectionConfig,
    online: OnlineTable | null,
    options: WorldOptions,
    folder: string,
    stack: AsyncDisposableStack,
  ) {
    this.folder = folder;
    this.sandbox = sandbox;
    this.#connection = connection;
    this.online = online;
    const path = pathOf(connection);
    this.table = online?.table ?? (path.endsWith('.csv') ? new CsvTable(path) : new XlsxTable(path));
    this.witness = new Witness(Object.keys(options.query).length > 0);
    this.#options = options;
    this.#stack = stack;
  }

  static async open(options: WorldOptions): Promise<World> {
    await using stack = new AsyncDisposableStack();
    const folder = await mkdtemp(join(options.folder, 'leadsync-night-'));
    stack.defer(() => rm(folder, { recursive: true, force: true }));
    await options.database.empty();
    const sandbox = stack.use(await startSandbox({ leads: 0, clock: options.clock, ...options.sandbox }));
    const columns = {
      idColumn: 'Lead ID',
      ...(options.statusColumn && { statusColumn: 'Status' }),
      ...(options.pauseColumn && { pauseColumn: pauseHeading }),
    };
    const online = await openOnline(options, columns, folder);
    if (online !== null) stack.use(online);
    const fields = options.fields.length > 0 ? options.fields : defaultFields;
    const connection: ConnectionConfig = {
      name: 'main',
      timeZone: 'UTC',
      leads: {
        baseUrl: sandbox.url,
        apiKey: new Secret(sandbox.apiKey),
        pageSize: 100,
        query: options.query,
      },
      target: online?.config ?? {
        type: 'workbook',
        path: join(folder, `leads.${options.format}`),
        timeZone: 'UTC',
        ...columns,
      },
      fields:
        options.portal === null
          ? fields
          : fields.map((mapping) => ({ ...mapping, column: propertyOf(mapping.field) })),
      sync: {
        schedule: '0 2 * * *',
        timeZone: 'UTC',
        direction: 'two-way',
        onConflict: 'hold',
        onFirstSync: 'hold',
        onLeadDeleted: 'mark',
        onRowDeleted: 'restore',
        proveAfter: 0,
        match: 'off',
        matchBy: ['companyName', 'city'],
        limits: {
          maxDeletes: { amount: 100_000, percent: false },
          maxChanges: { amount: 100_000, percent: false },
        },
        ...options.sync,
      },
      retentionDays: 90,
      reminders: reminderConnection('main').reminders,
    };
    return new World(sandbox, connection, online, options, folder, stack.move());
  }

  /** Processes that work on the run at once until it ends one way or another. */
  async live(plans: readonly LifePlan[]): Promise<End[]> {
    const { database, clock, random } = this.#options;
    const turns = new Turns(random, clock, (pids) => database.isBlocked(pids));
    const lives = plans.map((plan) => {
      const around: Surroundings = {
        clock,
        turns,
        witness: plan.connection === undefined ? this.witness : this.#witnessOfOthers,
        tick: plan.tick,
        steal: () => this.#stealLease(),
        heard: (operation) => {
          if (operation.startsWith('insert into runs')) this.witness.run++;
          this.#options.heard(operation);
        },
      };
      return { plan, life: new Life(plan.fate, around) };
    });
    return Promise.all(
      lives.map(async ({ plan, life }) => {
        try {
          return await this.#live(life, plan);
        } finally {
          await life.end();
        }
      }),
    );
  }

  async #live(life: Life, { name, allow = [], connection = this.connection }: LifePlan): Promise<End> {
    const { database, clock, trace } = this.#options;
    const sessions = new Sessions(database.pool, life, clock);
    await using stack = new AsyncDisposableStack();
    stack.defer(() => database.kill(sessions.end()));
    const { baseUrl, apiKey, query } = connection.leads;
    const { pool } = sessions;
    const { throttle } = this;
    const sleep = (ms: number): Promise<void> => Promise.resolve(clock.pass(ms));
    const leads = stack.use(new LeadsClient({ baseUrl, apiKey, query, throttle, clock, sleep }));
    const context = {
      connection,
      pool,
      leads: retryReads(life.leads(leads), 0),
      target: life.target(await this.#target(life, connection)),
      log,
      clock,
    };
    const allowed = [...allow, 'first-leads'];
    const request = { mode: 'sync', allow: allowed, maxAttempts: 4, isUnattended: true } as const;
    try {
      for (let turn = 0; turn < 400; turn++) {
        const result = await advanceRun(context, request, life.stop.signal);
        if (result.kind === 'finished') {
          trace(`${name}: run ${result.run.id} after ${life.operations} operations: ${brief(result.run)}`);
          await planReminders(pool, connection);
          return { kind: 'finished', run: result.run };
        }
        if (result.why === 'stopping') {
          trace(`${name}: stopped at operation ${life.operations}`);
          return { kind: 'stopped' };
        }
        await life.wait(result.afterMs);
      }
      throw new Error('the run does not end');
    } catch (error) {
      if (!life.crashed) return { kind: 'threw', error };
      trace(
        `${name}: ${error instanceof Crash ? error.message : String(error)} (operation ${life.operations})`,
      );
      return { kind: 'crashed' };
    }
  }

  async #target(life: Life, { name, target, fields }: ConnectionConfig): Promise<Target> {
    if (this.online !== null && name === this.connection.name)
      return this.online.target(life, this.connection, this.#options.database.pool);
    if (target.type !== 'workbook') throw new Error('a table that is not there');
    return createWorkbookTarget(
      { ...target, fields },
      { dataDir: '', msgraph: {}, msgraphUrl: 'http://127.0.0.1:9' },
    );
  }

  /** As it is set just now. */
  get connection(): ConnectionConfig {
    return this.online === null ? this.#connection : { ...this.#connection, target: this.online.config };
  }

  /** The stage of the leads that a filter shows, when there is one. */
  get openStage(): string {
    return this.#options.sandbox.stages === undefined ? 'open' : 'won';
  }

  /** Whether the list shows a lead, as things are. */
  lists({ stage }: { readonly stage?: string | undefined }): boolean {
    return this.#connection.leads.query['stage'] === undefined || stage === this.openStage;
  }

  /** From now on the list shows leads of one stage alone, or of all. */
  filter(isOn: boolean): void {
    const { leads } = this.#connection;
    const query = { ...this.#options.query, ...(isOn && { stage: this.openStage }) };
    this.#connection = { ...this.#connection, leads: { ...leads, query } };
    this.witness.isFiltered = Object.keys(query).length > 0;
  }

  /** Another table becomes the one that is kept in step; people go on working in the first one. Null: it cannot. */
  switchAway(random: Random): Elsewhere | null {
    if (this.online !== null) return this.online.switchAway?.(random) ?? null;
    return switchFile(pathOf(this.#connection), (path) => {
      const { target } = this.#connection;
      if (target.type === 'workbook') this.#connection = { ...this.#connection, target: { ...target, path } };
    });
  }

  /** The table is away for a while. Null: it cannot be, or there is none yet. */
  hide(random: Random): Elsewhere | null {
    if (this.online !== null) return this.online.hide?.(random) ?? null;
    const path = pathOf(this.#connection);
    return existsSync(path) ? hideFile(path) : null;
  }

  /** Some people leave the table open in a program that locks it. Returns whether it was closed. */
  openInEditor(): boolean {
    const lock = this.#lock;
    if (lock === null || existsSync(lock)) return false;
    writeFileSync(lock, ',anna,desk,,;');
    return true;
  }

  closeInEditor(): void {
    if (this.#lock !== null) rmSync(this.#lock, { force: true });
  }

  /** Null: no program has to open it. */
  get #lock(): string | null {
    const path = this.online === null ? pathOf(this.connection) : this.online.file;
    return path === undefined ? null : join(dirname(path), `.~lock.${basename(path)}#`);
  }

  async #stealLease(): Promise<void> {
    const { database, clock, trace } = this.#options;
    // Not one that a transaction holds fast just now: nobody could take it either.
    const { rowCount } = await database.pool.query(
      `update leases set expires_at = timestamptz '${clock.iso}' - interval '1 s'
       where name in (select name from leases for update skip locked)`,
    );
    trace(`the lease expires${rowCount === 0 ? ' not, it is held fast' : ''}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stack.disposeAsync();
  }
}

/** Of a file; empty for what is none. */
function pathOf({ target }: ConnectionConfig): string {
  return target.type === 'workbook' ? target.path : '';
}

function brief(run: Run): string {
  const { problems = [], ...rest } = run.report as { problems?: { code: string }[] };
  const { created, updated, deleted, held, putOff } = rest as Record<string, unknown>;
  const codes = problems.map(({ code }) => code).join(' ');
  return `${run.status} ${JSON.stringify({ created, updated, deleted, held, putOff })} ${codes}`;
}
