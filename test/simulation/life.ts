import type pg from 'pg';
import type { LeadsPort } from '../../src/sync/leads-port.ts';
import type { Target } from '../../src/targets/target.ts';

/** What ends a life in the middle; never caught by the product. */
export class Crash extends Error {}

/** How a process ends before its time: at its n-th operation, before or after it took effect; or it is told to stop. */
export interface Fate {
  readonly at: number;
  readonly how: 'crash-before' | 'crash-after' | 'stop' | 'lease-stolen';
}

/**
 * One process as the outside world sees it: every statement, request and file access passes here, so that people can
 * act between any two of them, and the process can die at any of them.
 */
export class Life {
  readonly stop = new AbortController();
  operations = 0;
  crashed = false;
  readonly #fate: Fate | null;
  readonly #tick: (operation: string) => void;
  readonly #steal: () => Promise<void>;

  constructor(fate: Fate | null, tick: (operation: string) => void, steal: () => Promise<void>) {
    this.#fate = fate;
    this.#tick = tick;
    this.#steal = steal;
  }

  async #pass<T>(name: string, run: () => Promise<T>, ticks: 'before' | 'after' | 'both'): Promise<T> {
    if (this.crashed) throw new Crash();
    this.operations++;
    const fate = this.operations === this.#fate?.at ? this.#fate.how : null;
    if (fate === 'crash-before') this.#die(name);
    if (fate === 'stop') this.stop.abort(new Error('stopped by the simulation'));
    if (fate === 'lease-stolen') await this.#steal();
    if (ticks !== 'after') this.#tick(`before ${name}`);
    const result = await run();
    if (this.crashed) throw new Crash();
    if (ticks !== 'before') this.#tick(`after ${name}`);
    if (fate === 'crash-after') this.#die(name);
    return result;
  }

  #die(name: string): never {
    this.crashed = true;
    throw new Crash(`died at ${name}`);
  }

  pool(pool: pg.Pool): pg.Pool {
    return new Proxy(pool, {
      get: (target, key) => {
        if (key === 'query')
          return (...args: unknown[]) => this.#pass('sql', () => anyQuery(target)(...args), 'both');
        if (key === 'connect')
          return () => this.#pass('connect', async () => this.#client(await target.connect()), 'both');
        const value: unknown = Reflect.get(target, key, target);
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
  }

  #client(client: pg.PoolClient): pg.PoolClient {
    return new Proxy(client, {
      get: (target, key) => {
        if (key === 'query')
          return (...args: unknown[]) => {
            const raw = () => anyQuery(target)(...args);
            return typeof args[0] === 'string' ? this.#pass('sql', raw, 'both') : raw();
          };
        const value: unknown = Reflect.get(target, key, target);
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
  }

  /** Nobody acts between a lead's GET and the write that follows: the API has no way to close that gap. */
  leads(leads: LeadsPort): LeadsPort {
    const pass = this.#pass.bind(this);
    return {
      get requests() {
        return leads.requests;
      },
      list: (...args) => pass('list', () => leads.list(...args), 'both'),
      get: (...args) => pass('get', () => leads.get(...args), 'before'),
      create: (...args) => pass('create', () => leads.create(...args), 'both'),
      update: (...args) => pass('update', () => leads.update(...args), 'after'),
      delete: (...args) => pass('delete', () => leads.delete(...args), 'after'),
    };
  }

  target(target: Target): Target {
    const pass = this.#pass.bind(this);
    return {
      name: target.name,
      batchSize: target.batchSize,
      get requests() {
        return target.requests;
      },
      open: (...args) => pass('open', () => target.open(...args), 'both'),
      write: (...args) => pass('write', () => target.write(...args), 'both'),
    };
  }
}

/** pg's overloads, as one function. */
function anyQuery(target: pg.Pool | pg.PoolClient): (...args: unknown[]) => Promise<unknown> {
  return target.query.bind(target);
}
