import type { Cell } from '../core/lead/value.ts';
import { columnOf, epochMs, type Queryable, rowsOf, timestamp, valueOf } from './database.ts';
import { history } from './history.ts';
import { isAlive } from './leases.ts';
import { type Digest, getMails, isSameMail, type Reminder } from './mails.ts';

/** The mails of a connection, or the messages to its chat. */
export interface MailWork {
  readonly connection: string;
  readonly isChat: boolean;
}

/** Ms for which a mail is left alone whose outcome the server left open, and one whose process is gone. */
export interface SendingWaits {
  readonly doubtMs: number;
  readonly cutOffMs: number;
}

const doubtOver = (doubtMs: string, cutOffMs: string): string =>
  `updated_at + make_interval(secs => case when sender is null then ${doubtMs}::float8 else ${cutOffMs} end / 1000)`;

/** When a mail that nobody has in hand may be taken up. */
const readyAt = `greatest(send_at, try_at, case when state = 'sending' then ${doubtOver('$3', '$4')} end)`;

/** The leases of the processes that send. */
const living = `living as materialized (select token from leases where name like 'mails %' and ${isAlive})`;

/** `$1` and `$2`: of `MailWork`. */
const isOpenWork = `connection = $1 and (recipient like '%@%') <> $2 and state in ('scheduled', 'sending')`;
const isFree = `(sender is null or sender not in (select token from living))`;

/**
 * Takes up what is due, at most `limit`: digests first, for which reminders of the same minute wait, then what was due
 * first. It stays the process's until `endSending`, or until its lease ends; no other process waits or takes it, too.
 */
export async function takeMails(
  db: Queryable,
  { connection, isChat }: MailWork,
  { doubtMs, cutOffMs }: SendingWaits,
  {
    token,
    inHand,
    limit,
  }: { readonly token: string; readonly inHand: readonly number[]; readonly limit: number },
): Promise<readonly TakenMail[]> {
  const ids = await columnOf<number>(
    db,
    `with ${living}, taken as (
       update mails set sender = $5, taken_at = coalesce(taken_at, clock_timestamp()) where id in (
         select id from mails where ${isOpenWork} and send_at <= now() and ${readyAt} <= now()
           -- Of its own what it has forgotten, as after a fault of the database.
           and (${isFree} or sender = $5) and id <> all($6::bigint[])
         order by kind <> 'digest', send_at, id limit $7 for update skip locked)
       returning id, kind, send_at)
     select id from taken order by kind <> 'digest', send_at, id`,
    [connection, isChat, doubtMs, cutOffMs, token, inHand, limit],
  );
  const mails = await getMails(db, ids);
  const backgrounds = await leadBackgrounds(
    db,
    mails.map((mail) => ({ connection: mail.connection, leadId: mail.kind === 'digest' ? '' : mail.leadId })),
  );
  return mails.map((mail, index) => ({ mail, background: backgrounds[index] ?? noBackground }));
}

/** The moment (epoch ms) from which on one may be taken up, perhaps past; null: there is none. */
export function nextMailAt(
  db: Queryable,
  { connection, isChat }: MailWork,
  { doubtMs, cutOffMs }: SendingWaits,
): Promise<number | null> {
  return valueOf(
    db,
    `with ${living} select floor(${epochMs(`min(${readyAt})`)}) from mails where ${isOpenWork} and ${isFree}`,
    [connection, isChat, doubtMs, cutOffMs],
  );
}

/** A mail as it was taken up, by `sender`. */
export type Claim = Pick<Reminder | Digest, 'id' | 'state' | 'sendAt' | 'sequence'> & {
  readonly sender: string;
  /** When it was tried for the first time (epoch ms), as its Date says. */
  readonly firstTriedAt: number;
};

/** What becomes of a mail that was taken up. */
export interface Ending {
  readonly id: number;
  /** Null: as it was. */
  readonly state: 'scheduled' | 'sent' | 'cancelled' | 'skipped' | 'missed' | 'failed' | null;
  /** Null: as it was. */
  readonly note: string | null;
  /** The process that has it in hand, without which this does not count. */
  readonly sender: string;
  /** It is not taken up again before (ms from now). */
  readonly waitMs?: number | undefined;
  /** An attempt that did not come as far as `beginSending`, which counts them. */
  readonly isTry?: boolean | undefined;
  /** The mail server left open whether it took it. */
  readonly isUnknown?: boolean | undefined;
  /** Of a digest, the reminders that it makes superfluous when it is sent. */
  readonly tells?: readonly number[] | undefined;
}

