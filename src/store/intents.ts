import type { IntentChange } from '../core/merge/settle-creates.ts';
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

/** Of each at most one change. */
export async function changeIntents(
  db: Queryable,
  changes: Iterable<readonly [id: number, change: IntentChange]>,
): Promise<void> {
  const rows = [...changes].map(([id, change]) => ({ id, ...change }));
  if (rows.length === 0) return;
  await db.query(
    `update actions a set intent = coalesce(c.state, a.intent), lead_id = coalesce(c."leadId", lead_id),
       answered = coalesce(c.answered, a.answered), expect = coalesce(c."row", expect),
       scans_without_it = coalesce(c."scansWithoutIt", scans_without_it),
       attempted_at = case when c."endedNow" then now() else attempted_at end
     from json_to_recordset($1::json) as c (id bigint, state text, "leadId" text, answered boolean, "row" jsonb, "scansWithoutIt" real,
       "endedNow" boolean) where a.id = c.id and a.intent is not null`,
    [JSON.stringify(rows)],
  );
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
