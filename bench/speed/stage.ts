import { rm, mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'csv-parse/sync';
import { stringify } from 'csv-stringify/sync';
import pg from 'pg';
import { pino } from 'pino';
import { openWorker, type WorkerApp } from '../../src/worker/open-worker.ts';
import { loadConfig } from '../../src/config/load.ts';
import { startEmbeddedPostgres } from '../../src/postgres/embedded-postgres.ts';
import { makeSuperuser } from '../../test/support/test-postgres.ts';
import type { SyncReport } from '../../src/sync/report.ts';
import { type Cost, measure, runNode, Service } from './measure.ts';

const bin = fileURLToPath(new URL('../../bin/leadsync.js', import.meta.url));
const bareLoop = fileURLToPath(new URL('bare-loop.ts', import.meta.url));
const script = fileURLToPath(new URL('script.ts', import.meta.url));

interface Edit {
  readonly id: string;
  readonly city: string;
}

/** A Postgres and a Leads service of their own, and a folder in which programs are measured. */
export class Stage implements AsyncDisposable {
  readonly folder: string;
  readonly service: Service;
  readonly #table: string;
  readonly #owned: AsyncDisposable;
  readonly #connectionString: string;
  readonly #postgresPid: number;
  #databases = 0;
  #database = '';

  private constructor(
    folder: string,
    table: string,
    service: Service,
    connectionString: string,
    postgresPid: number,
    owned: AsyncDisposable,
  ) {
    this.folder = folder;
    this.#table = join(folder, table);
    this.service = service;
    this.#connectionString = connectionString;
    this.#postgresPid = postgresPid;
    this.#owned = owned;
  }

  /** `table`: the file that leads are synced with, whose ending says the format. */
  static async open(leads: number, table = 'leads.csv'): Promise<Stage> {
    await using stack = new AsyncDisposableStack();
    const folder = await mkdtemp(join(tmpdir(), 'leadsync-bench-'));
    stack.defer(() => rm(folder, { recursive: true, force: true }));
    await makeSuperuser(join(folder, 'postgres'), true);
    const server = stack.adopt(await startEmbeddedPostgres(join(folder, 'postgres')), (one) => one.close());
    const service = stack.use(await Service.open(leads));
    const pid = Number(
      (await readFile(join(folder, 'postgres/postgres/data/postmaster.pid'), 'utf8')).split('\n')[0],
    );
    return new Stage(folder, table, service, server.connectionString, pid, stack.move());
  }

  /** A new database, and no table. */
  async clear(): Promise<void> {
    this.#databases += 1;
    this.#database = `bench${this.#databases}`;
    await using admin = await this.#connect();
    await admin.client.query(`create database ${this.#database}`);
    if (this.#databases > 1)
      await admin.client.query(`drop database bench${this.#databases - 1} with (force)`);
    // What the last one left to write is not to be paid for by the next.
    await admin.client.query('checkpoint');
    await rm(this.#table, { force: true });
    await rm(join(this.folder, 'script.csv'), { force: true });
  }

  /** Changes one of a hundred leads in the service, and another one of a hundred rows of the table: those are returned. */
  async editBothSides(round: number): Promise<readonly Edit[]> {
    await this.service.order({ edit: `Town ${round}` });
    const grid = parse(await readFile(this.#table), { bom: true });
    const city = grid[0]?.indexOf('City') ?? -1;
    const id = grid[0]?.indexOf('Lead ID') ?? -1;
    const edits: Edit[] = [];
    for (let index = 51; index < grid.length; index += 100) {
      const row = grid[index] ?? [];
      const edit = { id: row[id] ?? '', city: `Village ${round} ${index}` };
      row[city] = edit.city;
      edits.push(edit);
    }
    await writeFile(this.#table, stringify(grid));
    return edits;
  }

  get databaseUrl(): string {
    const url = new URL(this.#connectionString);
    url.pathname = `/${this.#database}`;
    return url.href;
  }

  /** `leadsync COMMAND`, and the requests that the service got from it. */
  async leadsync(command: readonly string[]): Promise<Cost & { readonly requests: number }> {
    const before = await this.service.order({ tell: 'stats' });
    const cost = await this.#measure([bin, ...command]);
    const after = await this.service.order({ tell: 'stats' });
    return { ...cost, requests: after.requests - before.requests };
  }

  /** A sync that has to succeed. */
  async sync(): Promise<Cost & { readonly requests: number }> {
    const cost = await this.leadsync(['sync', '--json']);
    const { status } = JSON.parse(cost.stdout) as SyncReport;
    if (status !== 'succeeded') throw new Error(cost.stdout);
    return cost;
  }

  /** The pages alone, and a PATCH for each of these edits. */
  async bareLoop(edits?: readonly Edit[]): Promise<Cost> {
    if (edits === undefined) return this.#measure([bareLoop]);
    const file = join(this.folder, 'edits');
    await writeFile(file, edits.map(({ id, city }) => `${id}\t${city}`).join('\n'));
    return this.#measure([bareLoop], { EDITS: file });
  }

  script(): Promise<Cost> {
    return this.#measure([script]);
  }

  /** Ms that `leadsync COMMAND` takes, in a process in which nothing else is loaded. */
  wallOf(command: readonly string[]): Promise<number> {
    return this.#wallOf([bin, ...command]);
  }

  /** The same of a Node that does nothing. */
  wallOfNothing(): Promise<number> {
    return this.#wallOf(['-e', '0']);
  }

  /** leadsync in this process. */
  async openApp(): Promise<WorkerApp> {
    const config = await loadConfig({ env: this.#environment(), cwd: this.folder });
    return openWorker(config, pino({ level: 'warn' }, pino.destination(2)));
  }

  async #wallOf(program: readonly string[]): Promise<number> {
    const { wallMs } = await runNode(program, { cwd: this.folder, env: this.#environment() });
    return wallMs;
  }

  async #measure(program: readonly string[], more: NodeJS.ProcessEnv = {}): Promise<Cost> {
    const env = this.#environment(more);
    const before = await this.#walBytes();
    const cost = await measure(program, { cwd: this.folder, env, postgresPid: this.#postgresPid });
    return { ...cost, walBytes: (await this.#walBytes()) - before };
  }

  async #walBytes(): Promise<number> {
    await using admin = await this.#connect();
    const { rows } = await admin.client.query<{ bytes: string }>(
      `select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::text as bytes`,
    );
    return Number(rows[0]?.bytes);
  }

  async #connect(): Promise<{ readonly client: pg.Client } & AsyncDisposable> {
    const client = new pg.Client({ connectionString: this.#connectionString });
    await client.connect();
    return { client, [Symbol.asyncDispose]: () => client.end() };
  }

  #environment(more: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv {
    const { url, apiKey } = this.service;
    return {
      // oxlint-disable-next-line node/no-process-env -- what programs are started with
      PATH: process.env['PATH'],
      HOME: this.folder,
      DATABASE_URL: this.databaseUrl,
      DATA_DIR: join(this.folder, 'data'),
      LOG_LEVEL: 'warn',
      LEADS_BASE_URL: url,
      LEADS_API_KEY: apiKey,
      TARGET: this.#table,
      LEADS_URL: url,
      LEADS_KEY: apiKey,
      TABLE: join(this.folder, 'script.csv'),
      ...more,
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#owned[Symbol.asyncDispose]();
  }
}