/**
 * Notes that mails are handed to the server now by the holder of the lease `sender`; to be committed before they are.
 * False: it was settled, put off or planned anew since it was taken up, another process has taken it over, or another
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
           as c (id bigint, state text, sender uuid, sequence int, "sendAt" timestamptz, "firstTriedAt" timestamptz)),
       -- In one order everywhere, so that two processes do not wait for each other.
       locked as (select id from mails where id = any($3) order by id for update)
     update mails m set state = 'sending', attempts = attempts + 1, resends = m.resends + (m.state = 'sending')::int,
       first_tried_at = c."firstTriedAt", sender = $2, updated_at = clock_timestamp()
     from claims c join locked using (id)
     -- The ids by themselves: of JSON the planner knows no number, and it may read the whole table for one mail.
     where m.id = any($3) and m.id = c.id and m.state = c.state and m.sender = c.sender and m.sequence = c.sequence
       and date_trunc('milliseconds', m.send_at) = date_trunc('milliseconds', c."sendAt")
       -- A process that was cut off while the state moved may not know it.
       and not exists (select from keeper where moved is not null)
       and not exists (select from mails o where o.state in ('sending', 'sent', 'failed') and ${isSameMail('o', 'm')})
     returning m.id`,
    [
      JSON.stringify(
        claims.map(({ id, state, sender: taker, sequence, sendAt, firstTriedAt }) => {
          const at = { sendAt: timestamp(sendAt), firstTriedAt: timestamp(firstTriedAt) };
          return { id, state, sender: taker, sequence, ...at };
        }),
      ),
      sender,
      claims.map(({ id }) => id),
    ],
  );
  const begun = new Set(ids);
  return claims.map(({ id }) => begun.delete(id));
}

const isOpen = `m.state in ('scheduled', 'sending')`;

/**
 * Gives mails back that a process had in hand, settled or not; what another worker has taken over or settled meanwhile stays
 * as it is. With a digest that was sent, what it tells is skipped: at once, so that a death leaves both or none.
 */
export async function endSending(db: Queryable, all: readonly Ending[]): Promise<void> {
  const tells = new Set(all.flatMap(({ tells = [] }) => tells));
  // A statement changes a row once: what waits for a digest and was given back would not be skipped by it, too.
  const waiting = all.filter(({ id }) => tells.has(id));
  if (waiting.length > 0) await endSending(db, waiting);
  const endings = all.filter(({ id }) => !tells.has(id));
  await db.query(
    `with endings as (select * from json_to_recordset($1::json)
         as e (id bigint, state text, note text, sender uuid, "waitMs" float8, "isTry" boolean, "isUnknown" boolean, tells bigint[])),
       locked as (select id from mails where id = any($2) order by id for update),
       ended as (
         update mails m set sender = null, try_at = clock_timestamp() + e."waitMs" * interval '1 ms',
           state = case when ${isOpen} then coalesce(e.state, m.state) else m.state end,
           note = case when ${isOpen} then coalesce(e.note, m.note) else m.note end,
           attempts = attempts + coalesce(e."isTry", false)::int,
           unknown_outcomes = unknown_outcomes + coalesce(e."isUnknown", false)::int,
           updated_at = case when ${isOpen} and (e.state is not null or e."isUnknown") then now() else updated_at end
         from endings e join locked using (id)
         where m.id = any($2) and m.id = e.id and m.sender = e.sender
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
  { cutOffMs, doubtMs }: SendingWaits,
): Promise<boolean> {
  const { rowCount } = await db.query(
    `update mails set state = 'cancelled', sender = null, updated_at = now(),
       note = 'its connection left the configuration while it was being sent: it may have arrived or not'
     where id = $1 and state = 'sending' and connection <> all($2)
       and not exists (select from leases where token = mails.sender and ${isAlive})
       and ${doubtOver('$3', '$4')} < clock_timestamp()`,
    [id, configured, doubtMs, cutOffMs],
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

/** None of these mails is tried before `waitMs` have passed. */
export async function putOffMails(
  db: Queryable,
  connections: readonly string[],
  isChat: boolean,
  waitMs: number,
): Promise<void> {
  await db.query(
    `update mails set try_at = clock_timestamp() + $3 * interval '1 ms'
     where connection = any($1) and (recipient like '%@%') <> $2 and state = 'scheduled' and sender is null
       and send_at < now() + $3 * interval '1 ms'`,
    [connections, isChat, waitMs],
  );
}

/** What was refused is tried again now: a process that starts may have other settings, or the mail server may be repaired. */
export async function retryMails(db: Queryable, connections: readonly string[]): Promise<void> {
  await db.query(
    `update mails set try_at = null
     where connection = any($1) and recipient like '%@%' and state = 'scheduled' and send_at <= now()`,
    [connections],
  );
}

/** Moves a mail that may not leave now to the next moment (epoch ms) at which it may. */
export async function postponeMail(db: Queryable, id: number, sendAt: number): Promise<void> {
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
         select distinct on (field) field, coalesce(base, before, 'null') as was from ${history} h
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

const noBackground: LeadBackground = { before: {}, row: null, place: null };

/** A mail that this process has in hand, and what it shows. */
export interface TakenMail {
  readonly mail: Reminder | Digest;
  readonly background: LeadBackground;
}
