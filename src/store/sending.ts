import type { Cell } from '../core/lead/value.ts';
import { columnOf, type Queryable, rowsOf, timestamp } from './database.ts';
import { isAlive } from './leases.ts';
import { getReminders, isSameMail, type Reminder } from './mails.ts';

/** What decides whether a mail may be sent now. */
export interface Claim {
  readonly id: number;
  readonly state: string;
  readonly round: number;
  /** How often a mail was begun again with an unknown outcome. */
  readonly resends: number;
  /** Epoch ms. */
  readonly sendAt: number;
  /** When it was tried for the first time (epoch ms), as its Date says. */
  readonly firstTriedAt: number;
}

/** What a mail that is scheduled or being sent is settled as. */
export interface Ending {
  readonly id: number;
  readonly state: 'scheduled' | 'sent' | 'cancelled' | 'skipped' | 'missed' | 'failed';
  readonly note: string | null;
  /** The process that began it, without which this does not count; null: none did. */
  readonly sender: string | null;
  /** Of a digest, the reminders that it makes superfluous when it is sent. */
  readonly tells?: readonly number[];
}

/**
 * Notes that mails are handed to the server now by the holder of the lease `sender`; to be committed before they are.
 * False: another worker was faster, it was settled, put off or planned anew meanwhile, the same claim came before, or another
 * connection sends or has sent the same mail. One that was in `sending` already is begun again, which is counted. Throws a
 * unique violation, without any effect, when two of the claims, or one of another process at this moment, are the same mail.
 */
export async function beginSending(
  db: Queryable,
  claims: readonly Claim[],
  sender: string,
): Promise<readonly boolean[]> {
  const ids = await columnOf<number>(
    db,
    `with claims as (
         select * from json_to_recordset($1::json)
           as c (id bigint, state text, round int, resends int, "sendAt" timestamptz, "firstTriedAt" timestamptz)),
       -- In one order everywhere, so that two processes do not wait for each other.
       locked as (select id from mails where id = any($3) order by id for update)
     update mails m set state = 'sending', attempts = attempts + 1, resends = m.resends + (m.state = 'sending')::int,
       first_tried_at = c."firstTriedAt", sender = $2, updated_at = clock_timestamp()
     from claims c join locked using (id)
     -- The ids by themselves: of JSON the planner knows no number, and it may read the whole table for one mail.
     where m.id = any($3) and m.id = c.id and m.state = c.state and m.round = c.round and m.resends = c.resends
       and date_trunc('milliseconds', m.send_at) = date_trunc('milliseconds', c."sendAt")
       -- A process that was cut off while the state moved may not know it.
       and not exists (select from keeper where moved is not null)
       and not exists (select from mails o where o.state in ('sending', 'sent', 'failed') and ${isSameMail('o', 'm')})
     returning m.id`,
    [
      JSON.stringify(
        claims.map(({ id, state, round, resends, ...at }) => {
          return {
            id,
            state,
            round,
            resends,
            sendAt: timestamp(at.sendAt),
            firstTriedAt: timestamp(at.firstTriedAt),
          };
        }),
      ),
      sender,
      claims.map(({ id }) => id),
    ],
  );
  const begun = new Set(ids);
  return claims.map(({ id }) => begun.delete(id));
}

/** Notes that the mail server left open whether it took the mail; no process sends it any more. */
export async function noteUnknown(db: Queryable, id: number, sender: string): Promise<void> {
  await db.query(
    `update mails set unknown_outcomes = unknown_outcomes + 1, sender = null, updated_at = now()
     where id = $1 and state = 'sending' and sender = $2`,
    [id, sender],
  );
}

/**
 * Settles mails that are scheduled or being sent; what another worker has begun or settled meanwhile stays as it is. With a
 * digest that was sent, what it tells is skipped: at once, so that a death leaves both or none.
 */
export async function endSending(db: Queryable, endings: readonly Ending[]): Promise<void> {
  await db.query(
    `with endings as (select * from json_to_recordset($1::json) as e (id bigint, state text, note text, sender uuid, tells bigint[])),
       locked as (select id from mails where id = any($2) order by id for update),
       ended as (
         update mails m set state = e.state, note = e.note, sender = null, updated_at = now()
         from endings e join locked using (id)
         where m.id = any($2) and m.id = e.id and m.state in ('scheduled', 'sending') and m.sender is not distinct from e.sender
         returning m.id, m.state)
     update mails m set state = 'skipped', note = 'the digest of the same minute says the same', updated_at = now()
     from endings e join ended using (id)
     where ended.state = 'sent' and m.id = any($3) and m.id = any(e.tells) and m.state = 'scheduled'`,
    [JSON.stringify(endings), endings.map(({ id }) => id), endings.flatMap(({ tells = [] }) => tells)],
  );
  const told = endings.filter(({ state }) => state === 'sent' || state === 'failed');
  if (told.length > 0)
    await skipSame(
      db,
      told.map(({ id }) => id),
    );
}

