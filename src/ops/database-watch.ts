import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import type { Logger } from 'pino';
import { isDatabaseOutage } from '../database-outage.ts';
import { codeOf, LeadsyncError } from '../errors.ts';
import { probeWrite } from '../store/database-time.ts';

/** Ms: between two checks, for an answer, between two log lines, and until an outage counts as lasting. */
const usualTimes = { lookMs: 5_000, answerMs: 3_000, tellMs: 60_000, patienceMs: 300_000 };

/** `bundled`: leadsync itself started the database. `hasJobs`: the queues are in it, too. */
interface Watched {
  readonly pool: pg.Pool;
  readonly bundled: boolean;
  readonly hasJobs: boolean;
}

/**
 * Watches the database, and alone logs an outage: when it begins, once a minute while it lasts, and when it is over. All other
 * code that meets the outage logs it at `debug` (see `takes`).
 */
export class DatabaseWatch {
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

  constructor(watched: Watched, log: Logger, times = usualTimes) {
    this.#watched = watched;
    this.#log = log;
    this.#times = times;
  }

  /** Ms since the start of the outage; 0: the database takes writes. */
  get awayMs(): number {
    return this.#since === null ? 0 : performance.now() - this.#since;
  }

  /** Whether the outage is lasting. */
  get isLost(): boolean {
    return this.awayMs > this.#times.patienceMs;
  }

  /**
   * Whether a fault is an outage of the database, which this class then logs in the caller's place. Always false before
   * `watch`.
   */
  takes(fault: unknown): boolean {
    if (!this.#watching || !this.#isOutage(fault)) return false;
    this.#meet(fault);
    return true;
  }

  /** Checks until `stop`. Throws `database.lost` when the bundled database has been away for five minutes. */
  async watch(stop: AbortSignal): Promise<void> {
    this.#watching = true;
    while (!stop.aborted) {
      const fault = await this.fault();
      if (fault !== null) this.#meet(fault);
      else if (!this.#isMet) this.#end();
      this.#isMet = false;
      this.#remind();
      if (this.isLost && this.#watched.bundled) throw lost(this.awayMs);
      await sleep(this.#times.lookMs, undefined, { signal: stop }).catch(() => {});
    }
  }

  /** Why it does not take a write within 3 s; null: it does. All callers share one query. */
  async fault(): Promise<unknown> {
    this.#question ??= probeWrite(this.#watched.pool)
      .then(
        () => null,
        (error: unknown) => error,
      )
      .finally(() => {
        this.#question = null;
      });
    const { answerMs } = this.#times;
    const silence = new LeadsyncError('database.silent', `no answer within ${answerMs / 1000} s`);
    return Promise.race([this.#question, sleep(answerMs, silence, { ref: false })]);
  }

  #isOutage(fault: unknown): boolean {
    if (this.#watched.hasJobs && fault instanceof LeadsyncError && fault.code === 'queue.unavailable')
      return true;
    // A rollback by the server (SQLSTATE class 40) is worth another try, and no outage.
    return isDatabaseOutage(fault) && codeOf(fault)?.startsWith('40') !== true;
  }

  #meet(fault: unknown): void {
    this.#isMet = true;
    if (this.#since !== null) return;
    this.#since = performance.now();
    this.#toldAt = this.#since;
    const reason = fault instanceof Error ? fault.message : String(fault);
    this.#log.warn(
      { code: fault instanceof LeadsyncError ? fault.code : 'database.unavailable', reason },
      'the database is unavailable: work that needs it waits, nothing is lost',
    );
  }

  #remind(): void {
    const now = performance.now();
    if (this.#since === null || now - this.#toldAt < this.#times.tellMs) return;
    this.#toldAt = now;
    this.#log.error({ awaySeconds: Math.round(this.awayMs / 1000) }, 'the database is still unavailable');
  }

  #end(): void {
    if (this.#since === null) return;
    this.#log.info({ awaySeconds: Math.round(this.awayMs / 1000) }, 'the database is available again');
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
