import pg from 'pg';
import { gather } from './gather.ts';
import { getReminders, type Reminder } from './reminders.ts';
import {
  beginSending,
  type Claim,
  type Ending,
  endSending,
  type LeadBackground,
  leadBackgrounds,
  type LeadKey,
  type MailTable,
} from './sending.ts';

/** What the sending of one mail asks of the store and notes in it; of mails that are sent at once, in one statement. */
export interface MailLedger {
  reminder(id: number): Promise<Reminder | null>;
  background(lead: LeadKey): Promise<LeadBackground>;
  /** See `beginSending`. */
  begin(table: MailTable, claim: Claim): Promise<boolean>;
  /** See `endSending`. */
  end(table: MailTable, ending: Ending): Promise<void>;
}

/** A mail waits so long (ms) for others before it is noted that it leaves, and how it ended: each is a commit to the disk. */
const lingerMs = 10;

/** Made once for a process: only what goes through one object is carried out together. */
export function createMailLedger(pool: pg.Pool): MailLedger {
  const writes = (table: MailTable) => ({
    begin: gather(
      (claims: readonly Claim[]) => afterDeadlock(claims, (some) => beginSending(pool, table, some)),
      lingerMs,
    ),
    end: gather(
      (endings: readonly Ending[]) =>
        afterDeadlock(endings, async (some) => {
          await endSending(pool, table, some);
          return some.map(() => undefined);
        }),
      lingerMs,
    ),
  });
  const tables = { reminders: writes('reminders'), digests: writes('digests') };
  return {
    reminder: gather((ids: readonly number[]) => getReminders(pool, ids), 0),
    background: gather((leads: readonly LeadKey[]) => leadBackgrounds(pool, leads), 0),
    begin: (table, claim) => tables[table].begin(claim),
    end: (table, ending) => tables[table].end(ending),
  };
}

/** Postgres's `deadlock_detected`: the statement has had no effect. */
const deadlock = '40P01';

/** The planning writes many rows too, in an order of its own. One row alone waits for nobody who waits for it. */
async function afterDeadlock<In, Out>(
  items: readonly In[],
  carryOut: (items: readonly In[]) => Promise<readonly Out[]>,
): Promise<readonly Out[]> {
  try {
    return await carryOut(items);
  } catch (error) {
    if (!(error instanceof pg.DatabaseError) || error.code !== deadlock) throw error;
    const results: Out[] = [];
    for (const item of items) results.push(...(await carryOut([item])));
    return results;
  }
}
