import type { Cells, Values } from '../core/lead/value.ts';
import type { LiveScan } from '../core/merge/live-scan.ts';
import type { Intent } from '../core/merge/match-lost-creates.ts';
import { columnOf, countOf, oneOf, type Queryable, rowsOf, valueOf } from './database.ts';
import type { RunRef } from './runs.ts';

/** Commits that a lead is about to be created; must be durable before the request leaves. Returns the intent's id. */
export async function beginIntent(
  db: Queryable,
  intent: { connection: string; actionId: number; contentHash: string; row: Cells; content: Values },
): Promise<number> {
  const { connection, actionId, contentHash, row, content } = intent;
  return (
    await oneOf<{ id: number }>(
      db,
      `insert into intents (connection, action_id, content_hash, row_cells, content) values ($1, $2, $3, $4, $5) returning id`,
      [connection, actionId, contentHash, JSON.stringify(row), JSON.stringify(content)],
    )
  ).id;
}

/** The intent of an action, when one was begun and not abandoned. */
export function intentOfAction(db: Queryable, actionId: number): Promise<number | null> {
  return valueOf(db, `select id from intents where action_id = $1 and state <> 'abandoned'`, [actionId]);
}

/**
 * Unfinished intents, oldest first, and those whose row lost its id again (in an older copy of the table, for example): the
 * scan has the lead, no row has its id, and a row without id shows what the lead was created from.
 */
export async function openIntents(db: Queryable, run: RunRef, scan: LiveScan): Promise<readonly Intent[]> {
  const counts = new Map<string, number>();
  for (const { leadId, contentHash } of scan.rows.loose())
    if (leadId === null) counts.set(contentHash, (counts.get(contentHash) ?? 0) + 1);
  const single = [...counts].flatMap(([contentHash, count]) => (count === 1 ? [contentHash] : []));
  const intents = await rowsOf<Intent>(
    db,
    `select id, content_hash as "contentHash", row_cells as row, content, lead_id as "leadId", answered,
       floor(extract(epoch from attempted_at) * 1000)::float8 as "attemptedAt", scans_without_it as "scansWithoutIt",
       state = 'linked' as "lostItsRow"
     from intents
     where connection = $1 and (state in ('in-doubt', 'created') or state = 'linked' and content_hash = any($2))
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
  const text = `from intents where connection = $1 and state in ('in-doubt', 'created')`;
  return (await countOf(db, text, [connection])) > 0;
}

/** How long ago (ms) unfinished creates without a conflict were attempted. */
export function openAttempts(db: Queryable, connection: string): Promise<readonly number[]> {
  return columnOf(
    db,
    // By the clock of the database alone: those of workers differ from it, and jump.
    `select floor(extract(epoch from now() - attempted_at) * 1000)::float8 as age from intents i
     where connection = $1 and state in ('in-doubt', 'created') and not exists (
       select from held h where h.kind = 'conflict' and h.connection = $1 and h.content_hash = i.content_hash and (h.code like 'create.%' or h.code = 'row.id-unreadable'))`,
    [connection],
  );
}

/** The attempt ended only now, without a reply: the service may still act on it for a while. */
export async function attemptEnded(db: Queryable, id: number): Promise<void> {
  await db.query(`update intents set attempted_at = now() where id = $1`, [id]);
}

/** What the rows of intents show after they were edited, so that edits that follow each other do not make one a stranger. */
export async function rowsSeen(
  db: Queryable,
  seen: readonly { readonly intentId: number; readonly row: Cells }[],
): Promise<void> {
  if (seen.length === 0) return;
  await db.query(
    `update intents i set row_cells = s."row" from json_to_recordset($1::json) as s ("intentId" bigint, "row" jsonb)
     where i.id = s."intentId"`,
    [JSON.stringify(seen)],
  );
}

/** The service said that it made the lead of an intent. */
export async function intentAnswered(db: Queryable, id: number): Promise<void> {
  await db.query(`update intents set answered = true where id = $1`, [id]);
}

/** The leads of these intents are known. */
export async function intentsCreated(
  db: Queryable,
  made: readonly { readonly id: number; readonly leadId: string }[],
): Promise<void> {
  if (made.length === 0) return;
  await db.query(
    `update intents i set state = 'created', lead_id = m."leadId" from json_to_recordset($1::json) as m (id bigint, "leadId" text)
     where i.id = m.id`,
    [JSON.stringify(made)],
  );
}

/** The row has the id: the create is finished. */
export async function intentsLinked(db: Queryable, ids: readonly number[]): Promise<void> {
  if (ids.length === 0) return;
  await db.query(`update intents set state = 'linked' where id = any($1)`, [ids]);
}

/** The lead was certainly not made (refused, or looked for in vain), or its row is gone. */
export async function abandonIntents(db: Queryable, ids: readonly number[]): Promise<void> {
  await db.query(`update intents set state = 'abandoned' where id = any($1)`, [ids]);
}

/** Another scan did not show the leads of these intents. */
export async function countScanWithout(db: Queryable, ids: readonly number[], weight: number): Promise<void> {
  await db.query(`update intents set scans_without_it = scans_without_it + $2 where id = any($1)`, [
    ids,
    weight,
  ]);
}

/** A scan showed leads that may come from these intents: earlier scans without them count no more. */
export async function forgetScansWithout(db: Queryable, ids: readonly number[]): Promise<void> {
  await db.query(`update intents set scans_without_it = 0 where id = any($1)`, [ids]);
}

/** The service reported the lead as created, but does not have it: its row belongs to no lead. */
export async function intentRefuted(db: Queryable, actionId: number): Promise<void> {
  await db.query(`update intents set state = 'abandoned' where action_id = $1`, [actionId]);
}

/** These leads' creates were undone: their rows are not linked any more. */
export async function abandonIntentsOf(
  db: Queryable,
  connection: string,
  leadIds: readonly string[],
): Promise<void> {
  await db.query(`update intents set state = 'abandoned' where connection = $1 and lead_id = any($2)`, [
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
    `update intents i set unmapped_hash = l.others from json_to_recordset($3::json) as l ("leadId" text, others text)
     where i.connection = $2 and i.lead_id = l."leadId" and i.action_id in (select id from actions where run_id = $1)`,
    [run.id, run.connection, JSON.stringify(leads)],
  );
}

/** What a lead had in unmapped fields when it was created; null: unknown. */
export function unmappedHashOf(db: Queryable, connection: string, leadId: string): Promise<string | null> {
  return valueOf(
    db,
    `select unmapped_hash as "unmappedHash" from intents where connection = $1 and lead_id = $2 order by id desc limit 1`,
    [connection, leadId],
  );
}

/** Leads that the run created and found by a scan: it has not read them as they were created. */
export function unreadCreates(db: Queryable, runId: number): Promise<readonly string[]> {
  return columnOf(
    db,
    `select i.lead_id as "leadId" from intents i join actions a on a.id = i.action_id
     where a.run_id = $1 and i.state = 'linked' and i.lead_id is not null and i.unmapped_hash is null order by i.id`,
    [runId],
  );
}
