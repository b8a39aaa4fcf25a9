import type { Cell } from '../core/lead/value.ts';
import { type Queryable, rowsOf } from './database.ts';

/** A person's decision: on the conflict of a field or of a whole record (`field` empty), or on a match. */
export interface Decision {
  readonly leadId: string;
  readonly field: string;
  /** `requested`, `given-up`: on an edit that somebody requested; then `row` is the requested value. */
  readonly choice: 'lead' | 'target' | 'accepted' | 'rejected' | 'requested' | 'given-up';
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

const isoAt = `to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')`;

/** SQL for `Decided` of a row of `conflicts` or `matches`: the last decision on it. */
export const decidedOn = (table: 'conflicts' | 'matches', reference: 'conflict_id' | 'match_id'): string =>
  `(select json_build_object('by', decided_by, 'at', ${isoAt}) from decisions d
    where d.${reference} = ${table}.id order by d.id desc limit 1)`;

/** The newest decisions of a connection, of one lead when it is named, the newest first. */
export function listDecisions(
  db: Queryable,
  connection: string,
  leadId: string | null,
  limit: number | null,
): Promise<readonly Decision[]> {
  return rowsOf(
    db,
    `select lead_id as "leadId", field, choice, lead_value as lead, row_value as row, decided_by as by, ${isoAt} as at
     from decisions where connection = $1 and ($2::text is null or lead_id = $2) order by id desc limit $3`,
    [connection, leadId, limit],
  );
}
