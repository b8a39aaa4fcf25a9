import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import type { Logger } from 'pino';
import { isDatabaseOutage } from '../postgres/database-outage.ts';
import { codeOf, LeadsyncError } from '../lib/errors.ts';
import type { Queues } from '../queue/queue.ts';
import { isQueueOutage } from '../queue/backend.ts';
import { probeWrite } from '../store/keeper.ts';

/** Ms: between two checks, for an answer, between two log lines, and until an outage counts as lasting. */
const usualTimes = { lookMs: 5_000, answerMs: 3_000, tellMs: 60_000, patienceMs: 300_000 };

interface Watched {
  /** In messages. */
  readonly name: 'database' | 'queue';
  /** Rejects when it takes no write. */
  readonly look: () => Promise<unknown>;
  readonly isOutage: (fault: unknown) => boolean;
  /** What a lasting outage of it ends the worker with; absent: nothing, the worker waits. */
  readonly lost?: (awayMs: number) => LeadsyncError;
}

/** `bundled`: leadsync itself started the database. `hasJobs`: the queues are in it, too. */
export function watchDatabase(
  {
    pool,
    bundled,
    hasJobs,
  }: { readonly pool: pg.Pool; readonly bundled: boolean; readonly hasJobs: boolean },
  log: Logger,
  times = usualTimes,
): OutageWatch {
  const watched: Watched = {
    name: 'database',
    look: () => probeWrite(pool),
    // A rollback by the server (SQLSTATE class 40) is worth another try, and no outage.
    isOutage: (fault) =>
      (hasJobs && isQueueOutage(fault)) ||
      (isDatabaseOutage(fault) && codeOf(fault)?.startsWith('40') !== true),
    ...(bundled && { lost }),
  };
  return new OutageWatch(watched, log, times);
}

export function watchQueue(queues: () => Promise<Pick<Queues, 'ping'>>, log: Logger): OutageWatch {
  const look = async (): Promise<void> => (await queues()).ping();
  return new OutageWatch({ name: 'queue', look, isOutage: isQueueOutage }, log, usualTimes);
}

/**
 * Watches a server, and alone logs an outage: when it begins, once a minute while it lasts, and when it is over. All other
 * code that meets the outage logs it at `debug` (see `takes`).
 */
export class OutageWatch {
  readonly #watched: Watched;
  readonly #log: Logger;
  readonly #times: typeof usualTimes;
  #watching = false;
  /** Start of the outage, by `performance.now()`. */
  #since: number | null = null;
  #toldAt = 0;
  /** A fault was met since the last check: a database with a full disk may still take the probe's row. */
  #isMet = false;
  #question: Promise<unknown> | null = null;

  constructor(watched: Watched, log: Logger, times: typeof usualTimes) {
    this.#watched = watched;
    this.#log = log;
    this.#times = times;
  }

  /** Ms since the start of the outage; 0: it takes writes. */
  get awayMs(): number {
    return this.#since === null ? 0 : performance.now() - this.#since;
  }

  /** Whether the outage is lasting. */
  get isLost(): boolean {
    return this.awayMs > this.#times.patienceMs;
  }

  /**
   * Whether a fault is an outage of the server, which this class then logs in the caller's place. Always false before
   * `watch`.
   */
  takes(fault: unknown): boolean {
    if (!this.#watching || !this.#watched.isOutage(fault)) return false;
    this.#meet(fault);
    return true;
  }

  /** Checks until `stop`. Throws `lost` of what is watched. */
  async watch(stop: AbortSignal): Promise<void> {
    this.#watching = true;
    while (!stop.aborted) {
      const fault = await this.fault();
      if (fault !== null) this.#meet(fault);
      else if (!this.#isMet) this.#end();
      this.#isMet = false;
      this.#remind();
      if (this.isLost && this.#watched.lost !== undefined) throw this.#watched.lost(this.awayMs);
      await sleep(this.#times.lookMs, undefined, { signal: stop }).catch(() => {});
    }
  }

  /** Why it does not take a write within 3 s; null: it does. All callers share one question. */
  async fault(): Promise<unknown> {
    this.#question ??= this.#watched
      .look()
      .then(
        () => null,
        (error: unknown) => error,
      )
      .finally(() => {
        this.#question = null;
      });
    const { answerMs } = this.#times;
    const silence = new LeadsyncError('process.silent', `no answer within ${answerMs / 1000} s`);
    return Promise.race([this.#question, sleep(answerMs, silence, { ref: false })]);
  }

  #meet(fault: unknown): void {
    this.#isMet = true;
    if (this.#since !== null) return;
    this.#since = performance.now();
    this.#toldAt = this.#since;
    const { name } = this.#watched;
    const reason = fault instanceof Error ? fault.message : String(fault);
    this.#log.warn(
      { code: fault instanceof LeadsyncError ? fault.code : `${name}.unavailable`, reason },
      `the ${name} is unavailable: work that needs it waits, nothing is lost`,
    );
  }

  #remind(): void {
    const now = performance.now();
    if (this.#since === null || now - this.#toldAt < this.#times.tellMs) return;
    this.#toldAt = now;
    const awaySeconds = Math.round(this.awayMs / 1000);
    this.#log.error({ awaySeconds }, `the ${this.#watched.name} is still unavailable`);
  }

  #end(): void {
    if (this.#since === null) return;
    const awaySeconds = Math.round(this.awayMs / 1000);
    this.#log.info({ awaySeconds }, `the ${this.#watched.name} is available again`);
    this.#since = null;
  }
}

function lost(awayMs: number): LeadsyncError {
  return new LeadsyncError(
    'database.lost',
    `The bundled Postgres has been unavailable for ${Math.round(awayMs / 60_000)} minutes and could not be started again; the worker ends. Nothing was deleted`,
    {
      retry: 'later',
      help: 'Put the folder `postgres` back under DATA_DIR, or make room on its disk, before the worker starts again: where there is no such folder, a start makes a new, empty database. The lines before this one, and server.log in that folder, say why.',
    },
  );
}
