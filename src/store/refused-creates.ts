import type { Cells } from '../core/lead/value.ts';
import { type Refused, RefusedCreates, type Sighting } from '../core/merge/refused-create.ts';
import { epochMs, firstOf, mapOf, oneOf, type Queryable, rowsOf } from './database.ts';
import { heldAgain } from './conflicts.ts';
import { sentBy } from './intents.ts';
import { newRowsOf } from './new-rows.ts';
import { keysOfLead, type Service } from './places.ts';
import { mayHaveOf } from './run-sights.ts';
import type { RunRef } from './runs.ts';

export async function loadRefused(db: Queryable, connection: string): Promise<RefusedCreates> {
  const text = `select content_hash, json_build_object('code', code, 'why', message) from held where kind = 'refused' and connection = $1`;
  return new RefusedCreates(await mapOf(db, text, [connection]));
}

export async function saveRefused(
  db: Queryable,
  connection: string,
  { met, released }: RefusedCreates,
): Promise<void> {
  if (met.size > 0)
    await db.query(
      `update held set since = now() where kind = 'refused' and connection = $1 and content_hash = any($2)`,
      [connection, [...met]],
    );
  if (released.size > 0)
    await db.query(`delete from held where kind = 'refused' and connection = $1 and content_hash = any($2)`, [
      connection,
      [...released],
    ]);
}

export function refusedBefore(db: Queryable, connection: string, key: string): Promise<Refused | null> {
  return firstOf(
    db,
    `select code, message as why from held where kind = 'refused' and connection = $1 and content_hash = $2`,
    [connection, key],
  );
}

export async function rememberRefused(
  db: Queryable,
  connection: string,
  key: string,
  { code, why }: Refused,
): Promise<void> {
  await db.query(
    `insert into held (kind, connection, content_hash, code, message) values ('refused', $1, $2, $3, $4)
     ${heldAgain} code = excluded.code, message = excluded.message, since = now()`,
    [connection, key, code, why],
  );
}

/**
 * Where the id in the reply to a create was met, in any connection to which it is the same lead, and when its request left (epoch ms).
 * Until the transaction ends no other create can be given this id.
 */
export async function sightingsOf(
  db: Queryable,
  run: RunRef,
  { actionId, leadIds, service }: { actionId: number; leadIds: readonly string[]; service: Service },
): Promise<{ readonly sightings: readonly Sighting[]; readonly attemptedAt: number }> {
  await db.query(`select pg_advisory_xact_lock(hashtextextended(lower($1), 0))`, [leadIds[0]]);
  const { attemptedAt } = await oneOf<{ attemptedAt: number }>(
    db,
    `select ${epochMs('attempted_at')} as "attemptedAt" from actions where id = $1`,
    [actionId],
  );
  const keysOf = (leadId: string): string =>
    keysOfLead(leadId, { connection: '$2', baseUrl: '$5', account: '$6' });
  // A body is taken apart only where it names the id.
  const isNamed = leadIds
    .map((_, nth) => `strpos(body::text, to_json(($4::text[])[${nth + 1}])::text) > 0`)
    .join(' or ');
  const sightings = await rowsOf<Omit<Sighting, 'cells'> & { readonly cells: Cells | null }>(
    db,
    `with lines as materialized (
       select lead_id, changes from ${newRowsOf(`run_id = $1 and (${isNamed})`)} l where lead_id = any($4)),
     sighted as materialized (
       select l.* from run_sights s cross join lateral json_to_recordset(s.leads) as l ("leadId" text, lead jsonb)
       where s.run_id = $1 and l."leadId" = any($4) and l.lead is not null and ${mayHaveOf('$4::text[]')}),
     coming as (
       select lead_id from actions where run_id = $1 and kind = 'create-row' and lead_id = any($4)
       union select lead_id from actions where connection = $2 and lead_id = any($4) and intent = 'created' and id <> $3
       union select lead_id from lines),
     met as (
       select p.connection, p.lead_id, case when p.row_absences = 0 then p.row_number end as row,
         coalesce((select lead from sighted where "leadId" = p.lead_id limit 1), p.base) as cells,
         ${epochMs('p.first_seen_at')} as since
       from pairs p where p.lead_id = any($4) and p.connection in ${keysOf('p.lead_id')}
       union all
       select $2, "leadId", null, lead, null from sighted
       union all
       select $2, lead_id, null, ${sentBy('changes')}, null from lines
       union all
       select connection, lead_id, row_number, ${sentBy('changes')}, null from actions a
       where lead_id = any($4) and id <> $3 and intent in ('created', 'linked') and connection in ${keysOf('a.lead_id')})
     select split_part(connection, '#', 1) as connection, lead_id as "leadId", row, cells, since,
       connection = $2 and lead_id in (select lead_id from coming) as "getsRow"
     from met`,
    [run.id, run.connection, actionId, leadIds, service.baseUrl, service.account],
  );
  return { attemptedAt, sightings: sightings.map((one) => ({ ...one, cells: one.cells ?? {} })) };
}
