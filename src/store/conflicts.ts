import type { Author } from '../core/lead/author.ts';
import { type Cell, plainCell } from '../core/lead/value.ts';
import type { LiveScan } from '../core/merge/live-scan.ts';
import { type DeleteAnswer, deleteQuestions, isDeleteQuestion } from '../core/merge/answers.ts';
import type { HeldRecords } from '../core/merge/difference.ts';
import { HeldConflicts, type NewConflict } from '../core/merge/held-conflicts.ts';
import { openActions } from './actions.ts';
import { countOf, type Queryable, rowsOf } from './database.ts';
import { type Decided, decidedOn, heldAgain } from './decisions.ts';
import type { RoundRef, RunRef } from './runs.ts';
import { basesOf } from './pairs.ts';
import { handOnAuthors } from './value-authors.ts';

/** Something that stays as it is on both sides until a person decides or the sides change. */
export interface Conflict {
  /** Of a field, of a whole record, a delete that a person is asked about, or a requested edit. */
  readonly kind: 'field' | 'record' | 'delete' | 'edit';
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
  /** As the run showed it; null: not known. */
  readonly company: string | null;
  readonly lead: Cell;
  readonly rowValue: Cell;
  /** Of a delete: both records as they were; of anything else null. */
  readonly records: HeldRecords | null;
  readonly resolution: 'lead' | 'target' | DeleteAnswer | null;
  /** Of the row's value; null: not known. */
  readonly author: Author | null;
  /** Of a requested edit: whose it is; null: it is none. */
  readonly requestedBy: string | null;
  /** Who chose the resolution; null: none, or not on record. */
  readonly decided: Decided | null;
  /** ISO instant. */
  readonly since: string;
}

/** For a known conflict. */
const again = `${heldAgain}
  last_run = excluded.last_run, last_round = excluded.last_round, row_number = excluded.row_number,
  code = excluded.code, message = excluded.message, company = excluded.company, base = excluded.base,
  resolution = case when held.field <> '' and held.lead_value = excluded.lead_value and held.row_value = excluded.row_value
    then held.resolution end,
  author = case when held.row_value = excluded.row_value then held.author end,
  lead_value = excluded.lead_value, row_value = excluded.row_value`;

/**
 * Stores conflicts; of several with one key the last. A known conflict keeps its id and date; a person's decision on it is
 * dropped when either side shows another value than the one decided on, and for a whole record always: the decision took
 * effect by not holding it, so the conflict under its key is another, equal row.
 */
export async function recordConflicts(
  db: Queryable,
  run: RunRef & RoundRef,
  newItems: readonly NewConflict[],
  onKnown = again,
): Promise<void> {
  if (newItems.length === 0) return;
  const items = newItems.map(
    ({
      leadId,
      contentHash = '',
      field = '',
      cells = {},
      base,
      records,
      lead = null,
      rowValue = null,
      ...rest
    }) => {
      const values = {
        base: JSON.stringify(records ?? base),
        lead: JSON.stringify(lead),
        rowValue: JSON.stringify(rowValue),
      };
      const company = plainCell(cells['companyName'] ?? null);
      return { ...rest, ...values, leadId: leadId ?? '', contentHash, field, company };
    },
  );
  const last = new Map(
    items.map((item) => [JSON.stringify([item.leadId, item.contentHash, item.field]), item]),
  );
  await db.query(
    `insert into held (kind, connection, last_run, last_round, lead_id, content_hash, field, row_number, code, message, company, base, lead_value, row_value)
     select 'conflict', $1, $2, $3, "leadId", "contentHash", field, "row", code, message, company, base::jsonb, lead::jsonb, "rowValue"::jsonb
     from json_to_recordset($4::json) as i ("leadId" text, "contentHash" text, field text, "row" bigint, code text, message text,
       company text, base text, lead text, "rowValue" text)
     ${onKnown}`,
    [run.connection, run.id, run.round, JSON.stringify([...last.values()])],
  );
}

/** A key under which this round holds no row without id so far: rows that are alike are listed each. */
export async function freeKey(db: Queryable, run: RunRef & RoundRef, contentHash: string): Promise<string> {
  const held = await countOf(
    db,
    `from held where kind = 'conflict' and connection = $1 and lead_id = '' and field = '' and last_run = $2 and last_round = $3
       and split_part(content_hash, '#', 1) = $4`,
    [run.connection, run.id, run.round, contentHash],
  );
  return held === 0 ? contentHash : `${contentHash}#${held + 1}`;
}

/** What was held of a row without id: it has a lead now, of which the same is held. */
export async function releaseRow(
  db: Queryable,
  { connection }: Pick<RunRef, 'connection'>,
  contentHash: string,
  row: number | null,
): Promise<void> {
  await db.query(
    `delete from held where kind = 'conflict' and connection = $1 and lead_id = '' and row_number = $3 and split_part(content_hash, '#', 1) = $2`,
    [connection, contentHash, row],
  );
}

