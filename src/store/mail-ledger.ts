import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { Semaphore } from '../lib/waiting.ts';
import { isDatabaseOutage } from '../postgres/database-outage.ts';
import {
  beginSending,
  type Claim,
  type Ending,
  endSending,
  type MailWork,
  type SendingWaits,
  takeMails,
  type TakenMail,
} from './sending.ts';
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
async function takeChatTurn(db: Queryable, connection: string, token: string): Promise<boolean> {
  const { rowCount } = await db.query(
    `insert into leases (name, token, holder, backend_pid, expires_at)
     select $1, token, holder, backend_pid, now() + $3 * interval '1 ms' from leases where token = $2 and name like 'mails %'
     on conflict (name) do update set token = excluded.token, holder = excluded.holder, backend_pid = excluded.backend_pid,
       expires_at = excluded.expires_at where leases.token = excluded.token or not (${isAlive})`,
    [`${connection}/chat`, token, chatTurnMs],
  );
  return rowCount === 1;
}

async function endChatTurn(db: Queryable, connection: string, token: string): Promise<void> {
  await db.query('delete from leases where name = $1 and token = $2', [`${connection}/chat`, token]);
}

/**
 * Combines calls that come within `lingerMs` of each other, or while others are under way, into one `run`, in their order. It
 * returns a result for each; when it throws, all its calls throw.
 */
function createBatcher<In, Out>(
  run: (items: readonly In[]) => Promise<readonly Out[]>,
  lingerMs: number,
): (item: In) => Promise<Out> {
  interface Call {
    readonly item: In;
    readonly resolve: (result: Out) => void;
    readonly reject: (error: unknown) => void;
  }
  let waiting: Call[] = [];
  let isBusy = false;
  const runAll = async (): Promise<void> => {
    isBusy = true;
    while (waiting.length > 0) {
      await sleep(lingerMs);
      const calls = waiting;
      waiting = [];
      try {
        const results = await run(calls.map(({ item }) => item));
        for (const [index, { resolve }] of calls.entries()) resolve(results[index] as Out);
      } catch (error) {
        for (const { reject } of calls) reject(error);
      }
    }
    isBusy = false;
  };
  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject });
      if (!isBusy) void runAll();
    });
}

/** What this process has in hand of the mails; what is noted of several at once goes in one statement. */
export interface MailLedger extends AsyncDisposable {
  /** Whether one job of this process may post to a chat, until `leaveChat`: another does so already. */
  enterChat(connection: string): boolean;
  /** See `takeMails`. Each that was taken must be ended. Null: another process posts to the chat. */
  take(work: MailWork, waits: SendingWaits, limit: number): Promise<readonly TakenMail[] | null>;
  /** Lets other processes post to a chat from which nothing is in hand. */
  leaveChat(connection: string): Promise<void>;
  /** See `beginSending`. */
  begin(claim: Omit<Claim, 'sender'>): Promise<boolean>;
  /** See `endSending`. Waits for an unavailable database until `stop`: only this process knows the outcome of the mail. */
  end(ending: Omit<Ending, 'sender'>, stop: AbortSignal): Promise<void>;
}

/** Wait (ms) for the outcomes of other mails: each commit is a write to the disk. */
const lingerMs = 10;

/** Ms between two attempts to note how a mail ended while the database is away. */
const insistMs = 250;

/** Made once for a process: only what goes through one object is carried out together. */
export function createMailLedger(pool: pg.Pool): MailLedger {
  const sender = new MailSender(pool);
  /** The mails by their ids, and the lease under which each was taken or begun: a lost one is replaced meanwhile. */
  const inHand = new Map<number, string>();
  /** Two takes at once would know nothing of what the other takes up, which looks like what this process has forgotten. */
  const taking = new Semaphore(1);
  const chats = new Set<string>();
  const begin = createBatcher(
    async (claims: readonly Claim[]) => {
      const token = await sender.token();
      const begun = await oneByOne(claims, (some) => beginSending(pool, some, token), [deadlock, sameMail]);
      return begun.map((isOurs) => (isOurs ? token : null));
    },
    // It holds up one of few connections to the mail server.
    0,
  );
  const end = createBatcher(
    (endings: readonly Ending[]) =>
      oneByOne(endings, async (some) => {
        await endSending(pool, some);
        return some.map(() => undefined);
      }),
    lingerMs,
  );
  return {
    enterChat(connection) {
      const isFree = !chats.has(connection);
      chats.add(connection);
      return isFree;
    },
    async take(work, waits, limit) {
      using _turn = await taking.acquire();
      const token = await sender.token();
      if (work.isChat && !(await takeChatTurn(pool, work.connection, token))) return null;
      const taken = await takeMails(pool, work, waits, { token, inHand: [...inHand.keys()], limit });
      for (const { mail } of taken) inHand.set(mail.id, token);
      return taken;
    },
    async leaveChat(connection) {
      try {
        await endChatTurn(pool, connection, await sender.token());
      } finally {
        chats.delete(connection);
      }
    },
    async begin(claim) {
      const sender = inHand.get(claim.id);
      const token = sender === undefined ? null : await begin({ ...claim, sender });
      if (token !== null) inHand.set(claim.id, token);
      return token !== null;
    },
    async end(ending, stop) {
      const sender = inHand.get(ending.id);
      if (sender === undefined) return;
      await whenBack(() => end({ ...ending, sender }), stop).finally(() => inHand.delete(ending.id));
    },
    [Symbol.asyncDispose]: () => sender[Symbol.asyncDispose](),
  };
}

async function whenBack(write: () => Promise<void>, stop: AbortSignal): Promise<void> {
  for (;;) {
    try {
      return await write();
    } catch (error) {
      if (!isDatabaseOutage(error) || stop.aborted) throw error;
      await sleep(insistMs);
    }
  }
}

/** Postgres's `deadlock_detected`: the statement has had no effect. */
const deadlock = '40P01';

/** Its `unique_violation`: another connection begins the same mail at this moment, so that the next look sees it. */
const sameMail = '23505';

/** The planning writes many rows too, in another order. A statement on one row cannot be part of a deadlock. */
async function oneByOne<In, Out>(
  items: readonly In[],
  run: (items: readonly In[]) => Promise<readonly Out[]>,
  after: readonly string[] = [deadlock],
): Promise<readonly Out[]> {
  const isOne = (error: unknown): boolean =>
    error instanceof pg.DatabaseError && after.includes(error.code ?? '');
  try {
    return await run(items);
  } catch (error) {
    if (!isOne(error)) throw error;
  }
  const results: Out[] = [];
  for (const item of items) {
    const one = (): Promise<readonly Out[]> => run([item]);
    results.push(
      ...(await one().catch((error: unknown) => {
        if (isOne(error)) return one();
        throw error;
      })),
    );
  }
  return results;
}
