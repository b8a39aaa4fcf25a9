import { type ActionKind, plannedAction } from '../core/merge/action.ts';
import type { Author, ShownCell } from '../core/lead/author.ts';
import { type Cell, plainCell } from '../core/lead/value.ts';
import type { LiveScan } from '../core/merge/live-scan.ts';
import {
  type DeleteAnswer,
  deleteQuestions,
  HeldConflicts,
  type HeldRecords,
  isDeleteQuestion,
  type NewConflict,
} from '../core/merge/holds.ts';
import { openActions, recordOutcomes } from './actions.ts';
import { countOf, type Queryable, rowsOf } from './database.ts';
import type { RoundRef, RunRef } from './runs.ts';
import { basesOf } from './pairs.ts';
import { winners } from '../core/merge/policy.ts';

/** A person's decision: on the conflict of a field or of a whole record (`field` empty), or on a match. */
export interface Decision {
  readonly leadId: string;
  readonly field: string;
  /** `requested`, `given-up`: on an edit that somebody requested; then `row` is the requested value. */
  readonly choice: 'lead' | 'target' | DeleteAnswer | 'accepted' | 'rejected' | 'requested' | 'given-up';
  /** What both sides showed then; null of a whole record or a match. */
  readonly lead: Cell;
  readonly row: Cell;
  readonly by: string;
  /** ISO instant. */
  readonly at: string;
}

/** Who took a decision, and when (ISO instant). */
export interface Decided {
  readonly by: string;
  readonly at: string;
}

/** As whom the status page decides: it knows a token, no names. */
export const statusPage = 'somebody on the status page';

const isoAt = `to_char(decided_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')`;

/** SQL for `Decided` of a row of `held`, which counts where `isDecided`. */
export const decidedOn = (isDecided: string): string =>
  `case when ${isDecided} and decided_by is not null then json_build_object('by', decided_by, 'at', ${isoAt}) end`;

/** SQL: what an insert into `held` does with what is there already; assignments follow. */
export const heldAgain = `on conflict (connection, lead_id, kind, content_hash, field) where kind not in ('decision', 'edit', 'calendar') do update set`;

/** The newest decisions of a connection, of one lead when it is named, the newest first. */
export function listDecisions(
  db: Queryable,
  connection: string,
  leadId: string | null,
  limit: number | null,
): Promise<readonly Decision[]> {
  return rowsOf(
    db,
    `select lead_id as "leadId", field, resolution as choice, lead_value as lead, row_value as row, decided_by as by, ${isoAt} as at
     from held where kind = 'decision' and connection = $1 and ($2::text is null or lead_id = $2) order by id desc limit $3`,
    [connection, leadId, limit],
  );
}

/**
 * The cells of the table in the conflicts of this round whose author was not looked up since they arose, at most `limit`: what
 * is held, and with `isDecided` what a policy decides where both sides were edited.
 */
export function cellsWithoutAuthor(
  db: Queryable,
  run: RunRef & RoundRef,
  { limit, isDecided }: { readonly limit: number; readonly isDecided: boolean },
): Promise<readonly ShownCell[]> {
  return rowsOf(
    db,
    `select h.lead_id as "leadId", h.field, h.row_number as row, coalesce(h.row_value, 'null') as shown from held h
     where h.kind = 'conflict' and h.connection = $1 and h.last_run = $2 and h.last_round = $3 and h.lead_id <> '' and h.field <> ''
       and h.row_number is not null and h.author is null
     union all
     select a.lead_id, c.key, a.row_number, c.value::jsonb->(case a.kind when 'update-row' then 'from' else 'to' end)
     from actions a, json_each(a.changes) c
     where $5 and a.run_id = $2 and a.round = $3 and a.state = 'planned' and a.kind in ('update-row', 'update-lead') and a.row_number is not null
       and c.value->>'rule' = any($6) and c.value->'base' is not null
       and a.authors->c.key is null
     limit $4`,
    [run.connection, run.id, run.round, limit, isDecided, winners],
  );
}

/** Remembers what a place said of cells, as many authors as cells; null: it does not know. */
export async function storeAuthors(
  db: Queryable,
  run: RunRef & RoundRef,
  cells: readonly ShownCell[],
  authors: readonly (Author | null)[],
): Promise<void> {
  await db.query(
    `with known as materialized (
       select distinct on ("leadId", field) "leadId" as lead_id, field, author::jsonb
       from json_to_recordset($4::json) as t ("leadId" text, field text, author text)),
     held_ones as (
       update held h set author = k.author from known k
       where h.kind = 'conflict' and h.connection = $1 and h.lead_id = k.lead_id and h.field = k.field)
     update actions a set authors = coalesce(authors, '{}') || said.by_field from (
       select a.id, jsonb_object_agg(k.field, k.author) as by_field from known k join actions a on a.lead_id = k.lead_id
       where a.run_id = $2 and a.round = $3 and a.kind in ('update-row', 'update-lead') and a.changes->k.field is not null group by 1) said
     where a.id = said.id`,
    [
      run.connection,
      run.id,
      run.round,
      JSON.stringify(
        cells.map(({ leadId, field }, nth) => {
          return { leadId, field, author: JSON.stringify(authors[nth] ?? null) };
        }),
      ),
    ],
  );
}

/** What this round's plan writes at the end of a conflict names the author whom the conflict had. */
async function handOnAuthors(db: Queryable, run: RunRef & RoundRef): Promise<void> {
  await db.query(
    `update actions a set authors = said.by_field from (
       select a.id, jsonb_object_agg(h.field, h.author) as by_field
       from held h join actions a on a.lead_id = h.lead_id cross join lateral (select a.changes->h.field as change) c
       where h.kind = 'conflict' and h.connection = $1 and h.author is not null and a.run_id = $2 and a.round = $3 and a.kind <> 'hold'
         and c.change->>'rule' = any($4)
         and h.row_value = (c.change->case a.kind when 'update-lead' then 'to' else 'from' end)::jsonb group by 1) said
     where a.id = said.id`,
    [run.connection, run.id, run.round, ['resolved', ...winners]],
  );
}

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

/** Holds every action of a kind that is still to be done: the key lacks the permission. */
export async function holdRemaining(
  db: Queryable,
  run: RunRef & RoundRef,
  kind: ActionKind,
  { code, message }: { readonly code: string; readonly message: string },
): Promise<void> {
  const held = new HeldConflicts();
  for await (const open of openActions(db, run, [kind])) {
    const refused = open.filter(({ state }) => state === 'planned');
    await recordOutcomes(
      db,
      refused.map(({ id }) => ({ actionId: id, state: 'held', code, message })),
    );
    const items = refused.flatMap(({ leadId, row, contentHash, expect }) =>
      held.of(plannedAction(kind, { leadId, row, contentHash, reason: code, message }), [
        expect['companyName'],
      ]),
    );
    await recordConflicts(db, run, items);
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
