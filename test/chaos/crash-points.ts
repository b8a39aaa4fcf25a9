import fs from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { basename } from 'node:path';
import type pg from 'pg';
import { withCalls } from '../../src/leads-api/leads-client.ts';
import type { LeadsPort } from '../../src/ports/leads-service.ts';
import type { Target } from '../../src/ports/target.ts';

/** Where a process dies: at one of its side effects, by name, before or after it took effect. */
export interface CrashPoint {
  readonly name: string;
  readonly way: 'before' | 'after';
}

const writing =
  /^\s*(?:insert into|update|delete from|truncate|copy|create|alter|drop)\s+(?:only\s+)?([\w.]+)/i;

/**
 * Stands between a process and everything outside of it: each request to the service, each access to the target, each
 * change in a folder, each commit and each statement that commits by itself passes here and gets a name, so that the
 * process can be made to die at it. Nothing is listed by hand: what the code does is what is found.
 */
export class CrashPoints {
  /** The side effects so far, in order. */
  readonly names: string[] = [];
  readonly #times = new Map<string, number>();
  readonly #end: CrashPoint | null;

  constructor(end: CrashPoint | null) {
    this.#end = end;
  }

  async #pass<T>(what: string, effect: () => Promise<T>, where = callers()): Promise<T> {
    const name = this.#nameOf(where + what);
    const isEnd = this.#end?.name === name;
    if (isEnd && this.#end?.way === 'before') die();
    try {
      return await effect();
    } finally {
      if (isEnd) die();
    }
  }

  /** The same effect that happens again gets a number, so that each name is one moment of the run. */
  #nameOf(full: string): string {
    const times = (this.#times.get(full) ?? 0) + 1;
    this.#times.set(full, times);
    const name = times === 1 ? full : `${full} (${times})`;
    this.names.push(name);
    return name;
  }

  pool(pool: pg.Pool): pg.Pool {
    return replaced(pool, {
      query: (...args) => this.#statement(pool, args),
      connect: async () => this.#client(await pool.connect()),
    });
  }

  #client(client: pg.PoolClient): pg.PoolClient {
    let open: { where: string; readonly tables: Set<string> } | null = null;
    return replaced(client, {
      query: (...args) => {
        const [sql] = args;
        const ended = open;
        if (sql === 'begin') open = { where: '', tables: new Set() };
        if (sql === 'commit' || sql === 'rollback') open = null;
        if (sql === 'commit' && ended !== null && ended.tables.size > 0) {
          const what = `commit ${[...ended.tables].join(', ')}`;
          return this.#pass(what, () => query(client, args), ended.where);
        }
        const table = tableWritten(sql);
        if (table === null || open === null) return this.#statement(client, args);
        // Where it began is known best; the stack at the commit no longer shows it.
        if (open.tables.size === 0) open.where = callers().replace(/\w+: $/, '');
        open.tables.add(table);
        return query(client, args);
      },
    });
  }

  #statement(db: pg.Pool | pg.PoolClient, args: readonly unknown[]): Promise<unknown> {
    const [sql] = args;
    if (tableWritten(sql) === null) return query(db, args);
    const [verb = ''] = /\w+/.exec(String(sql)) ?? [];
    return this.#pass(`${verb} ${tableWritten(sql)}`, () => query(db, args));
  }

  leads(leads: LeadsPort): LeadsPort {
    return withCalls(leads, {
      // Death finds several at work, also where the service was not asked often enough for that.
      lanes: 4,
      list: (...args) => this.#pass('GET /v1/leads', () => leads.list(...args)),
      get: (...args) => this.#pass('GET /v1/leads/ID', () => leads.get(...args)),
      create: (...args) => this.#pass('POST /v1/leads', () => leads.create(...args)),
      update: (...args) => this.#pass('PATCH /v1/leads/ID', () => leads.update(...args)),
      delete: (...args) => this.#pass('DELETE /v1/leads/ID', () => leads.delete(...args)),
    });
  }

  target(target: Target): Target {
    return {
      name: target.name,
      batchSize: target.batchSize,
      get requests() {
        return target.requests;
      },
      open: (...args) => this.#pass('target.open', () => target.open(...args)),
      write: (...args) => this.#pass('target.write', () => target.write(...args)),
    };
  }

  /** From now on every change that this process makes in a folder passes here as well. */
  watchFolders(): void {
    const { writeFile, rename, rm, open, mkdir } = fs;
    Object.assign(fs, {
      writeFile: (...args: Parameters<typeof writeFile>) =>
        this.#pass(`write ${fileName(args[0])}`, () => writeFile(...args)),
      rename: (...args: Parameters<typeof rename>) =>
        this.#pass(`rename to ${fileName(args[1])}`, () => rename(...args)),
      rm: (...args: Parameters<typeof rm>) => this.#pass(`rm ${fileName(args[0])}`, () => rm(...args)),
      mkdir: (...args: Parameters<typeof mkdir>) =>
        this.#pass(`mkdir ${fileName(args[0])}`, () => mkdir(...args)),
      open: (...args: Parameters<typeof open>) =>
        /[wa+]/.test(String(args[1]))
          ? this.#pass(`open ${fileName(args[0])}`, () => open(...args))
          : open(...args),
    });
    syncBuiltinESMExports();
  }
}

function die(): never {
  process.kill(process.pid, 'SIGKILL');
  throw new Error('still alive');
}

/**
 * The product's files that led here and the function of the store, as `push-leads > update-lead: recordOutcomes: `;
 * files that everything passes through are left out.
 */
function callers(): string {
  const before = Error.stackTraceLimit;
  Error.stackTraceLimit = 100;
  const { stack = '' } = new Error();
  Error.stackTraceLimit = before;
  const steps: string[] = [];
  let storeFunction = '';
  for (const line of stack.split('\n')) {
    const [, called = '', folder = '', file = ''] =
      /at (?:async )?(.*) \(.*\/src\/(?:([\w-]+)\/)(?:.*\/)?([\w-]+)\.ts:/.exec(line) ?? [];
    if (folder === 'store' && !['database', 'leases'].includes(file))
      storeFunction = `${called.replace(/^.*\./, '')}: `;
    // Which of the lanes' own steps the stack shows is chance.
    else if (['sync', 'targets'].includes(folder) && file !== 'concurrency' && !steps.includes(file))
      steps.unshift(file);
  }
  const inner = steps.length > 1 ? steps.filter((step) => step !== 'run') : steps;
  return `${inner.join(' > ')}: ${storeFunction}`;
}

function fileName(path: unknown): string {
  return basename(String(path)).replace(/(?<=-tmp-).*/, '…');
}

function tableWritten(sql: unknown): string | null {
  return typeof sql === 'string' ? (writing.exec(sql)?.[1] ?? null) : null;
}

/** pg's overloads as one function. */
function query(db: pg.Pool | pg.PoolClient, args: readonly unknown[]): Promise<unknown> {
  return (db.query as (...all: readonly unknown[]) => Promise<unknown>).call(db, ...args);
}

/** The object with some methods replaced; all others act on the object itself. */
function replaced<T extends object>(
  object: T,
  methods: Readonly<Record<string, (...args: unknown[]) => unknown>>,
): T {
  return new Proxy(object, {
    get(target, key) {
      const method = typeof key === 'string' ? methods[key] : undefined;
      if (method !== undefined) return method;
      const value: unknown = Reflect.get(target, key, target);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
}
