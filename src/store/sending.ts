import type pg from 'pg';
import type { Cell, Value } from '../lead/value.ts';
import { timestamp } from './timestamp.ts';

type Queryable = pg.Pool | pg.PoolClient;

/** Tables of mails that are owed to somebody. Both have the same columns for the sending. */
export type MailTable = 'reminders' | 'digests';

/** What decides whether a mail may be sent now. */
export interface Claim {
  readonly id: number;
  readonly state: string;
  /** How often a mail was begun again though nobody knew what had become of it. */
  readonly doubts: number;
}

/**
 * Notes that a mail leaves now; to be committed before it does. False: another worker was faster, or it was settled
 * meanwhile. One that was in `sending` already is begun again, which is counted.
 */
export async function beginSending(db: Queryable, table: MailTable, claim: Claim): Promise<boolean> {
  const { rowCount } = await db.query(
    `update ${table} set state = 'sending', attempts = attempts + 1, doubts = doubts + (state = 'sending')::int,
       updated_at = now()
     where id = $1 and state = $2 and doubts = $3`,
    [claim.id, claim.state, claim.doubts],
  );
  return rowCount === 1;
}

/** Settles a mail that is scheduled or being sent; what another worker has settled meanwhile stays as it is. */
export async function endSending(
  db: Queryable,
  table: MailTable,
  id: number,
  state: 'scheduled' | 'sent' | 'cancelled' | 'skipped' | 'missed' | 'failed',
  note: string | null,
): Promise<void> {
  await db.query(
    `update ${table} set state = $2, note = $3, updated_at = now() where id = $1 and state in ('scheduled', 'sending')`,
    [id, state, note],
  );
}

/** Moves a mail that may not leave now to the next moment (epoch ms) at which it may. */
export async function putOffMail(db: Queryable, table: MailTable, id: number, sendAt: number): Promise<void> {
  await db.query(
    `update ${table} set send_at = $2::timestamptz where id = $1 and state in ('scheduled', 'sending')`,
    [id, timestamp(sendAt)],
  );
}

/** How many mails are due and not sent yet. */
export async function countDueMails(db: Queryable, connections: readonly string[]): Promise<number> {
  const { rows } = await db.query<{ count: number }>(
    `select count(*)::int as count from (
       select connection, state, send_at from reminders union all select connection, state, send_at from digests) mails
     where connection = any($1) and state in ('scheduled', 'sending') and send_at <= now()`,
    [connections],
  );
  return rows[0]?.count ?? 0;
}

/** What a mail about a lead tells besides the lead itself. */
export interface LeadBackground {
  /**
   * By field, what both sides agreed on before the first change since the last reminder of this lead that was sent. Empty
   * when there was none.
   */
  readonly before: Readonly<Record<string, Cell>>;
  /** The row's number in the target as the last sync saw it; null when it did not have to do with the row. */
  readonly row: number | null;
}

export async function leadBackground(
  db: Queryable,
  connection: string,
  leadId: string,
): Promise<LeadBackground> {
  const { rows } = await db.query<{ before: Readonly<Record<string, Value>> | null; row: number | null }>(
    `select (select jsonb_object_agg(field, was) from (
         select distinct on (field) field, coalesce(base, before, 'null') as was from history
         where connection = $1 and lead_id = $2 and at > (
           select max(updated_at) from reminders where connection = $1 and lead_id = $2 and state = 'sent')
         order by field, id) first) as before,
       (select row_number from actions where lead_id = $2 and row_number is not null and state = 'done'
         and run_id = (select id from runs where connection = $1 and mode = 'sync' order by id desc limit 1)
         order by id desc limit 1) as row`,
    [connection, leadId],
  );
  return { before: rows[0]?.before ?? {}, row: rows[0]?.row ?? null };
}
