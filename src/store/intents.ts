import type { Cells } from '../core/lead/value.ts';
import type { LiveScan } from '../core/merge/live-scan.ts';
import type { Intent } from '../core/merge/match-lost-creates.ts';
import { columnOf, countOf, type Queryable, rowsOf, valueOf } from './database.ts';
import type { RunRef } from './runs.ts';

/** SQL: of an action, that it is a create whose lead is not known, or not in its row yet. */
export const isUnsettled = `intent in ('in-doubt', 'created')`;

/** SQL: what a create sends. */
export const sentBy = (changes: string): string =>
  `(select coalesce(jsonb_object_agg(key, value->'to'), '{}') from json_each(${changes}))`;

/**
 * Commits that the lead of an action is about to be created; must be durable before the request leaves. `connection`: the
 * key of the baselines. What became of an earlier attempt is known: there is none.
 */
export async function beginIntent(db: Queryable, connection: string, actionId: number): Promise<void> {
  await db.query(
    `update actions set intent = 'in-doubt', connection = $2, lead_id = null, answered = false, scans_without_it = 0,
       attempted_at = now(), unmapped_hash = null where id = $1`,
    [actionId, connection],
  );
}

/**
 * Unfinished intents, oldest first, and those whose row lost its id again (in an older copy of the table, for example): the
 * scan has the lead, no row has its id, and a row without id shows what the lead was created from.
 */
export async function openIntents(db: Queryable, run: RunRef, scan: LiveScan): Promise<readonly Intent[]> {
  // Rows without an id may be all that a table has, and most tables have no create.
  const isAny = await valueOf<boolean>(db, `select exists (select from actions where connection = $1)`, [
    run.connection,
  ]);
  if (isAny !== true) return [];
  const counts = new Map<string, number>();
  for (const { leadId, contentHash } of scan.rows.loose())
    if (leadId === null) counts.set(contentHash, (counts.get(contentHash) ?? 0) + 1);
  const single = [...counts].flatMap(([contentHash, count]) => (count === 1 ? [contentHash] : []));
  const intents = await rowsOf<Intent>(
    db,
    `select id, content_hash as "contentHash", expect as row, ${sentBy('changes')} as content, lead_id as "leadId", answered,
       floor(extract(epoch from attempted_at) * 1000)::float8 as "attemptedAt", scans_without_it as "scansWithoutIt",
       intent = 'linked' as "lostItsRow"
     from actions
     where connection = $1 and (${isUnsettled} or intent = 'linked' and content_hash = any($2))
     order by id`,
    [run.connection, single],
  );
  return intents.filter(
    ({ lostItsRow, leadId }) =>
      !lostItsRow || (leadId !== null && scan.hasLead(leadId) && !scan.hasRow(leadId)),
  );
}

/** Whether creates are unfinished. */
export async function hasCreatesInDoubt(db: Queryable, connection: string): Promise<boolean> {
  return (await countOf(db, `from actions where connection = $1 and ${isUnsettled}`, [connection])) > 0;
}

/** How long ago (ms) unfinished creates without a conflict were attempted. */
export function openAttempts(db: Queryable, connection: string): Promise<readonly number[]> {
  return columnOf(
    db,
    // By the clock of the database alone: those of workers differ from it, and jump.
    `select floor(extract(epoch from now() - attempted_at) * 1000)::float8 as age from actions i
     where connection = $1 and ${isUnsettled} and not exists (
       select from held h where h.kind = 'conflict' and h.connection = $1 and h.content_hash = i.content_hash and (h.code like 'create.%' or h.code = 'row.id-unreadable'))`,
    [connection],
  );
}

/** The attempt ended only now, without a reply: the service may still act on it for a while. */
export async function attemptEnded(db: Queryable, id: number): Promise<void> {
  await db.query(`update actions set attempted_at = now() where id = $1`, [id]);
}