/** Holds everything that the plan of this round holds, and releases what it does not hold any more. */
export async function recordPlannedConflicts(
  db: Queryable,
  run: RunRef & RoundRef,
  scan: LiveScan,
): Promise<void> {
  await holdPlanned(db, run, scan, again);
  await handOnAuthors(db, run);
  await db.query(
    `delete from held where kind = 'conflict' and connection = $1 and (last_run, last_round) is distinct from ($2::bigint, $3::int)`,
    [run.connection, run.id, run.round],
  );
}

/** Lists what a plan would hold beside what is held already: a plan decides nothing, and takes no decision away. */
export function listPlannedConflicts(db: Queryable, run: RunRef & RoundRef, scan: LiveScan): Promise<void> {
  return holdPlanned(db, run, scan, 'on conflict do nothing');
}

async function holdPlanned(
  db: Queryable,
  run: RunRef & RoundRef,
  scan: LiveScan,
  onKnown: string,
): Promise<void> {
  const held = new HeldConflicts();
  // A record that is held may be no pair.
  const namesOf = (leadId: string): readonly Cell[] =>
    [scan.lead(leadId), scan.row(leadId)?.cells].map((cells) => cells?.['companyName'] ?? null);
  for await (const holds of openActions(db, run, ['hold'])) {
    const asked = holds.flatMap(({ leadId, reason }) => (isDeleteQuestion(reason) ? [leadId ?? ''] : []));
    const was = asked.length === 0 ? null : await basesOf(db, run.connection, asked);
    const items = holds.flatMap((hold) => {
      const leadId = hold.leadId ?? '';
      return held.of(hold, namesOf(leadId), was?.get(leadId));
    });
    await recordConflicts(db, run, items, onKnown);
  }
}

/** SQL: whether a row of `held` asks about a delete. */
const isDelete = `code in (${Object.values(deleteQuestions)
  .map((code) => `'${code}'`)
  .join(', ')})`;

const columns = `id, case when kind = 'edit' then 'edit' when ${isDelete} then 'delete' when field = '' then 'record' else 'field' end as kind, connection, lead_id as "leadId", content_hash as "contentHash", field, row_number as row, code, message, company,
  lead_value as lead, row_value as "rowValue", case when kind = 'conflict' and ${isDelete} then base end as records, resolution,
  nullif(author, 'null') as author, requested_by as "requestedBy", ${decidedOn('resolution is not null')} as decided,
  to_char(coalesce(settled_at, since) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as since`;

/** SQL: of an edit, whether a person has to look at it. */
export const isEditHeld = `state in ('conflict', 'failed')`;

/** SQL: what a sync holds, and requested edits that the lead did not fit. */
export const heldItems = `held h where (kind = 'conflict' or kind = 'edit' and ${isEditHeld})`;

/** What is held, oldest first; of `lastRun` alone when it is given. */
export function listConflicts(
  db: Queryable,
  connection: string,
  limit: number | null = null,
  lastRun: number | null = null,
): Promise<readonly Conflict[]> {
  return rowsOf(
    db,
    `select ${columns} from ${heldItems} and connection = $1 and ($3::bigint is null or last_run = $3) order by id limit $2`,
    [connection, limit, lastRun],
  );
}

/** Those of these numbers that are held. */
export function conflictsOf(db: Queryable, ids: readonly number[]): Promise<readonly Conflict[]> {
  return rowsOf(db, `select ${columns} from ${heldItems} and id = any($1)`, [ids]);
}

export function countConflicts(
  db: Queryable,
  connection: string,
  lastRun: number | null = null,
): Promise<number> {
  return countOf(db, `from ${heldItems} and connection = $1 and ($2::bigint is null or last_run = $2)`, [
    connection,
    lastRun,
  ]);
}

/**
 * Remembers a person's decision, and `by` whom; the next sync carries it out. False, and nothing is remembered, when it is
 * not held any more with the values that `item` shows.
 */
export async function decideConflict(
  db: Queryable,
  item: Pick<Conflict, 'id' | 'lead' | 'rowValue'>,
  use: NonNullable<Conflict['resolution']>,
  by: string,
): Promise<boolean> {
  const { rowCount } = await db.query(
    `with decided as (
       update held set resolution = $2, decided_by = $5, decided_at = now() where id = $1 and kind = 'conflict'
         and coalesce(lead_value, 'null') = $3::jsonb and coalesce(row_value, 'null') = $4::jsonb returning *)
     insert into held (kind, connection, lead_id, field, resolution, lead_value, row_value, decided_by, decided_at)
     select 'decision', connection, lead_id, field, resolution, lead_value, row_value, decided_by, decided_at from decided`,
    [item.id, use, JSON.stringify(item.lead ?? null), JSON.stringify(item.rowValue ?? null), by],
  );
  return rowCount === 1;
}
