import { AsyncLocalStorage } from 'node:async_hooks';
import { withCalls } from '../../src/leads-api/leads-client.ts';
import type { LeadsPort } from '../../src/ports/leads-service.ts';
import type { Target, TargetRow } from '../../src/ports/target.ts';
import { Semaphore } from '../../src/lib/waiting.ts';
import type { SimClock } from './sim-clock.ts';
import type { Turns } from './turns.ts';
import type { Witness } from './witness.ts';

/** What ends a life in the middle; never caught by the product. */
export class Crash extends Error {}

/** How a process ends before its time: at its n-th operation, before or after it took effect; or it gets SIGTERM. */
export interface Fate {
  readonly at: number;
  readonly how: 'crash-before' | 'crash-after' | 'stop' | 'lease-stolen';
  /** Only requests within an operation are counted: those to a spreadsheet. */
  readonly ofRequests?: boolean;
}

/** What the world does to a life, and hears of it. */
export interface Surroundings {
  readonly clock: SimClock;
  readonly turns: Turns;
  readonly witness: Witness;
  /** People may act now. */
  readonly tick: (operation: string) => Promise<void>;
  readonly steal: () => Promise<void>;
  readonly heard: (operation: string) => void;
}

/**
 * One process as the outside world sees it: every statement, request and file access passes here, so that people can
 * act between any two of them, and the process can die at any of them.
 */
export class Life {
  readonly stop = new AbortController();
  operations = 0;
  #requests = 0;
  crashed = false;
  readonly #fate: Fate | null;
  readonly #around: Surroundings;
  readonly #turn: number;
  readonly #operations = new Semaphore(1);
  readonly #inside = new AsyncLocalStorage<boolean>();
  /** Inside a request to the service: nobody acts between a lead's GET and the write that follows. */
  #within = 0;

  constructor(fate: Fate | null, around: Surroundings) {
    this.#fate = fate;
    this.#around = around;
    this.#turn = around.turns.join();
  }

  /** Waits for its turn and n ms. */
  wait(ms: number): Promise<void> {
    return this.#around.turns.begin(this.#turn, this.#around.clock.now() + ms);
  }

  end(): Promise<void> {
    return this.#around.turns.leave(this.#turn);
  }

