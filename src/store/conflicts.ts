import type { Author } from '../core/lead/author.ts';
import type { Cell } from '../core/lead/value.ts';
import type { Queryable } from './database.ts';
import { type Decided, decidedOn } from './decisions.ts';

interface RoundRef {
  readonly id: number;
  readonly connection: string;
  readonly round: number;
}

/** Something that stays as it is on both sides until a person decides or the sides change. */
export interface Conflict {
  readonly id: number;
  readonly connection: string;
  /** Empty for a row without id. */
  readonly leadId: string;
  readonly contentHash: string;
  /** Empty when the whole record is held. */
  readonly field: string;
  readonly row: number | null;
  readonly code: string;
  readonly message: string;
  readonly lead: Cell;
  readonly rowValue: Cell;
  readonly resolution: 'lead' | 'target' | null;
  /** Of the row's value; null: not known. */
  readonly author: Author | null;
  /** Who chose it; null when nobody has, or it is not on record. */
  readonly decided: Decided | null;
  /** ISO instant. */
  readonly since: string;
}

export interface NewConflict {
  readonly leadId: string | null;
  /** Of a row without id. */
  readonly contentHash?: string;
  /** Absent: the whole record, as are the values. */
  readonly field?: string;
  readonly row: number | null;
  readonly code: string;
  readonly message: string;
  readonly base?: Cell | undefined;
  readonly lead?: Cell;
  readonly rowValue?: Cell;
}

/** Of one that is held already. */
const again = `on conflict (connection, lead_id, content_hash, field) do update set
  last_run = excluded.last_run, last_round = excluded.last_round, row_number = excluded.row_number,
  code = excluded.code, message = excluded.message, base = excluded.base,
  resolution = case when conflicts.field <> '' and conflicts.lead_value = excluded.lead_value and conflicts.row_value = excluded.row_value
    then conflicts.resolution end,
  lead_value = excluded.lead_value, row_value = excluded.row_value`;

/** A value of a planned change as it is held. */
const orNull = (key: string): string => `coalesce((c.value->'${key}')::jsonb, 'null')`;

/**
 * Holds items; of several for one thing the last. One that is held already keeps its id and date; a person's decision
 * on it is dropped when either side shows another value than the one decided on. One on a whole record was carried out by not
 * holding it: what is held under its key now is another row that is alike.
 */
export async function recordConflicts(
  db: Queryable,
  run: RoundRef,
  newItems: readonly NewConflict[],
): Promise<void> {
  if (newItems.length === 0) return;
  const items = [...new Map(newItems.map((item) => [keyOf(item), item])).values()];
  await db.query(
    `insert into conflicts (connection, last_run, last_round, lead_id, content_hash, field, row_number, code, message, base, lead_value, row_value)
     select $1, $2, $3, * from unnest($4::text[], $5::text[], $6::text[], $7::bigint[], $8::text[], $9::text[], $10::jsonb[],
       $11::jsonb[], $12::jsonb[])
     ${again}`,
    [
      run.connection,
      run.id,
      run.round,
      items.map((item) => item.leadId ?? ''),
      items.map((item) => item.contentHash ?? ''),
      items.map((item) => item.field ?? ''),
      items.map((item) => item.row),
      items.map((item) => item.code),
      items.map((item) => item.message),
      items.map((item) => (item.base === undefined ? null : JSON.stringify(item.base))),
      items.map((item) => JSON.stringify(item.lead ?? null)),
      items.map((item) => JSON.stringify(item.rowValue ?? null)),
    ],
  );
}

/** What was held of a row without id: it has a lead now, of which the same is held. */
export async function releaseRow(
  db: Queryable,
  { connection }: Pick<RoundRef, 'connection'>,
  contentHash: string,
  row: number | null,
): Promise<void> {
  await db.query(
    `delete from conflicts where connection = $1 and lead_id = '' and row_number = $3 and split_part(content_hash, '#', 1) = $2`,
    [connection, contentHash, row],
  );
}

function keyOf({ leadId, contentHash = '', field = '' }: NewConflict): string {
  return JSON.stringify([leadId ?? '', contentHash, field]);
}

