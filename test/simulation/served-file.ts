import { existsSync, mkdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { ConnectionConfig, WorkbookConfig } from '../../src/config/config.ts';
import type { Target } from '../../src/ports/target.ts';
import type { Random } from '../../src/demo/random.ts';
import { createWorkbookTarget } from '../../src/targets/file/workbook-target.ts';
import type { GraphApp } from '../../src/targets/msgraph/graph-account.ts';
import type { Customs } from './customs.ts';
import { type Elsewhere, hideFile, switchFile } from './elsewhere.ts';
import type { Life } from './life.ts';
import type { Moment, OnlineTable } from './online-table.ts';
import { CsvTable, type Desk, type Table } from './table.ts';
import { XlsxTable } from './xlsx-table.ts';

export type Ending = 'csv' | 'xlsx';

/** One request of a process, as the server is about to carry it out. */
interface ServedRequest {
  readonly name: string;
  /** Stores the file, on a condition. */
  readonly isStoring: boolean;
}

/** `lost`: it never arrives; `unheard`: it is carried out, and the reply is lost; null: neither. */
type HearRequest = (request: ServedRequest) => Promise<'lost' | 'unheard' | null>;

/** A server that keeps files, and what people have it in. */
export interface FileServer extends AsyncDisposable {
  readonly desk: Desk;
  readonly msgraph: GraphApp;
  /** Root of its API; absent: it has none. */
  readonly apiUrl?: string;
  /** The address of a file of this name. */
  addressOf(name: string): Pick<WorkbookConfig, 'path' | 'drive'>;
  fail(random: Random): string | null;
  recover(): void;
}

/** Starts a server for the file at a path, in whose folder it keeps all; `hear` is called before each request but those of people. */
export type StartServer = (file: string, random: Random, hear: HearRequest) => Promise<FileServer>;

type Columns = Pick<WorkbookConfig, 'idColumn' | 'statusColumn' | 'pauseColumn'>;

/** A file on a server that people save from their own programs, also between any two requests of a process. */
export class ServedFile implements OnlineTable {
  readonly table: Table;
  config: WorkbookConfig;
  /** Nothing may be written over. */
  readonly typed: ReadonlySet<string> = new Set();
  /** Where the server keeps it. */
  readonly file: string;
  readonly #server: FileServer;
  readonly #dataDir: string;
  /** The process whose operation is under way, and what a person comes between. */
  readonly #now: Now;

  private constructor(server: FileServer, file: string, columns: Columns, dataDir: string, now: Now) {
    this.file = file;
    this.#server = server;
    this.#dataDir = dataDir;
    this.#now = now;
    const { desk } = server;
    this.table = file.endsWith('.csv') ? new CsvTable(file, desk) : new XlsxTable(file, desk);
    this.config = { type: 'workbook', ...server.addressOf(basename(file)), timeZone: 'UTC', ...columns };
  }

  static async open(
    start: StartServer,
    ending: Ending,
    columns: Columns,
    random: Random,
    dataDir: string,
  ): Promise<ServedFile> {
    const folder = join(dataDir, 'served');
    mkdirSync(folder);
    const file = join(folder, `leads.${ending}`);
    const now: Now = { working: null, moment: null };
    // People act and processes die between any two requests.
    const server = await start(file, random, async ({ name, isStoring }) => {
      if (now.working === null) return null;
      const kind = isStoring && now.working.isWrite ? 'storing' : null;
      now.moment = { kind, isMoved: false };
      const end = await now.working.life.request(name);
      now.moment = null;
      return end;
    });
    return new ServedFile(server, file, columns, dataDir, now);
  }

  get now(): Moment | null {
    return this.#now.moment;
  }

  async target(life: Life, { fields }: Pick<ConnectionConfig, 'fields'>): Promise<Target> {
    const { msgraph, apiUrl = 'http://127.0.0.1:9' } = this.#server;
    const around = { dataDir: this.#dataDir, msgraph, msgraphUrl: apiUrl };
    const target = await createWorkbookTarget({ ...this.config, fields }, around);
    return new Proxy(target, {
      get: (_, key) => {
        const value: unknown = Reflect.get(target, key, target);
        if (typeof value !== 'function') return value;
        return async (...args: unknown[]): Promise<unknown> => {
          this.#now.working = { life, isWrite: key === 'write' };
          try {
            return await (value.apply(target, args) as Promise<unknown>);
          } finally {
            this.#now.working = null;
          }
        };
      },
    });
  }

  fail(random: Random): string | null {
    return this.#server.fail(random);
  }

  recover(): void {
    this.#server.recover();
  }

  switchAway(): Elsewhere {
    return switchFile(this.file, (file) => {
      this.config = { ...this.config, ...this.#server.addressOf(basename(file)) };
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

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server[Symbol.asyncDispose]();
  }
}

interface Now {
  working: { readonly life: Life; readonly isWrite: boolean } | null;
  moment: Moment | null;
}
