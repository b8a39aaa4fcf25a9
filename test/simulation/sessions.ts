import type pg from 'pg';
import { Crash, type Life } from './life.ts';
import type { SimClock } from './sim-clock.ts';

/** The sessions that one life has taken from the world's pool; a life that dies takes them along. */
export class Sessions {
  readonly #life: Life;
  readonly #clock: SimClock;
  readonly #source: pg.Pool;
  readonly #taken = new Set<pg.PoolClient>();
  readonly #lost = new Set<number>();
  readonly pool: pg.Pool;

  constructor(source: pg.Pool, life: Life, clock: SimClock) {
    this.#life = life;
    this.#clock = clock;
    this.#source = source;
    this.pool = new Proxy(source, {
      get: (target, key) => {
        if (key === 'query') return (...args: unknown[]) => this.#queryOnce(args);
        if (key === 'connect')
          return () =>
            this.#life.pass('connect', async () => this.#client(await this.#take()), 'both', this.#pids);
        const value: unknown = Reflect.get(target, key, target);
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
  }

  /** Gives everything back; the numbers of the sessions that died with the life. */
  end(): readonly number[] {
    for (const client of this.#taken) this.#give(client, true);
    return [...this.#lost];
  }

  readonly #pids = (): readonly number[] => [...this.#taken].map(pidOf);

  async #take(): Promise<pg.PoolClient> {
    const client = await this.#source.connect();
    this.#taken.add(client);
    return client;
  }

  #give(client: pg.PoolClient, broken: boolean): void {
    if (!this.#taken.delete(client)) return;
    if (broken || this.#life.crashed) this.#lost.add(pidOf(client));
    client.release(broken || this.#life.crashed);
  }

  #queryOnce(args: readonly unknown[]): Promise<unknown> {
    return this.#life.pass(
      nameOf(args[0]),
      async () => {
        const client = await this.#take();
        let broken = false;
        try {
          if (typeof args[0] === 'string' && /^\s*insert\b/i.test(args[0]))
            await client.query(`set sim.now = '${this.#clock.iso}'`);
          return await anyQuery(client)(...this.#dated(args, this.#clock.iso));
        } catch (error) {
          broken = !isRefusal(error);
          throw error;
        } finally {
          this.#give(client, broken);
        }
      },
      'both',
      this.#pids,
    );
  }

  #client(client: pg.PoolClient): pg.PoolClient {
    // As in Postgres, time stands still in a transaction.
    let begun: string | null = null;
    return new Proxy(client, {
      get: (target, key) => {
        if (key === 'release')
          return (error?: Error | boolean) => this.#give(target, error !== undefined && error !== false);
        if (key === 'query')
          return (...args: unknown[]) => {
            const [text] = args;
            // A stream is read bit by bit, between the statements of others.
            if (typeof text !== 'string') {
              if (this.#life.crashed) throw new Crash();
              return anyQuery(target)(...args);
            }
            return this.#life.pass(
              nameOf(text),
              () => {
                const begins = text.startsWith('begin');
                if (begins) begun = this.#clock.iso;
                if (text === 'commit' || text === 'rollback') {
                  begun = null;
                  return anyQuery(target)(text);
                }
                const time = begun ?? this.#clock.iso;
                if (begins) return anyQuery(target)(`${text}; set local sim.now = '${time}'`);
                return anyQuery(target)(...this.#dated(args, time));
              },
              'both',
              this.#pids,
            );
          };
        const value: unknown = Reflect.get(target, key, target);
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
  }

  /** The statement with the simulation's time for Postgres' own. */
  #dated(args: readonly unknown[], time: string): readonly unknown[] {
    const [text, ...rest] = args;
    return typeof text === 'string'
      ? [text.replaceAll(/\bnow\(\)/g, `timestamptz '${time}'`), ...rest]
      : args;
  }
}

function nameOf(text: unknown): string {
  return typeof text === 'string' ? text.trim().replaceAll(/\s+/g, ' ').slice(0, 34) : 'sql';
}

function pidOf(client: pg.PoolClient): number {
  const pid: unknown = Reflect.get(client, 'processID');
  return typeof pid === 'number' ? pid : 0;
}

/** The server answered, so that the session can be used again. */
function isRefusal(error: unknown): boolean {
  return error instanceof Error && 'severity' in error;
}

/** pg's overloads, as one function. */
function anyQuery(target: pg.PoolClient): (...args: readonly unknown[]) => Promise<unknown> {
  return target.query.bind(target);
}