/**
 * Gives up a mail that is being sent, unless its connection is one of these or its process lives: nobody would send it again, and
 * until then no other connection may tell the same. The times are those after
 * which it would be begun again: of a process that is gone, and of an outcome that the mail server left open.
 */
export async function giveUpLeft(
  db: Queryable,
  id: number,
  configured: readonly string[],
  { cutOffMs, doubtMs }: { readonly cutOffMs: number; readonly doubtMs: number },
): Promise<boolean> {
  const { rowCount } = await db.query(
    `update mails set state = 'cancelled', sender = null, updated_at = now(),
       note = 'its connection left the configuration while it was being sent: it may have arrived or not'
     where id = $1 and state = 'sending' and connection <> all($2)
       and not exists (select from leases where token = mails.sender and ${isAlive})
       and clock_timestamp() - updated_at > make_interval(secs => case when sender is null then $4::float8 else $3 end / 1000)`,
    [id, configured, cutOffMs, doubtMs],
  );
  return rowCount === 1;
}

/** Skips the mails of other connections that say what these, which were sent or have failed, say: nobody gets it twice. */
export async function skipSame(db: Queryable, ids: readonly number[]): Promise<void> {
  await db.query(
    `update mails m set state = 'skipped', updated_at = now(), note = o.connection
         || case o.state when 'sent' then ' has sent the same mail' else ' could not send the same mail' end
     from mails o where o.id = any($1) and o.state in ('sent', 'failed') and m.state = 'scheduled' and ${isSameMail('o', 'm')}`,
    [ids],
  );
}

/** Notes why a scheduled reminder could not be made this time. */
export async function noteTry(db: Queryable, id: number, note: string): Promise<void> {
  await db.query(
    `update mails set attempts = attempts + 1, note = $2 where id = $1 and state = 'scheduled'`,
    [id, note],
  );
}

/** Moves a mail that may not leave now to the next moment (epoch ms) at which it may. */
export async function deferMail(db: Queryable, id: number, sendAt: number): Promise<void> {
  await db.query(
    `update mails set send_at = $2::timestamptz where id = $1 and state in ('scheduled', 'sending')`,
    [id, timestamp(sendAt)],
  );
}

/** What a mail about a lead shows besides the lead. */
export interface LeadBackground {
  /**
   * By field, what both sides agreed on before the first change since the last reminder of this lead that was sent. Empty
   * when there was none.
   */
  readonly before: Readonly<Record<string, Cell>>;
  /** The row's number in the target as the last sync saw or left it; null when there was none. */
  readonly row: number | null;
  /** What the target is known by; null: no sync has found it so far. */
  readonly place: string | null;
}

/** Of one lead of one connection. */
interface LeadKey {
  readonly connection: string;
  readonly leadId: string;
}

/** For each lead in its order. */
export function leadBackgrounds(
  db: Queryable,
  leads: readonly LeadKey[],
): Promise<readonly LeadBackground[]> {
  return rowsOf(
    db,
    `select (select coalesce(jsonb_object_agg(field, was), '{}') from (
         select distinct on (field) field, coalesce(base, before, 'null') as was from history
         where connection = l.connection and lead_id = l.lead_id and at > (
           select max(updated_at) from mails
           where connection = l.connection and lead_id = l.lead_id and kind <> 'digest' and state = 'sent')
         order by field, id) first) as before,
       coalesce((select row_number from actions where lead_id = l.lead_id and row_number is not null and state = 'done'
         and run_id = (select id from runs where connection = l.connection and mode = 'sync' order by id desc limit 1)
         order by id desc limit 1),
         (select row_number from pairs where connection = l.connection and lead_id = l.lead_id)) as row,
       (select identity from places where connection = l.connection and is_current) as place
     from unnest($1::text[], $2::text[]) with ordinality as l (connection, lead_id, nth) order by nth`,
    [leads.map(({ connection }) => connection), leads.map(({ leadId }) => leadId)],
  );
}

/** A mail about a lead as it stands, and what it shows. */
export interface ReadMail {
  readonly reminder: Reminder;
  readonly background: LeadBackground;
}

/** Mails that are to be sent. For each id in its order; null: there is none. */
export async function readMails(
  db: Queryable,
  ids: readonly number[],
): Promise<readonly (ReadMail | null)[]> {
  const reminders = await getReminders(db, ids);
  const found = reminders.filter((reminder) => reminder !== null);
  const backgrounds = await leadBackgrounds(db, found);
  const mails = found.map((reminder, index): [number, ReadMail] => {
    const background = backgrounds[index] ?? { before: {}, row: null, place: null };
    return [reminder.id, { reminder, background }];
  });
  const byId = new Map(mails);
  return ids.map((id) => byId.get(id) ?? null);
}
