import type pg from 'pg';
import { columnOf, type Queryable } from './database.ts';
import { acquireLease, isAlive, type Lease } from './leases.ts';

/** The lease by which others see that this process lives, as long as it sends mails. */
export class MailSender implements AsyncDisposable {
  readonly #pool: pg.Pool;
  #lease: Promise<Lease> | null = null;

  constructor(pool: pg.Pool) {
    this.#pool = pool;
  }

  /** The token that marks its mails; a new one when the lease was lost. */
  async token(): Promise<string> {
    const held = (this.#lease ??= this.#acquire());
    const lease = await held;
    if (!lease.lost.aborted) return lease.token;
    // Mails of several lanes ask at once: the first gives it back, the others wait for the new one.
    if (this.#lease === held) {
      this.#lease = null;
      await lease[Symbol.asyncDispose]();
    }
    return this.token();
  }

  async #acquire(): Promise<Lease> {
    try {
      // A unique name: no process waits for it.
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

/** Deletes processes that died while sending mails. Returns the tokens of those deleted by this call. */
export function forgetDeadSenders(pool: pg.Pool): Promise<readonly string[]> {
  return columnOf(pool, `delete from leases where name like 'mails %' and not (${isAlive}) returning token`);
}

/** Ms for which a process keeps a chat to itself after it asked last: also one that stands still. */
const chatTurnMs = 60_000;

/**
 * Whether the process with this token may post to a connection's chat, alone. It shares the session of the token: with one for each
 * chat, those that have a message at the same moment would use up the connections to the database, and wait for each other.
 */
export async function takeChatTurn(db: Queryable, connection: string, token: string): Promise<boolean> {
  const { rowCount } = await db.query(
    `insert into leases (name, token, holder, backend_pid, expires_at)
     select $1, token, holder, backend_pid, now() + $3 * interval '1 ms' from leases where token = $2 and name like 'mails %'
     on conflict (name) do update set token = excluded.token, holder = excluded.holder, backend_pid = excluded.backend_pid,
       expires_at = excluded.expires_at where leases.token = excluded.token or not (${isAlive})`,
    [`${connection}/chat`, token, chatTurnMs],
  );
  return rowCount === 1;
}

export async function endChatTurn(db: Queryable, connection: string, token: string): Promise<void> {
  await db.query('delete from leases where name = $1 and token = $2', [`${connection}/chat`, token]);
}
