import type pg from 'pg';

type Queryable = pg.Pool | pg.PoolClient;

/** A lead that the last scans did not show, or whose row was not there: it may be deleted, which is not proven yet. */
export interface WaitingDelete {
  readonly leadId: string;
  readonly company: string | null;
  readonly missing: 'lead' | 'row';
  /** In how many scans in a row. */
  readonly scans: number;
}

/**
 * What may be deleted, on the sides on which a deletion is carried out: how many, and the first of them. A pair that was
 * never in step has nothing that could be lost.
 */
export async function waitingDeletes(
  db: Queryable,
  connection: string,
  sides: { readonly leads: boolean; readonly rows: boolean },
  limit: number,
): Promise<{ readonly count: number; readonly first: readonly WaitingDelete[] }> {
  const { rows } = await db.query<WaitingDelete & { total: number }>(
    `select lead_id as "leadId", base->>'companyName' as company,
       case when $2 and lead_absences > 0 then 'lead' else 'row' end as missing,
       case when $2 and lead_absences > 0 then lead_absences else row_absences end as scans, (count(*) over ())::int as total
     from pairs where connection = $1 and base is not null and lead_deleted_at is null
       and (($2 and lead_absences > 0) or ($3 and row_absences > 0))
     order by lead_id limit $4`,
    [connection, sides.leads, sides.rows, limit],
  );
  return { count: rows[0]?.total ?? 0, first: rows.map(({ total: _, ...one }) => one) };
}
