import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { pino } from 'pino';
import { systemClock } from '../../src/sync/clock.ts';
import type { ConnectionConfig } from '../../src/config/config.ts';
import { Secret } from '../../src/config/secret.ts';
import { defaultFields } from '../../src/lead/mapping.ts';
import { createLeadsClient } from '../../src/leads-api/leads-client.ts';
import type { SandboxOptions } from '../../src/sandbox/options.ts';
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.ts';
import { openDatabase } from '../../src/store/database.ts';
import { migrate } from '../../src/store/migrate.ts';
import type { Run } from '../../src/store/runs.ts';
import { createThrottle } from '../../src/store/throttles.ts';
import { advanceRun } from '../../src/sync/run.ts';
import { createCsvTarget } from '../../src/targets/workbook/csv-target.ts';
import { Sheet } from '../support/sheet.ts';
import { Crash, type Fate, Life } from './life.ts';

export interface WorldOptions {
  readonly server: string;
  readonly name: string;
  readonly sandbox: Partial<SandboxOptions>;
  readonly sync: Partial<ConnectionConfig['sync']>;
  readonly statusColumn: boolean;
  readonly trace: (event: string) => void;
}

export type End = { readonly kind: 'finished'; readonly run: Run } | { readonly kind: 'crashed' | 'stopped' };

/** A service, a file and a database, on which processes live one after the other, or at once. */
export class World implements AsyncDisposable {
  readonly sandbox: Sandbox;
  readonly sheet: Sheet;
  readonly pool: pg.Pool;
  readonly connection: ConnectionConfig;
  readonly #url: string;
  readonly #trace: (event: string) => void;
  readonly #stack: AsyncDisposableStack;

  private constructor(
    sandbox: Sandbox,
    url: string,
    pool: pg.Pool,
    connection: ConnectionConfig,
    trace: (event: string) => void,
    stack: AsyncDisposableStack,
  ) {
    this.sandbox = sandbox;
    this.#url = url;
    this.pool = pool;
    this.connection = connection;
    this.sheet = new Sheet(connection.target.path);
    this.#trace = trace;
    this.#stack = stack;
  }

  static async open(options: WorldOptions): Promise<World> {
    await using stack = new AsyncDisposableStack();
    const folder = await mkdtemp(join(tmpdir(), 'leadsync-night-'));
    stack.defer(() => rm(folder, { recursive: true, force: true }));
    await administrate(options.server, `create database ${options.name} template template0`);
    stack.defer(() => administrate(options.server, `drop database ${options.name} with (force)`));
    const url = new URL(options.server);
    url.pathname = `/${options.name}`;
    const pool = stack.adopt(openDatabase({ connectionString: url.href }), (opened) => opened.end());
    await migrate(pool);
    const sandbox = stack.use(await startSandbox({ leads: 0, ...options.sandbox }));
    const connection: ConnectionConfig = {
      name: 'main',
      leads: { baseUrl: sandbox.url, apiKey: new Secret(sandbox.apiKey), pageSize: 100, query: {} },
      target: {
        type: 'workbook',
        path: join(folder, 'leads.csv'),
        idColumn: 'Lead ID',
        timeZone: 'UTC',
        ...(options.statusColumn && { statusColumn: 'Status' }),
      },
      fields: defaultFields,
      sync: {
        schedule: '0 2 * * *',
        timeZone: 'UTC',
        direction: 'two-way',
        onConflict: 'hold',
        onFirstSync: 'hold',
        onLeadDeleted: 'mark',
        onRowDeleted: 'restore',
        limits: {
          maxDeletes: { amount: 100_000, percent: false },
          maxChanges: { amount: 100_000, percent: false },
        },
        ...options.sync,
      },
      retentionDays: 90,
    };
    return new World(sandbox, url.href, pool, connection, options.trace, stack.move());
  }

  /** A process that works on the run until it ends one way or another. */
  async live(fate: Fate | null, tick: (operation: string) => void, name: string): Promise<End> {
    await using stack = new AsyncDisposableStack();
    const sessions = new Set<pg.Client>();
    const pool = openDatabase({ connectionString: this.#url });
    pool.on('connect', (client) => sessions.add(client as unknown as pg.Client));
    stack.defer(async () => {
      // A process that dies takes its sessions along, whatever they were doing.
      if (life.crashed)
        for (const session of sessions)
          (session as unknown as { connection: { stream: { destroy(): void } } }).connection.stream.destroy();
      const ended = pool.end();
      if (!life.crashed) await ended;
    });
    const life = new Life(fate, tick, () => this.#stealLease());
    const { baseUrl, apiKey, query } = this.connection.leads;
    const lifePool = life.pool(pool);
    const throttle = createThrottle(lifePool, baseUrl, apiKey.reveal());
    const leads = stack.use(createLeadsClient({ baseUrl, apiKey, query, throttle, log: () => undefined }));
    const target = createCsvTarget({ ...this.connection.target, fields: this.connection.fields });
    const context = {
      connection: this.connection,
      pool: lifePool,
      leads: life.leads(leads),
      target: life.target(target),
      clock: systemClock,
      log: pino({ level: process.env['SIM_LOG'] ?? 'silent' }),
    };
    try {
      for (let turn = 0; turn < 400; turn++) {
        const result = await advanceRun(context, { mode: 'sync', allow: [], patience: 4 }, life.stop.signal);
        if (result.kind === 'finished') {
          const { run } = result;
          const { problems = [], ...rest } = run.report as { problems?: { code: string; message: string }[] };
          const { created, updated, deleted, held, putOff } = rest as Record<string, unknown>;
          this.#trace(
            `${name}: run ${run.id} ${run.status} after ${life.operations} operations ${JSON.stringify({ created, updated, deleted, held, putOff })} ${problems.map(({ code }) => code).join(' ')}`,
          );
          return { kind: 'finished', run };
        }
        if (result.why === 'stopping') {
          this.#trace(`${name}: stopped at operation ${life.operations}`);
          return { kind: 'stopped' };
        }
        if (result.why === 'settling') await this.#letPass(result.afterMs);
        else if (result.why === 'throttled') await sleep(result.afterMs);
        else if (result.why === 'busy') await sleep(25);
      }
      throw new Error('the run does not end');
    } catch (error) {
      if (!life.crashed) throw error;
      this.#trace(
        `${name}: ${error instanceof Crash ? error.message : String(error)} (operation ${life.operations})`,
      );
      return { kind: 'crashed' };
    }
  }

  /** The attempts to create become so much older: the same as waiting. */
  async #letPass(ms: number): Promise<void> {
    if (ms === 0) return;
    await this.pool.query(`update intents set attempted_at = attempted_at - ($1 + 50) * interval '1 ms'`, [
      ms,
    ]);
  }

  async #stealLease(): Promise<void> {
    this.#trace('the lease expires');
    // Not awaited for ever: the transaction that is held up here may itself hold the lease's lock.
    const stolen = this.pool
      .query(`update leases set expires_at = now() - interval '1 s'`)
      .catch(() => undefined);
    await Promise.race([stolen, sleep(20)]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stack.disposeAsync();
  }
}

async function administrate(server: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: server });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