/**
 * Holds everything that the plan of this round holds, and releases what it does not hold any more. Rows without id
 * that are alike share a key: the further ones get a number, so that each is listed.
 */
export async function recordPlannedConflicts(db: Queryable, run: RoundRef): Promise<void> {
  await db.query(
    `insert into conflicts (connection, last_run, last_round, lead_id, content_hash, field, row_number, code, message, base, lead_value, row_value)
     select $3, $1, $2, coalesce(a.lead_id, ''),
       a.content_hash || case when row_number() over alike > 1 then '#' || row_number() over alike else '' end,
       coalesce(c.key, ''), a.row_number, a.reason, coalesce(a.message, a.reason),
       ${orNull('base')}, ${orNull('from')}, ${orNull('to')}
     from actions a left join json_each(a.changes) with ordinality as c (key, value, nth) on true
     where a.run_id = $1 and a.round = $2 and a.kind = 'hold'
     window alike as (partition by a.lead_id, a.content_hash, c.key order by a.id)
     order by a.id, c.nth
     ${again}`,
    [run.id, run.round, run.connection],
  );
  await db.query(
    `delete from conflicts where connection = $1 and (last_run, last_round) is distinct from ($2::bigint, $3::int)`,
    [run.connection, run.id, run.round],
  );
}

const columns = `id, connection, lead_id as "leadId", content_hash as "contentHash", field, row_number as row, code, message,
  lead_value as lead, row_value as "rowValue", resolution,
  (select nullif(v.author, 'null') from value_authors v where v.connection = conflicts.connection and v.lead_id = conflicts.lead_id
    and v.field = conflicts.field and v.value_hash = value_hash(conflicts.row_value #>> '{}')) as author,
  case when resolution is not null then ${decidedOn('conflicts', 'conflict_id')} end as decided,
  to_char(since at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as since`;

/** What is held, oldest first; of `lastRun` alone when it is given. */
export async function listConflicts(
  db: Queryable,
  connection: string,
  limit: number | null = null,
  lastRun: number | null = null,
): Promise<readonly Conflict[]> {
  const { rows } = await db.query<Conflict>(
    `select ${columns} from conflicts where connection = $1 and ($3::bigint is null or last_run = $3) order by id limit $2`,
    [connection, limit, lastRun],
  );
  return rows;
}

/** What is held of some connections, oldest first, from the item after `after` on. */
export async function conflictsOnPage(
  db: Queryable,
  connections: readonly string[],
  after: number,
  limit: number,
): Promise<readonly Conflict[]> {
  const { rows } = await db.query<Conflict>(
    `select ${columns} from conflicts where connection = any($1) and id > $2 order by id limit $3`,
    [connections, after, limit],
  );
  return rows;
}

export async function countConflicts(
  db: Queryable,
  connection: string,
  lastRun: number | null = null,
): Promise<number> {
  const { rows } = await db.query<{ count: number }>(
    `select count(*)::int as count from conflicts where connection = $1 and ($2::bigint is null or last_run = $2)`,
    [connection, lastRun],
  );
  return rows[0]?.count ?? 0;
}

export async function findConflict(db: Queryable, id: number): Promise<Conflict | null> {
  const { rows } = await db.query<Conflict>(`select ${columns} from conflicts where id = $1`, [id]);
  return rows[0] ?? null;
}

/**
 * Remembers a person's decision, and `by` whom; the next sync carries it out. False, and nothing is remembered, when it is
 * not held any more with the values that `item` shows.
 */
export async function decideConflict(
  db: Queryable,
  item: Pick<Conflict, 'id' | 'lead' | 'rowValue'>,
  use: 'lead' | 'target',
  by: string,
): Promise<boolean> {
  const { rowCount } = await db.query(
    `with decided as (
       update conflicts set resolution = $2 where id = $1 and coalesce(lead_value, 'null') = $3::jsonb
         and coalesce(row_value, 'null') = $4::jsonb returning *)
     insert into decisions (connection, lead_id, field, choice, lead_value, row_value, decided_by, conflict_id)
     select connection, lead_id, field, resolution, lead_value, row_value, $5, id from decided`,
    [item.id, use, JSON.stringify(item.lead ?? null), JSON.stringify(item.rowValue ?? null), by],
  );
  return rowCount === 1;
}
