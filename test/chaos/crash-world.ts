import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readdirSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type pg from 'pg';
import type { SandboxLead } from '../../src/demo/lead-table.ts';
import { type Sandbox, startSandbox } from '../../src/demo/sandbox.ts';
import { openDatabase } from '../../src/store/database.ts';
import { migrate } from '../../src/store/migrate.ts';
import type { Run, RunMode } from '../../src/store/runs.ts';
import { administrate } from '../support/administrate.ts';
import { compiledEnv } from '../support/compiled.ts';
import { Sheet } from '../support/sheet.ts';
import { type LifeOptions, live } from './crash-life.ts';
import type { CrashPoint } from './crash-points.ts';
import type { Scene } from './crash-scenes.ts';

const child = fileURLToPath(new URL('crash-child.ts', import.meta.url));

/** How everything stands at one moment: where a world can begin. */
export interface Beginning {
  readonly template: string;
  readonly leads: readonly SandboxLead[];
  readonly file: string | null;
}

/** A service, a file and a database, as they were at a beginning, for one life or more. */
export class CrashWorld implements AsyncDisposable {
  readonly sandbox: Sandbox;
  readonly sheet: Sheet;
  readonly folder: string;
  readonly database: string;
  readonly pool: pg.Pool;
  readonly life: LifeOptions;
  readonly #stack: AsyncDisposableStack;

  private constructor(
    sandbox: Sandbox,
    folder: string,
    database: string,
    pool: pg.Pool,
    life: LifeOptions,
    stack: AsyncDisposableStack,
  ) {
    this.sandbox = sandbox;
    this.folder = folder;
    this.sheet = new Sheet(life.path);
    this.database = database;
    this.pool = pool;
    this.life = life;
    this.#stack = stack;
  }

  static async open(server: string, scene: Scene, from: Beginning): Promise<CrashWorld> {
    await using stack = new AsyncDisposableStack();
    const folder = await mkdtemp(join(tmpdir(), 'leadsync-crash-'));
    stack.defer(() => rm(folder, { recursive: true, force: true }));
    const name = newName();
    await copyDatabase(server, name, from.template);
    stack.defer(() => administrate(server, `drop database ${name} with (force)`));
    const database = databaseUrl(server, name);
    const pool = stack.adopt(openDatabase({ connectionString: database }), async (opened) => {
      if (!opened.ended) await opened.end();
    });
    const sandbox = stack.use(await startSandbox({ leads: 0, ...scene.service }));
    for (const lead of from.leads) sandbox.leads.add(lead);
    const path = join(folder, 'leads.csv');
    if (from.file !== null) writeFileSync(path, from.file);
    const life = { baseUrl: sandbox.url, apiKey: sandbox.apiKey, path, dataDir: folder, sync: scene.sync };
    return new CrashWorld(sandbox, folder, database, pool, life, stack.move());
  }

  /** A sync in this process, or a run in another mode. */
  sync(mode: RunMode = 'sync'): Promise<Run> {
    return live({ ...this.life, mode }, this.pool);
  }

  /** A sync in a process of its own, which dies at `end`; without one the names of its side effects are returned. */
  async syncInChild(end: CrashPoint | null, mode: RunMode = 'sync'): Promise<readonly string[]> {
    const life: LifeOptions = { ...this.life, mode };
    const { code, signal, stdout, stderr } = await runChild(
      JSON.stringify({ database: this.database, life, end }),
    );
    if (end !== null && signal === 'SIGKILL') return [];
    // Outcomes that come at the same time are committed together: a further commit may not come.
    if (end !== null && code === 0 && / commit .* \(\d+\)$/.test(end.name)) return [];
    if (end === null && code === 0) return JSON.parse(stdout) as string[];
    throw new Error(`the child ended with ${signal ?? code}, not at ${end?.name ?? 'its end'}\n${stderr}`);
  }

  files(): readonly string[] {
    return readdirSync(this.folder);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stack.disposeAsync();
  }
}

/** Beginnings on one server; their databases, and what was compiled for the children, are gone at the end. */
export class Beginnings implements AsyncDisposable {
  readonly #server: string;
  readonly #templates: string[] = [];

  constructor(server: string) {
    this.#server = server;
  }

  /** Lets the scene's past happen and keeps what it left behind. */
  async of(scene: Scene): Promise<Beginning> {
    const template = newName();
    await copyDatabase(this.#server, template, 'template0');
    this.#templates.push(template);
    const pool = openDatabase({ connectionString: databaseUrl(this.#server, template) });
    await migrate(pool);
    await pool.end();
    let now: Beginning = { template, leads: [], file: null };
    const past = { ...scene, service: { ...scene.service, faults: [], createReply: 'lead' as const } };
    for (const day of scene.days) {
      const isLast = day === scene.days.at(-1);
      now = await this.#live(past, now, async (world) => {
        day(world);
        if (!isLast) await world.sync();
      });
    }
    return now;
  }

  async #live(
    scene: Scene,
    from: Beginning,
    happen: (world: CrashWorld) => Promise<void>,
  ): Promise<Beginning> {
    const template = newName();
    {
      await using world = await CrashWorld.open(this.#server, scene, from);
      await happen(world);
      await world.pool.end();
      const { pathname } = new URL(world.database);
      await copyDatabase(this.#server, template, pathname.slice(1));
      this.#templates.push(template);
      const file = world.files().includes('leads.csv') ? world.sheet.text() : null;
      return { template, leads: world.sandbox.leads.list(), file };
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const template of this.#templates) await administrate(this.#server, `drop database ${template}`);
  }
}

interface ChildEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

function runChild(argument: string): Promise<ChildEnd> {
  return new Promise((resolve) => {
    const started = execFile(process.execPath, [child, argument], { env: compiledEnv }, (_, stdout, stderr) =>
      resolve({ code: started.exitCode, signal: started.signalCode, stdout, stderr }),
    );
  });
}

function newName(): string {
  return `crash_${randomBytes(8).toString('hex')}`;
}

function databaseUrl(server: string, name: string): string {
  const url = new URL(server);
  url.pathname = `/${name}`;
  return url.href;
}

/** File by file: for small databases this takes a third of the time that the default takes. */
function copyDatabase(server: string, name: string, template: string): Promise<void> {
  return administrate(server, `create database ${name} template ${template} strategy file_copy`);
}
