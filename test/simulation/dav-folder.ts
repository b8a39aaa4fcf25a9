import { existsSync, mkdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { ConnectionConfig, WorkbookConfig } from '../../src/config/config.ts';
import type { Target } from '../../src/ports/target.ts';
import type { Random } from '../../src/sandbox/random.ts';
import { createWorkbookTarget } from '../../src/targets/file/workbook-target.ts';
import { type DavFate, type DavHabits, type DavServer, startDavServer } from '../support/dav-server.ts';
import type { Customs } from './customs.ts';
import { type Elsewhere, hideFile, switchFile } from './elsewhere.ts';
import { FaultChances } from './fault-chances.ts';
import type { Life } from './life.ts';
import type { Moment, OnlineTable } from './online-table.ts';
import { randomDavFaults } from './random-faults.ts';
import { CsvTable, type Desk, type Table } from './table.ts';
import { XlsxTable } from './xlsx-table.ts';

/** How a WebDAV server of the simulation behaves, and which file lies there. */
export interface DavSettings {
  readonly ending: 'csv' | 'xlsx';
  readonly habits: DavHabits;
}

/** Servers on which nothing may be lost: with strong ETags, by If-Match or by a rename on a condition. */
export function randomDav(random: Random): DavSettings {
  return {
    ending: random.pick(['csv', 'csv', 'xlsx']),
    habits: random.pick<DavHabits>([{}, { isSilent: true }, { isApache: true }, { isApache: true }]),
  };
}

type Columns = Pick<WorkbookConfig, 'idColumn' | 'statusColumn'>;

/** A file on a WebDAV server that people save from their own programs, also between any two requests of a process. */
export class DavFolder implements OnlineTable {
  readonly table: Table;
  config: WorkbookConfig;
  /** Nothing may be written over. */
  readonly typed: ReadonlySet<string> = new Set();
  /** Where the server keeps it. */
  readonly file: string;
  readonly #server: DavServer;
  readonly #dataDir: string;
  readonly #faults = new FaultChances<DavFate>();
  readonly #person: Person;
  /** The process whose operation is under way. */
  #working: { readonly life: Life; readonly isWrite: boolean } | null = null;
  #now: Moment | null = null;

  private constructor(server: DavServer, file: string, columns: Columns, random: Random, dataDir: string) {
    const path = `${server.origin}/${basename(file)}`;
    this.file = file;
    this.#server = server;
    this.#dataDir = dataDir;
    this.#person = new Person(path, random);
    this.table = file.endsWith('.csv') ? new CsvTable(file, this.#person) : new XlsxTable(file, this.#person);
    this.config = { type: 'workbook', path, timeZone: 'UTC', ...columns };
    server.fate = (method, at) => this.#carryOut(method, at);
  }

  static async open(
    { ending, habits }: DavSettings,
    columns: Columns,
    random: Random,
    dataDir: string,
  ): Promise<DavFolder> {
    const folder = join(dataDir, 'dav');
    mkdirSync(folder);
    const server = await startDavServer(folder, habits);
    return new DavFolder(server, join(folder, `leads.${ending}`), columns, random, dataDir);
  }

  get now(): Moment | null {
    return this.#now;
  }

  async target(life: Life, { fields }: Pick<ConnectionConfig, 'fields'>): Promise<Target> {
    const target = await createWorkbookTarget(
      { ...this.config, fields },
      { dataDir: this.#dataDir, msgraph: { url: 'http://127.0.0.1:9', loginUrl: 'http://127.0.0.1:9' } },
    );
    return new Proxy(target, {
      get: (_, key) => {
        const value: unknown = Reflect.get(target, key, target);
        if (typeof value !== 'function') return value;
        return async (...args: unknown[]): Promise<unknown> => {
          this.#working = { life, isWrite: key === 'write' };
          try {
            return await (value.apply(target, args) as Promise<unknown>);
          } finally {
            this.#working = null;
          }
        };
      },
    });
  }

  fail(random: Random): string | null {
    return this.#faults.fail(randomDavFaults(random), random);
  }

  recover(): void {
    this.#faults.recover();
  }

  switchAway(): Elsewhere {
    return switchFile(this.file, (file) => {
      this.config = { ...this.config, path: `${this.#server.origin}/${basename(file)}` };
    });
  }

  hide(): Elsewhere | null {
    return existsSync(this.file) ? hideFile(this.file) : null;
  }

  habits(customs: Customs): Customs {
    return customs;
  }

  /** Who saves has seen the whole file: all that changes it is possible. */
  atOnce({ weights }: Customs): Customs {
    return { weights: { ...weights, 'edit-lead': 0, 'add-lead': 0, 'delete-lead': 0 } };
  }

  /** People act and processes die between any two requests. */
  async #carryOut(method: string, path: string): Promise<DavFate> {
    const working = this.#working;
    if (working === null || this.#person.isAtWork) return null;
    const isPut = method === 'PUT' && path === `/${basename(this.file)}`;
    const isStoring = working.isWrite && (isPut || method === 'MOVE');
    this.#now = { kind: isStoring ? 'storing' : null, isMoved: false };
    const end = await working.life.request(method);
    this.#now = null;
    return end ?? this.#faults.next();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server[Symbol.asyncDispose]();
  }
}

/** The program in which somebody works: it stores only what it has opened, or whatever lies there. */
class Person implements Desk {
  isAtWork = false;
  readonly #url: string;
  readonly #random: Random;
  #opened: string | null = null;

  constructor(url: string, random: Random) {
    this.#url = url;
    this.#random = random;
  }

  async opens(): Promise<void> {
    const { ok, headers } = await this.#ask({ method: 'HEAD' });
    this.#opened = ok ? headers.get('etag') : null;
  }

  async saves(_: string, content: string | Uint8Array): Promise<void> {
    const tag = this.#opened;
    const careful: Record<string, string> = tag === null ? { 'if-none-match': '*' } : { 'if-match': tag };
    const headers = this.#random.below(2) === 0 ? {} : careful;
    const { ok, status } = await this.#ask({ method: 'PUT', headers, body: Buffer.from(content) });
    if (!ok) throw new Error(`the server refuses what a person saves: ${status}`);
    await this.opens();
  }

  async #ask(request: RequestInit): Promise<Response> {
    this.isAtWork = true;
    try {
      return await fetch(this.#url, request);
    } finally {
      this.isAtWork = false;
    }
  }
}
