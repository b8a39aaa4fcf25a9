import { countOf, type Queryable, rowsOf } from './database.ts';

/** A lead that the last scans did not show, or whose row was not there: it may be deleted, which is not proven yet. */
export interface WaitingDelete {
  readonly leadId: string;
  readonly company: string | null;
  readonly missing: 'lead' | 'row';
  /** ISO instant; null: not known. */
  readonly since: string | null;
}

/** The sides on which a deletion is carried out, so that what is missing there matters. */
export interface DeleteSides {
  readonly leads: boolean;
  readonly rows: boolean;
}

// A pair that was never in step has nothing that could be lost.
const missing = `connection = $1 and base is not null and lead_deleted_at is null
  and (($2 and lead_absences > 0) or ($3 and row_absences > 0))`;

/** How much may be deleted. */
export function countWaitingDeletes(
  db: Queryable,
  connection: string,
  { leads, rows: inRows }: DeleteSides,
): Promise<number> {
  return countOf(db, `from pairs where ${missing}`, [connection, leads, inRows]);
}

/** The first of what may be deleted. */
export function waitingDeletes(
  db: Queryable,
  connection: string,
  { leads, rows: inRows }: DeleteSides,
  limit: number,
): Promise<readonly WaitingDelete[]> {
  return rowsOf(
    db,
    `select lead_id as "leadId", base->>'companyName' as company,
       case when $2 and lead_absences > 0 then 'lead' else 'row' end as missing,
       to_char(absent_since at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as since
     from pairs where ${missing} order by lead_id limit $4`,
    [connection, leads, inRows, limit],
  );
}