  /**
   * One operation of the process after the other, also where it asks for several at once: which of them came first would
   * be up to the machine. `pids`: of the sessions that may have to wait for a lock.
   */
  async pass<T>(
    name: string,
    run: () => Promise<T>,
    ticks: 'before' | 'after' | 'both',
    pids?: () => readonly number[],
  ): Promise<T> {
    const pass = (): Promise<T> => this.#pass(name, run, ticks, pids);
    // Within an operation: a part of it.
    if (this.#inside.getStore() === true) return pass();
    using _turn = await this.#operations.acquire();
    return await this.#inside.run(true, pass);
  }

  async #pass<T>(
    name: string,
    run: () => Promise<T>,
    ticks: 'before' | 'after' | 'both',
    pids: (() => readonly number[]) | undefined,
  ): Promise<T> {
    const { turns, steal } = this.#around;
    if (this.crashed) throw new Crash();
    await turns.begin(this.#turn);
    if (this.crashed) throw new Crash();
    const fate = this.#count(name, false);
    if (fate === 'crash-before') this.#die(name);
    if (fate === 'stop') this.stop.abort(new Error('stopped by the simulation'));
    if (fate === 'lease-stolen') await steal();
    if (ticks !== 'after') await this.#tick(`before ${name}`);
    const result = await (pids === undefined ? run() : turns.during(this.#turn, pids, run));
    if (this.crashed) throw new Crash();
    if (ticks !== 'before') await this.#tick(`after ${name}`);
    if (fate === 'crash-after') this.#die(name);
    return result;
  }

  /**
   * One request of an operation that is under way, as the other side is about to carry it out. Null: the process hears
   * the reply. Else it dies: before the request arrives (`lost`), or before the reply does (`unheard`).
   */
  async request(name: string): Promise<'lost' | 'unheard' | null> {
    if (this.crashed) return 'lost';
    this.#requests++;
    const fate = this.#count(name, true);
    if (fate === 'crash-before') {
      this.crashed = true;
      return 'lost';
    }
    if (fate === 'lease-stolen') await this.#around.steal();
    await this.#tick(`before ${name}`);
    if (fate === 'stop') this.stop.abort(new Error('stopped by the simulation'));
    this.crashed = fate === 'crash-after';
    return this.crashed ? 'unheard' : null;
  }

  /** Time goes by; what happens to the process now. */
  #count(name: string, isRequest: boolean): Fate['how'] | null {
    const { clock, heard } = this.#around;
    this.operations++;
    clock.pass(1 + clock.random() * 9);
    heard(name);
    const { at, how, ofRequests = false } = this.#fate ?? { at: 0, how: null };
    const isDue = ofRequests ? isRequest && this.#requests === at : this.operations === at;
    return isDue ? how : null;
  }

  async #tick(when: string): Promise<void> {
    if (this.#within === 0) await this.#around.tick(when);
  }

  #die(name: string): never {
    this.crashed = true;
    throw new Crash(`died at ${name}`);
  }

  /** Nobody acts between a lead's GET and the write that follows: the API has no way to close that gap. */
  leads(leads: LeadsPort): LeadsPort {
    const { witness } = this.#around;
    const pass = <T>(name: string, run: () => Promise<T>, ticks: 'before' | 'after' | 'both'): Promise<T> =>
      this.pass(
        name,
        async () => {
          this.#within++;
          try {
            return await run();
          } finally {
            this.#within--;
          }
        },
        ticks,
      );
    return withCalls(leads, {
      list: (request, signal) =>
        pass(
          'list',
          async () => {
            const page = await leads.list(request, signal);
            witness.page(request.cursor, page);
            return page;
          },
          'both',
        ),
      get: (id, signal) =>
        pass(
          'get',
          async () => {
            const lead = await leads.get(id, signal);
            witness.got(id, lead !== null);
            return lead;
          },
          'before',
        ),
      create: (...args) => pass('create', () => leads.create(...args), 'both'),
      update: (...args) => pass('update', () => leads.update(...args), 'after'),
      delete: (id, signal) =>
        pass(
          'delete',
          () => {
            witness.deletesLead(id);
            return leads.delete(id, signal);
          },
          'after',
        ),
    });
  }

  target(target: Target): Target {
    const { witness } = this.#around;
    const [place, isLeft] = [target.place?.bind(target), target.isLeft?.bind(target)];
    const [version, contentTag] = [target.version?.bind(target), target.contentTag?.bind(target)];
    const standingWrites = target.standingWrites?.bind(target);
    return {
      ...(version !== undefined && {
        version: (signal: AbortSignal) => this.pass('version', () => version(signal), 'both'),
      }),
      ...(contentTag !== undefined && {
        contentTag: (signal: AbortSignal) =>
          this.pass(
            'contentTag',
            async () => {
              const found = await contentTag(signal);
              // Whoever knows it again knows what it shows.
              const shown = { create: false, elsewhere: true };
              if (found !== null) await seen((await target.open(shown, signal)).rows, witness);
              return found;
            },
            'both',
          ),
      }),
      ...(standingWrites !== undefined && {
        standingWrites: (signal: AbortSignal) =>
          this.pass('standingWrites', () => standingWrites(signal), 'both'),
      }),
      ...(place !== undefined && {
        place: (signal: AbortSignal) => this.pass('place', () => place(signal), 'both'),
      }),
      ...(isLeft !== undefined && {
        isLeft: (other: Parameters<typeof isLeft>[0], signal: AbortSignal) =>
          this.pass('isLeft', () => isLeft(other, signal), 'both'),
      }),
      name: target.name,
      batchSize: target.batchSize,
      get requests() {
        return target.requests;
      },
      open: (options, signal) =>
        this.pass(
          'open',
          async () => {
            const snapshot = await target.open(options, signal);
            return { ...snapshot, rows: watched(snapshot.rows, witness) };
          },
          'both',
        ),
      write: (changes, signal, mark) =>
        this.pass(
          'write',
          () => {
            for (const change of changes)
              if (change.kind === 'mark' || change.kind === 'remove') witness.removesRow(change.leadId);
            return target.write(changes, signal, mark);
          },
          'both',
        ),
    };
  }
}

async function seen(rows: AsyncIterable<readonly TargetRow[]>, witness: Witness): Promise<void> {
  for await (const _ of watched(rows, witness));
}

async function* watched(
  batches: AsyncIterable<readonly TargetRow[]>,
  witness: Witness,
): AsyncGenerator<readonly TargetRow[]> {
  const ids: string[] = [];
  let rows = 0;
  for await (const batch of batches) {
    rows += batch.length;
    ids.push(...batch.flatMap(({ leadId }) => (leadId === null ? [] : [leadId])));
    yield batch;
  }
  witness.table(ids, rows);
}
