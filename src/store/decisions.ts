import type { Cell } from '../core/lead/value.ts';
import type { DeleteAnswer } from '../core/merge/answers.ts';
import { type Queryable, rowsOf } from './database.ts';

/** A person's decision: on the conflict of a field or of a whole record (`field` empty), or on a match. */
export interface Decision {
  readonly leadId: string;
  readonly field: string;
  /** `requested`, `given-up`: on an edit that somebody requested; then `row` is the requested value. */
  readonly choice: 'lead' | 'target' | DeleteAnswer | 'accepted' | 'rejected' | 'requested' | 'given-up';
  /** What both sides showed then; null of a whole record or a match. */
  readonly lead: Cell;
  readonly row: Cell;
  readonly by: string;
  /** ISO instant. */
  readonly at: string;
}

/** Who took a decision, and when (ISO instant). */
export interface Decided {
  readonly by: string;
  readonly at: string;
}

/** As whom the status page decides: it knows a token, no names. */
export const statusPage = 'somebody on the status page';

const isoAt = `to_char(decided_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')`;

/** SQL for `Decided` of a row of `held`, which counts where `isDecided`. */
export const decidedOn = (isDecided: string): string =>
  `case when ${isDecided} and decided_by is not null then json_build_object('by', decided_by, 'at', ${isoAt}) end`;

/** SQL: what an insert into `held` does with what is there already; assignments follow. */
export const heldAgain = `on conflict (connection, lead_id, kind, content_hash, field) where kind not in ('decision', 'edit', 'calendar') do update set`;

/** The newest decisions of a connection, of one lead when it is named, the newest first. */
export function listDecisions(
  db: Queryable,
  connection: string,
  leadId: string | null,
  limit: number | null,
): Promise<readonly Decision[]> {
  return rowsOf(
    db,
    `select lead_id as "leadId", field, resolution as choice, lead_value as lead, row_value as row, decided_by as by, ${isoAt} as at
     from held where kind = 'decision' and connection = $1 and ($2::text is null or lead_id = $2) order by id desc limit $3`,
    [connection, leadId, limit],
  );
}
