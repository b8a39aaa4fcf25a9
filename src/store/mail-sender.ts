import type pg from 'pg';
import { acquireLease, isAlive, type Lease } from './leases.ts';

/** The columns by which it is known who hands a mail to the server, of a row of `reminders` or `digests`. */
export const senderColumns = (table: 'reminders' | 'digests'): string => `sender,
  case when sender is null then false
    else exists (select from leases where token = ${table}.sender and ${isAlive}) end as "isSenderThere",
  case when state = 'sending' then extract(epoch from clock_timestamp() - updated_at) * 1000 else 0 end::float8 as "idleMs"`;

/** Who hands a mail to the server. */
export interface SentBy {
  /** The lease of the process that began with it and has not said how it ended; null: nobody. */
  readonly sender: string | null;
  /** Whether that process lives. */
  readonly isSenderThere: boolean;
  /** Of one that is being sent: how long ago that was written, by the clock of the database. */
  readonly idleMs: number;
}

/** The lease by which others see that this process lives, as long as it sends mails. */
export class MailSender implements AsyncDisposable {
  readonly #pool: pg.Pool;
  #lease: Promise<Lease> | null = null;

  constructor(pool: pg.Pool) {
    this.#pool = pool;
  }

  /** What its mails are marked with: another one when the lease was lost. */
  async token(): Promise<string> {
    const lease = await (this.#lease ??= this.#acquire());
    if (!lease.lost.aborted) return lease.token;
    this.#lease = null;
    await lease[Symbol.asyncDispose]();
    return this.token();
  }

  async #acquire(): Promise<Lease> {
    try {
      // A name that nobody else has, so that nobody has to wait.
      await this.#pool.query(`delete from leases where name like 'mails %' and not (${isAlive})`);
      const lease = await acquireLease(this.#pool, `mails ${crypto.randomUUID()}`);
      if (lease === null) throw new Error('the lease of a name of our own is held by another');
      return lease;
    } catch (error) {
      this.#lease = null;
      throw error;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const lease = await this.#lease?.catch(() => null);
    await lease?.[Symbol.asyncDispose]();
  }
}
