import { closeSync, existsSync, openSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createRandom, type Random } from '../../../src/demo/random.ts';
import { type Sandbox, startSandbox } from '../../../src/demo/sandbox.ts';
import type { LogEntry } from '../../../src/demo/request-handler.ts';
import type { Fault } from '../../../src/demo/faults.ts';
import { none } from '../../simulation/customs.ts';
import { People } from '../../simulation/people.ts';
import { tokensOf } from '../../simulation/tokens.ts';
import { CsvTable } from '../../simulation/table.ts';
import { DueLeads } from './due-leads.ts';
import type { SmallDisk } from './small-disk.ts';
import { TcpProxy } from './tcp-proxy.ts';

/** What a service does wrong, besides throttling. */
const moods: readonly Fault[] = [
  { kind: 'status', status: 429, retryAfter: { dateInSeconds: 2 }, when: { rate: 0.01 }, on: [] },
  { kind: 'status', status: 500, when: { rate: 0.01 }, on: [] },
  { kind: 'status', status: 503, when: { rate: 0.01 }, on: [] },
  { kind: 'reset', when: { rate: 0.01 }, on: [] },
  { kind: 'lost-reply', when: { rate: 0.02 }, on: [] },
  { kind: 'error-after-write', when: { rate: 0.02 }, on: [] },
  { kind: 'unfinished', when: { rate: 0.01 }, on: [] },
  { kind: 'slow', ms: 300, when: { rate: 0.05 }, on: [] },
];

/** A pause that a service asks for (ms, at most); a date may be a second later than it says. */
export const longestPauseMs = 3_000;

/** Requests of other processes may be on their way while one of them gets a 429 (ms). */
export const earlyGraceMs = 1_000;

/** From the head of a request until it is carried out (ms, at most). */
const arrivalMs = 100;

const weights = { ...none, 'edit-row': 5, 'edit-lead': 5, 'insert-row': 1, 'add-lead': 1, sort: 0.3 };

/** So long (ms) has somebody the file open before he saves it: what leadsync had begun is written by then. */
const openForMs = 200;

/** A connection: a Leads service, a workbook, and everybody who works on either. */
export class Team implements AsyncDisposable {
  readonly name: string;
  readonly path: string;
  readonly sandbox: Sandbox;
  /** Between all workers and the service. One for all of them: they share what the service is called. */
  readonly network: TcpProxy;
  readonly table: CsvTable;
  readonly people: People;
  readonly due: DueLeads;
  /** Null: it lies on a disk without an end. */
  readonly disk: SmallDisk | null;
  /** When requests came too early (epoch ms). */
  readonly earlyAt: number[] = [];
  /** What was typed into leads, and when (epoch ms), by word. */
  readonly #typed = new Map<string, { readonly id: string; readonly at: number }>();
  readonly #random: Random;
  readonly #watch: NodeJS.Timeout;

  private constructor(
    name: string,
    path: string,
    sandbox: Sandbox,
    network: TcpProxy,
    disk: SmallDisk | null,
    random: Random,
    trace: (event: string) => void,
  ) {
    this.name = name;
    this.path = path;
    this.sandbox = sandbox;
    this.network = network;
    this.disk = disk;
    this.table = new CsvTable(path);
    this.people = new People(random, sandbox, this.table, trace);
    this.due = new DueLeads(name, sandbox, random, trace);
    this.#random = random;
    this.#watch = setInterval(() => {
      while (this.earlyAt.length < sandbox.stats.early) this.earlyAt.push(Date.now());
    }, 10);
  }

  static async open(
    name: string,
    folder: string,
    disk: SmallDisk | null,
    seed: number,
    trace: (event: string) => void,
  ): Promise<Team> {
    const sandbox = await startSandbox({
      leads: 0,
      seed,
      defaultLimit: 10,
      maxLimit: 10,
      earlyGraceMs,
      apiKey: `secret-key-of-${name}-${seed}`,
    });
    const network = await TcpProxy.open(Number(new URL(sandbox.url).port));
    const random = createRandom(seed, `team ${name}`);
    const path = join(folder, 'leads.csv');
    const team = new Team(name, path, sandbox, network, disk, random, (event) => trace(`${name}: ${event}`));
    for (let nth = 0; nth < 12; nth++)
      await team.people.do({ weights: { ...none, 'add-lead': 1 } }, 'before');
    return team;
  }

  /** What the service is called by all workers. */
  get url(): string {
    return `http://127.0.0.1:${this.network.port}`;
  }

  /** From now on the service throttles each so-manieth request, fails and loses replies; null: it is a good one. */
  setMoody(throttleEvery: number | null): void {
    if (throttleEvery === null) return this.sandbox.set({ faults: [] });
    const retryAfter = { seconds: 2 };
    const when = { every: throttleEvery };
    this.sandbox.set({ faults: [{ kind: 'status', status: 429, retryAfter, when, on: [] }, ...moods] });
  }

  /** One of them does something, unless the disk is full: what could not be saved was not typed. */
  async work(): Promise<void> {
    if (!existsSync(this.path)) return;
    if (this.#random.below(4) === 0) {
      this.due.work();
      return;
    }
    const lock = join(dirname(this.path), `.~lock.${basename(this.path)}#`);
    try {
      closeSync(openSync(lock, 'w'));
      await sleep(openForMs);
      // The work of a moment, in which nothing of ours comes between.
      if (this.hasRoom) await this.#edit();
    } finally {
      rmSync(lock, { force: true });
    }
  }

  hasRoom = true;

  /**
   * Words that were typed into a lead between our last look at it and our write: docs/guarantees.md: "an edit of the same
   * field in the moment between cannot be seen".
   */
  typedInGaps(): string[] {
    const isOf = (id: string) => (entry: LogEntry) => entry.path === `/v1/leads/${id}`;
    return [...this.#typed].flatMap(([token, { id, at }]) => {
      const entries = this.sandbox.log.filter(isOf(id));
      const write = entries.find((entry) => entry.method === 'PATCH' && entry.at >= at - arrivalMs);
      const look = entries.findLast(
        (entry) => entry.method === 'GET' && entry.status === 200 && entry.at < (write?.at ?? 0),
      );
      return look !== undefined && look.at <= at ? [token] : [];
    });
  }

  async #edit(): Promise<void> {
    const { people, sandbox } = this;
    const before = people.all.size;
    const at = Date.now();
    await people.do({ weights }, 'round');
    for (const token of [...people.all.keys()].slice(before)) {
      const lead = sandbox.leads
        .list()
        .find((one) => Object.values(one).some((text) => tokensOf(String(text)).includes(token)));
      if (lead !== undefined) this.#typed.set(token, { id: lead.id, at });
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#watch);
    await this.network[Symbol.asyncDispose]();
    await this.sandbox[Symbol.asyncDispose]();
  }
}
