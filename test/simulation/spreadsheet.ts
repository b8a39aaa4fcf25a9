import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type pg from 'pg';
import type { ConnectionConfig } from '../../src/config/config.ts';
import {
  type SheetsFault,
  type SheetsSandbox,
  startSheetsSandbox,
} from '../stand-ins/google-sheets/sheets-sandbox.ts';
import { openGoogleAccount } from '../../src/targets/google-sheets/google-account.ts';
import { createWriteJournal } from '../../src/store/connections.ts';
import type { GoogleSheetsOptions, WriteJournal } from '../../src/targets/google-sheets/sheets-api.ts';
import { createGoogleSheetsTarget } from '../../src/targets/google-sheets/google-sheets-target.ts';
import type { Random } from '../../src/demo/random.ts';
import type { Target } from '../../src/ports/target.ts';
import { atOnce, type Customs, inSpreadsheet } from './customs.ts';
import { FaultChances } from './fault-chances.ts';
import { type Elsewhere, hideTab, switchTab } from './elsewhere.ts';
import { Crash, type Life } from './life.ts';
import type { Moment, OnlineTable } from './online-table.ts';
import { SheetsGaps } from './sheets-gaps.ts';
import { SheetsTable } from './sheets-table.ts';
import type { SimClock } from './sim-clock.ts';
import { randomSheetsFaults } from './random-faults.ts';

/** How a spreadsheet of the simulation is set up. */
export interface SpreadsheetSettings {
  readonly locale: string;
  /** Requests a minute that Google allows to the account, and how many of them are ours. */
  readonly quota: { readonly allowed: number; readonly ours: number };
}

type SheetsConfig = Extract<ConnectionConfig['target'], { type: 'google-sheets' }>;

const tab = 'Leads';

/** A spreadsheet in which people work, and processes that live one after the other, or at once. */
export class Spreadsheet implements OnlineTable {
  readonly table: SheetsTable;
  config: SheetsConfig;
  readonly #gaps: SheetsGaps;
  readonly #faults = new FaultChances<SheetsFault>();
  readonly #sandbox: SheetsSandbox;
  readonly #clock: SimClock;
  readonly #keyFile: string;
  readonly #perMinute: NonNullable<GoogleSheetsOptions['perMinute']>;
  /** The process whose operation is under way. */
  #working: Life | null = null;
  #now: Moment | null = null;

  private constructor(
    sandbox: SheetsSandbox,
    config: SheetsConfig,
    clock: SimClock,
    keyFile: string,
    perMinute: NonNullable<GoogleSheetsOptions['perMinute']>,
  ) {
    this.#perMinute = perMinute;
    this.#sandbox = sandbox;
    this.#clock = clock;
    this.#keyFile = keyFile;
    this.config = config;
    this.table = new SheetsTable(sandbox, tab, (text) => {
      if (this.#now?.kind === 'gap') this.#gaps.types(text);
    });
    this.#gaps = new SheetsGaps(() => this.table.moves);
    sandbox.before = ({ method }) => this.#carryOut(method);
  }

  static async open(
    { locale, quota }: SpreadsheetSettings,
    columns: Pick<SheetsConfig, 'idColumn' | 'statusColumn' | 'pauseColumn'>,
    clock: SimClock,
    folder: string,
  ): Promise<Spreadsheet> {
    const { allowed, ours } = quota;
    const quotas = { reads: allowed, writes: allowed };
    const sandbox = await startSheetsSandbox({ locale, clock, quotas });
    const keyFile = join(folder, 'key.json');
    await writeFile(keyFile, sandbox.keyFile());
    const config: SheetsConfig = {
      type: 'google-sheets',
      spreadsheetId: sandbox.spreadsheetId,
      tab,
      ...columns,
    };
    const perMinute = { read: ours, write: ours };
    return new Spreadsheet(sandbox, config, clock, keyFile, perMinute);
  }

  get now(): Moment | null {
    return this.#now;
  }

  get typed(): ReadonlySet<string> {
    return this.#gaps.typed;
  }

  fail(random: Random): string | null {
    return this.#faults.fail(randomSheetsFaults(random), random);
  }

  recover(): void {
    this.#faults.recover();
  }

  switchAway(random: Random): Elsewhere | null {
    return switchTab(this.#sandbox.person, this.table, random, (title) => {
      this.config = { ...this.config, tab: title };
    });
  }

  hide(random: Random): Elsewhere | null {
    return hideTab(this.#sandbox.person, this.table, random);
  }

  habits(customs: Customs): Customs {
    return inSpreadsheet(customs);
  }

  atOnce(customs: Customs, moment: Moment): Customs {
    return atOnce(customs, moment);
  }

  /** With a quota and an account of its own. */
  target(life: Life, { name, fields }: Pick<ConnectionConfig, 'name' | 'fields'>, pool: pg.Pool): Target {
    const clock = { now: () => this.#clock.now(), random: () => this.#clock.random() };
    const account = openGoogleAccount(this.#keyFile);
    const apiUrl = this.#sandbox.url;
    const target = createGoogleSheetsTarget({
      ...this.config,
      perMinute: this.#perMinute,
      fields,
      account,
      apiUrl,
      clock,
      connection: name,
      journal: this.#journal(life, createWriteJournal(pool, name)),
    });
    const work = async <T>(operation: 'open' | 'write', run: () => Promise<T>): Promise<T> => {
      this.#working = life;
      this.#gaps.begins(life, operation);
      try {
        const result = await run();
        if (operation === 'write') this.#gaps.settles(life);
        return result;
      } finally {
        this.#working = null;
      }
    };
    return {
      name: target.name,
      batchSize: target.batchSize,
      get requests() {
        return target.requests;
      },
      contentTag: (signal) => work('open', () => target.contentTag?.(signal) ?? Promise.resolve(null)),
      place: (signal) => work('open', () => target.place?.(signal) ?? Promise.resolve(null)),
      isLeft: (place, signal) => work('open', () => target.isLeft?.(place, signal) ?? Promise.resolve(false)),
      open: (...args) => work('open', () => target.open(...args)),
      write: (...args) => work('write', () => target.write(...args)),
    };
  }

  /** Notes are a part of the operation that is under way: people act and processes die at each, as at a request. */
  #journal(life: Life, journal: WriteJournal): WriteJournal {
    const pass = async <T>(name: string, run: () => Promise<T>): Promise<T> => {
      const end = await this.#request(life, name);
      if (end === 'lost') throw new Crash(`died at ${name}`);
      const result = await run();
      if (end === 'unheard') throw new Crash(`died at ${name}`);
      return result;
    };
    return {
      keep: (note) => pass('journal.keep', () => journal.keep(note)),
      kept: () => pass('journal.kept', () => journal.kept()),
      over: (id) => pass('journal.over', () => journal.over(id)),
    };
  }

  async #request(life: Life, method: string): Promise<'lost' | 'unheard' | null> {
    this.#now = this.#gaps.closeness(life, method);
    const end = await life.request(method);
    this.#now = null;
    return end;
  }

  /** People act and processes die between any two requests. */
  async #carryOut(method: string): Promise<SheetsFault | undefined> {
    const life = this.#working;
    if (life === null) return undefined;
    const end = await this.#request(life, method);
    if (end === 'lost') return { kind: 'reset' };
    const fault = end === 'unheard' ? ({ kind: 'reset-after' } as const) : this.#faults.next();
    const isCarriedOut = fault === null || ('kind' in fault && fault.kind === 'reset-after');
    if (isCarriedOut) this.#gaps.carriesOut(life, method, fault === null);
    return fault ?? undefined;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#sandbox.close();
  }
}