/** What the rows of intents show after they were edited, so that edits that follow each other do not make one a stranger. */
export async function rowsSeen(
  db: Queryable,
  seen: readonly { readonly intentId: number; readonly row: Cells }[],
): Promise<void> {
  if (seen.length === 0) return;
  await db.query(
    `update actions i set expect = s."row" from json_to_recordset($1::json) as s ("intentId" bigint, "row" jsonb)
     where i.id = s."intentId"`,
    [JSON.stringify(seen)],
  );
}

/** The service said that it made the lead of an intent. */
export async function intentAnswered(db: Queryable, id: number): Promise<void> {
  await db.query(`update actions set answered = true where id = $1`, [id]);
}

/** The leads of these intents are known. */
export async function intentsCreated(
  db: Queryable,
  made: readonly { readonly id: number; readonly leadId: string }[],
): Promise<void> {
  if (made.length === 0) return;
  await db.query(
    `update actions i set intent = 'created', lead_id = m."leadId" from json_to_recordset($1::json) as m (id bigint, "leadId" text)
     where i.id = m.id`,
    [JSON.stringify(made)],
  );
}

/** The row has the id: the create is finished. */
export async function intentsLinked(db: Queryable, ids: readonly number[]): Promise<void> {
  if (ids.length === 0) return;
  await db.query(`update actions set intent = 'linked' where id = any($1)`, [ids]);
}

/** The lead was certainly not made (refused, looked for in vain, or not there when it was read again), or its row is gone. */
export async function abandonIntents(db: Queryable, ids: readonly number[]): Promise<void> {
  if (ids.length === 0) return;
  await db.query(`update actions set intent = 'abandoned' where id = any($1) and intent is not null`, [ids]);
}

/** Another scan did not show the leads of these intents. */
export async function countScanWithout(db: Queryable, ids: readonly number[], weight: number): Promise<void> {
  await db.query(`update actions set scans_without_it = scans_without_it + $2 where id = any($1)`, [
    ids,
    weight,
  ]);
}

/** A scan showed leads that may come from these intents: earlier scans without them count no more. */
export async function forgetScansWithout(db: Queryable, ids: readonly number[]): Promise<void> {
  await db.query(`update actions set scans_without_it = 0 where id = any($1)`, [ids]);
}

/** These leads' creates were undone: their rows are not linked any more. */
export async function abandonIntentsOf(
  db: Queryable,
  connection: string,
  leadIds: readonly string[],
): Promise<void> {
  await db.query(`update actions set intent = 'abandoned' where connection = $1 and lead_id = any($2)`, [
    connection,
    leadIds,
  ]);
}

/** Remembers what leads that the run made have in fields that are not mapped. */
export async function storeUnmappedHashes(
  db: Queryable,
  run: RunRef,
  leads: readonly { readonly leadId: string; readonly others: string }[],
): Promise<void> {
  if (leads.length === 0) return;
  await db.query(
    `update actions i set unmapped_hash = l.others from json_to_recordset($3::json) as l ("leadId" text, others text)
     where i.run_id = $1 and i.connection = $2 and i.lead_id = l."leadId"`,
    [run.id, run.connection, JSON.stringify(leads)],
  );
}

/** What a lead had in unmapped fields when it was created; null: unknown. */
export function unmappedHashOf(db: Queryable, connection: string, leadId: string): Promise<string | null> {
  return valueOf(
    db,
    `select unmapped_hash as "unmappedHash" from actions where connection = $1 and lead_id = $2 order by id desc limit 1`,
    [connection, leadId],
  );
}

/** Leads that the run created and found by a scan: it has not read them as they were created. */
export function unreadCreates(db: Queryable, runId: number): Promise<readonly string[]> {
  return columnOf(
    db,
    `select lead_id as "leadId" from actions
     where run_id = $1 and intent = 'linked' and lead_id is not null and unmapped_hash is null order by id`,
    [runId],
  );
}
