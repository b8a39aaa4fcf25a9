import type { AlertDetail, AlertKind } from './alerts.ts';
import { epochMs, type Queryable } from './database.ts';

/** A problem that was told and is not over, as it is listed. */
export interface ListedAlert {
  readonly kind: AlertKind;
  readonly detail: AlertDetail;
  /** Epoch ms. */
  readonly raisedAt: number;
}

/** The problems of a connection that are there now, oldest first. */
export async function listAlerts(db: Queryable, connection: string): Promise<readonly ListedAlert[]> {
  const { rows } = await db.query<ListedAlert>(
    `select kind, detail, ${epochMs('raised_at')} as "raisedAt"
     from alerts where connection = $1 and over_at is null and cleared_at is null order by id`,
    [connection],
  );
  return rows;
}
