import type { Cells } from '../core/lead/value.ts';
import { columnOf, epochMs, type Queryable, rowsOf, timestamp } from './database.ts';
import { history } from './history.ts';

/** A follow-up in a recipient's feed. Times are epoch ms. */
export interface FeedItem {
  readonly connection: string;
  readonly leadId: string;
  readonly dueAt: number;
  readonly sequence: number;
  readonly cells: Cells;
  /** The row's number as of the last read; null: unknown. */
  readonly row: number | null;
  /** What the table is known by; null: unknown. */
  readonly place: string | null;
  /** When the follow-up, or a value of the lead, last changed. */
  readonly changedAt: number;
}

/** A recipient's follow-ups in some connections that are due from a moment (epoch ms) on, the first ones. */
export function feedItems(
  db: Queryable,
  connections: readonly string[],
  recipient: string,
  from: number,
  limit: number,
): Promise<readonly FeedItem[]> {
  return rowsOf(
    db,
    `select f.connection, f.lead_id as "leadId", floor(${epochMs('f.due_at')}) as "dueAt", f.sequence, p.base as cells,
       p.row_number as row, (select identity from places where connection = f.connection and is_current limit 1) as place, floor(${epochMs(`greatest(f.changed_at, (select max(at) from ${history} h
         where h.connection = f.connection and h.lead_id = f.lead_id))`)}) as "changedAt"
     from follow_ups f join pairs p on p.connection = f.connection and p.lead_id = f.lead_id
     where f.connection = any($1) and f.due_at >= $3::timestamptz and $2 = any(f.recipients)
       and p.lead_deleted_at is null and p.outside_since is null and p.base is not null
     order by f.due_at, f.connection, f.lead_id limit $4`,
    [connections, recipient, timestamp(from), limit],
  );
}

/** Everybody with a follow-up in some connections, in lower case. */
export function feedRecipients(db: Queryable, connections: readonly string[]): Promise<readonly string[]> {
  return columnOf(
    db,
    `select distinct unnest(recipients) as recipient from follow_ups
     where connection = any($1) and due_at is not null order by 1`,
    [connections],
  );
}
