import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { isDatabaseOutage } from '../postgres/database-outage.ts';
import { createBatcher } from './batcher.ts';
import { MailSender } from './mail-sender.ts';
import type { SentBy } from './mails.ts';
import { beginSending, type Claim, type Ending, endSending, noteUnknown } from './sending.ts';

/** What the sending of one mail notes in the store; of mails that are sent at once, in one statement. */
export interface MailLedger extends AsyncDisposable {
  /** Registers this process as a sender of mails, so that others notice its death. Call it before the first mail. */
  appear(): Promise<void>;
  /** See `beginSending`. Returns this process's token as the sender of the mail; null: another process sends it. */
  begin(claim: Claim): Promise<string | null>;
  /** See `endSending`. Waits for an unavailable database until `stop`: only this process knows the outcome of the mail. */
  end(ending: Ending, stop?: AbortSignal): Promise<void>;
  /** See `noteUnknown`. */
  unknown(id: number, sender: string, stop: AbortSignal): Promise<void>;
  /** Whether a living process, this one or another, hands the mail to the server now. */
  isUnderWay(mail: SentBy & { readonly id: number }): boolean;
}

/** Wait (ms) for the outcomes of other mails: each commit is a write to the disk. */
const lingerMs = 10;

/** Ms between two attempts to note how a mail ended while the database is away. */
const insistMs = 250;

/** Made once for a process: only what goes through one object is carried out together. */
export function createMailLedger(pool: pg.Pool): MailLedger {
  const sender = new MailSender(pool);
  /** What this process has begun and not ended, by its id and by what the process is known. */
  const underWay = new Set<string>();
  const owned = new Set<string>();
  const keyOf = (id: number, by: string | null): string => `${id} ${by}`;
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
    appear: async () => void (await sender.token()),
    async begin(claim) {
      const token = await begin(claim);
      if (token === null) return null;
      owned.add(token);
      underWay.add(keyOf(claim.id, token));
      return token;
    },
    end: (ending, stop) =>
      whenBack(() => end(ending), stop).finally(() => underWay.delete(keyOf(ending.id, ending.sender))),
    unknown: (id, by, stop) =>
      whenBack(() => noteUnknown(pool, id, by), stop).finally(() => underWay.delete(keyOf(id, by))),
    isUnderWay: ({ id, sender: by, isSenderThere }) =>
      underWay.has(keyOf(id, by)) || (isSenderThere && by !== null && !owned.has(by)),
    [Symbol.asyncDispose]: () => sender[Symbol.asyncDispose](),
  };
}

async function whenBack(write: () => Promise<void>, stop: AbortSignal | undefined): Promise<void> {
  for (;;) {
    try {
      return await write();
    } catch (error) {
      if (!isDatabaseOutage(error) || stop === undefined || stop.aborted) throw error;
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
