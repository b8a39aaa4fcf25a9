import type { FieldMapping } from '../core/lead/mapping.ts';
import { type UndoneRecord, UndoneRecords } from '../core/merge/undone-records.ts';
import type { AbsenceProof } from '../core/merge/difference.ts';
import { type Queryable, rowsOf } from './database.ts';
import { heldAgain } from './decisions.ts';
import type { RunRef } from './runs.ts';

/** Remembers what an undo took the other side from. */
export async function keepUndone(
  db: Queryable,
  connection: string,
  records: readonly UndoneRecord[],
): Promise<void> {
  await db.query(
    `insert into held (kind, connection, lead_id, content_hash, row_value)
     select distinct on (r."leadId", r."contentHash") 'undone', $1, r."leadId", r."contentHash", r.cells
     from jsonb_to_recordset($2::jsonb) as r ("leadId" text, "contentHash" text, cells jsonb)
     ${heldAgain} row_value = excluded.row_value, missed = 0, last_run = null`,
    [connection, JSON.stringify(records)],
  );
}

export async function loadUndone(
  db: Queryable,
  connection: string,
  fields: readonly FieldMapping[],
): Promise<UndoneRecords> {
  const records = await rowsOf<UndoneRecord>(
    db,
    `select lead_id as "leadId", content_hash as "contentHash", row_value as cells from held where kind = 'undone' and connection = $1`,
    [connection],
  );
  return new UndoneRecords(records, fields);
}

/**
 * Deletes records that a person decided on or that two complete scans of different runs did not show unchanged. Call it
 * before ended conflicts are released.
 */
export async function saveUndone(
  db: Queryable,
  run: RunRef,
  undone: UndoneRecords,
  isProof: AbsenceProof,
): Promise<void> {
  if (undone.size === 0) return;
  const isSeen = `exists (select from jsonb_to_recordset($3::jsonb) as s ("leadId" text, "contentHash" text)
    where s."leadId" = u.lead_id and s."contentHash" = u.content_hash)`;
  const isMissed = `(u.last_run is distinct from $1 and case when u.lead_id = '' then $5::boolean else $4 end)`;
  const parameters = [run.id, run.connection, JSON.stringify(undone.seen), isProof.leads, isProof.rows];
  await db.query(
    `delete from held u where kind = 'undone' and connection = $2 and not ${isSeen} and (missed > 0 and ${isMissed}
       or exists (select from held h where h.kind = 'conflict' and h.connection = $2 and h.lead_id = u.lead_id
         and split_part(h.content_hash, '#', 1) = u.content_hash and h.code in ('row.undone', 'lead.undone')
         and h.resolution is not null))`,
    parameters,
  );
  await db.query(
    `update held u set last_run = $1, missed = case when ${isSeen} then 0 else missed + ${isMissed}::int end
     where kind = 'undone' and connection = $2`,
    parameters,
  );
}
