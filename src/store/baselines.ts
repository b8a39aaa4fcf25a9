import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { from as copyFrom } from 'pg-copy-streams';
import type pg from 'pg';
import { batchesBySize } from '../core/lead/text-size.ts';
import { idKey } from '../core/lead/lead-id.ts';
import { valueHash } from '../core/lead/content-hash.ts';
import type { Value, Values } from '../core/lead/value.ts';
import type { BaselineMove } from '../core/merge/baseline-moves.ts';
import { isEqual, type LiveScan } from '../core/merge/live-scan.ts';
import { oneOf, type Queryable, valueOf } from './database.ts';
import type { RunRef } from './runs.ts';

type Column =
  | 'base'
  | 'row_number'
  | 'lead_absences'
  | 'row_absences'
  | 'absence_run'
  | 'absent_since'
  | 'lead_deleted_at'
  | 'outside_since'
  | 'paused_since';

/** Pairs whose baselines move together: what they leave behind passes through this process. */
const movedTogether = 1_000;

interface Change {
  /** A query of `lead_id`, each once, and of what else the columns are made of; `$1` is the connection. */
  readonly of: string;
  /** SQL over that, `m`, and over the pair as it is, `p`. */
  readonly to: Partial<Record<Column, string>>;
  /** SQL: which leads that are no pairs become some. Default: none. */
  readonly make?: string;
  /** Which sides showed what a base moves to, when the run read them: as `of` says in `lead_had` and `row_had`. Default: none. */
  readonly had?: 'both' | 'told';
}

/** Raises the number by which a scan knows that its pairs are not what they were, when `isMoved` (SQL). */
const raised = (isMoved: string): string =>
  `raised as (
     insert into place_notes as notes (connection, moves) select $1, 1 where ${isMoved}
     on conflict (connection) do update set moves = notes.moves + 1)`;

/** Of how often a side was missed a scan compares only whether it was. */
const compared = (column: Column, when: 'old' | 'new'): string =>
  column.endsWith('_absences') ? `n.${when}_${column} > 0` : `n.${when}_${column}`;

/** What a scan compares of a pair. */
const scanned: readonly Column[] = ['base', 'row_number', 'lead_deleted_at', 'lead_absences', 'row_absences'];

/**
 * The one writer of pairs, with `deletePairs` and `copyPairs`: also keeps what a baseline leaves behind, and that pairs have
 * moved. Returns the number of pairs written.
 */
async function writePairs(
  db: Queryable,
  connection: string,
  { of, to, make = 'false', had }: Change,
  values: readonly unknown[] = [],
): Promise<number> {
  const columns = Object.keys(to) as Column[];
  const moved = (some: readonly Column[], form: typeof compared): string =>
    some.map((column) => `${form(column, 'old')} is distinct from ${form(column, 'new')}`).join(' or ') ||
    'false';
  const asIs: typeof compared = (column, when) => `n.${when}_${column}`;
  const hadBy = (side: 'lead' | 'row'): string =>
    had === 'told' ? `coalesce(o.field = any(n.${side}_had), false)` : String(had === 'both');
  const toScan = columns.filter((column) => scanned.includes(column));
  const leftBehind = `(select json_agg(json_build_object('leadId', n.lead_id, 'field', o.field, 'value', o.value,
       'leadHad', ${hadBy('lead')}, 'rowHad', ${hadBy('row')}))
     from next n cross join lateral jsonb_each_text(n.old_base) o (field, value) where o.value is distinct from n.new_base->>o.field)`;
  const { count, left, made } = await oneOf<Written>(
    db,
    `with next as materialized (
       select m.lead_id, p.id, ${had === 'told' ? 'm.lead_had, m.row_had, ' : ''}${columns.map((column) => `p.${column} as old_${column}, ${to[column]} as new_${column}`).join(', ')}
       from (${of}) m left join pairs p on p.connection = $1 and p.lead_id = m.lead_id
       where p.id is not null or ${make}),
     ${raised(`exists (select from next n where n.id is null or ${moved(toScan, compared)})`)},
     changed as (
       update pairs p set ${columns.map((column) => `${column} = n.new_${column}`).join(', ')} from next n
       where p.connection = $1 and p.lead_id = n.lead_id and (${moved(columns, asIs)}) returning p.id),
     made as (
       insert into pairs (connection, lead_id, ${columns.join(', ')})
       select $1, lead_id, ${columns.map((column) => `new_${column}`).join(', ')} from next where id is null returning lead_id)
     select ((select count(*) from changed) + (select count(*) from made))::int as count, ${columns.includes('base') ? leftBehind : 'null'} as left,
       array(select lead_id from made) as made`,
    [connection, ...values],
  );
  if (left !== null) await keepEarlier(db, connection, left);
  await keepKeys(db, connection, made);
  return count;
}

interface Written {
  readonly count: number;
  readonly left: readonly LeftValue[] | null;
  readonly made: readonly string[];
}

interface LeftValue {
  readonly leadId: string;
  readonly field: string;
  readonly value: Value;
  readonly leadHad: boolean;
  readonly rowHad: boolean;
}

async function keepEarlier(db: Queryable, connection: string, values: readonly LeftValue[]): Promise<void> {
  const rows = values.map(({ value, ...one }) => ({ ...one, hash: valueHash(value) }));
  await db.query(
    `insert into earlier_values (connection, lead_id, field, run_id, hash, lead_had, row_had)
     select $1, "leadId", field, coalesce((select max(id) from runs where connection = $1 and mode = 'sync'), 0), hash, "leadHad", "rowHad"
     from json_to_recordset($2::json) as v ("leadId" text, field text, hash text, "leadHad" boolean, "rowHad" boolean)`,
    [connection, JSON.stringify(rows)],
  );
}

/** Keeps how the ids of new pairs are compared. */
async function keepKeys(db: Queryable, connection: string, leadIds: readonly string[]): Promise<void> {
  const others = leadIds.filter(isSpelled);
  if (others.length === 0) return;
  await db.query(
    `update pairs p set lead_key = l.key from unnest($2::text[], $3::text[]) l (id, key) where p.connection = $1 and p.lead_id = l.id`,
    [connection, others, others.map(idKey)],
  );
}

/** Whether the service spells an id otherwise than it is compared; nearly all services spell none so. */
function isSpelled(leadId: string): boolean {
  return idKey(leadId) !== leadId;
}

async function deletePairs(
  db: Queryable,
  connection: string,
  which: string,
  values: readonly unknown[] = [],
): Promise<void> {
  await db.query(
    `with gone as (delete from pairs where connection = $1 and ${which} returning id),
     ${raised('exists (select from gone)')} select`,
    [connection, ...values],
  );
}

/** What becomes of a pair: of `m`, with `values`, `fields` and `row`. */
const becomes: Readonly<Record<Exclude<BaselineMove['to'], 'forgotten'>, Omit<Change, 'of'>>> = {
  agreed: {
    to: {
      base: `coalesce(p.base, '{}') || m."values"`,
      row_number: 'coalesce(m."row", p.row_number)',
      row_absences: 'case when m."row" is null then coalesce(p.row_absences, 0) else 0 end',
    },
    make: 'true',
  },
  reopened: { to: { base: '(p.base - m.fields) || m."values"' } },
  'lead-deleted': { to: { lead_deleted_at: 'now()' } },
  cleared: { to: { base: 'null::jsonb' } },
  placed: { to: { row_number: 'm."row"' } },
  present: { to: { row_absences: '0' } },
  missed: {
    to: {
      lead_absences: `(m.missed->>'lead')::int`,
      row_absences: `(m.missed->>'row')::int`,
      absence_run: `(m.missed->>'run')::bigint`,
      absent_since: `to_timestamp((m.missed->>'since')::float8 / 1000)`,
      row_number: 'coalesce(m."row", p.row_number)',
    },
  },
  known: {
    to: {
      row_absences: `coalesce(p.row_absences, (m.missed->>'row')::int)`,
      absence_run: `case when p.id is null then (m.missed->>'run')::bigint else p.absence_run end`,
    },
    make: 'true',
  },
};

const kinds = Object.keys(becomes) as (keyof typeof becomes)[];

interface MoveOfLead {
  readonly fields: readonly string[];
  readonly values: Readonly<Record<string, Value | undefined>>;
  readonly row: number | undefined;
  readonly missed: object | undefined;
  readonly lead_had: readonly string[];
  readonly row_had: readonly string[];
}

/** Two moves of a lead as one. */
function after(before: MoveOfLead | undefined, move: BaselineMove): MoveOfLead {
  const own = 'values' in move ? move.values : {};
  const values = { ...before?.values, ...own };
  const { lead = [], row = [] } = ('had' in move ? move.had : undefined) ?? {};
  const hadStill = (fields: readonly string[] = []) => fields.filter((field) => !Object.hasOwn(own, field));
  return {
    fields: Object.keys(values),
    values,
    row: ('row' in move ? move.row : undefined) ?? before?.row,
    missed: 'missed' in move ? move.missed : before?.missed,
    lead_had: [...hadStill(before?.lead_had), ...lead],
    row_had: [...hadStill(before?.row_had), ...row],
  };
}

/**
 * Moves baselines: only to values that both sides were seen to show, or back. The number of a row that was just written ends
 * its absence. Of several moves of one lead the later ones go over the earlier ones; all that is agreed comes first.
 */
export async function moveBaselines(
  db: Queryable,
  connection: string,
  moves: readonly BaselineMove[],
): Promise<void> {
  for (const kind of kinds) {
    const byLead = new Map<string, MoveOfLead>();
    for (const move of moves)
      if (move.to === kind) byLead.set(move.leadId, after(byLead.get(move.leadId), move));
    if (byLead.size === 0) continue;
    const rows = [...byLead].map(([lead_id, move]) => ({ lead_id, ...move }));
    const of = `select * from json_to_recordset($2::json)
      as r (lead_id text, fields text[], "values" jsonb, "row" bigint, missed json, lead_had text[], row_had text[])`;
    await writePairs(db, connection, { of, ...becomes[kind], had: 'told' }, [JSON.stringify(rows)]);
  }
  const forgotten = moves.flatMap(({ to, leadId }) => (to === 'forgotten' ? [leadId] : []));
  if (forgotten.length > 0) await deletePairs(db, connection, 'lead_id = any($2)', [forgotten]);
}

export async function clearFields(
  db: Queryable,
  connection: string,
  fields: readonly string[],
): Promise<void> {
  const of = `select lead_id from pairs where connection = $1 and base ?| $2::text[] limit ${movedTogether}`;
  while ((await writePairs(db, connection, { of, to: { base: 'p.base - $2::text[]' } }, [fields])) > 0);
}

/** Every pair is a first sight again. */
export async function forgetAllPairs(db: Queryable, connection: string): Promise<void> {
  await deletePairs(db, connection, 'true');
  await db.query('update place_notes set backed_up_at = null where connection = $1', [connection]);
}

/**
 * Keeps what a plan moves without any action until it is known whether it may: within the transaction, and in the database, since
 * it may be all pairs.
 */
export async function keepMoves(db: pg.PoolClient, moves: readonly BaselineMove[]): Promise<void> {
  await db.query(
    'create temp table if not exists kept_moves (nth int generated always as identity, moves json) on commit drop',
  );
  await db.query('insert into kept_moves (moves) values ($1)', [JSON.stringify(moves)]);
}

export async function makeKeptMoves(db: pg.PoolClient, connection: string): Promise<void> {
  for (let nth = 1; ; nth++) {
    const text = 'select moves from kept_moves where nth = $1';
    const moves = await valueOf<readonly BaselineMove[]>(db, text, [nth]);
    if (moves === null) return;
    await moveBaselines(db, connection, moves);
  }
}

/**
 * Stores what the scan alone proves. Equal sides become the baseline, in every field with a column. Every lead of the scan
 * is known from now on, except those that a create in doubt may have made (`unsettled`); `areRowsProven`: that it has no row
 * counts. Rows get their current number; an absent row keeps its last. Returns the number of pairs stored.
 */
export async function adoptScan(
  db: Queryable,
  { id, connection }: RunRef,
  scan: LiveScan,
  areRowsProven: boolean,
  unsettled: ReadonlySet<string>,
): Promise<number> {
  // After `forget` the planner believes the table is empty, and would scan all new pairs for each batch.
  await db.query('set local enable_seqscan = off');
  const write = async (lines: Iterable<object>, change: Change, ...values: unknown[]): Promise<number> => {
    let stored = 0;
    for (const some of batchesBySize(lines, () => movedTogether))
      stored += await writePairs(db, connection, change, [JSON.stringify(some), ...values]);
    return stored;
  };
  const leads = function* () {
    for (const leadId of scan.leads()) if (!scan.isPlain(leadId)) yield { leadId, row: scan.row(leadId) };
  };
  const inStep = function* () {
    for (const { leadId, row } of leads())
      if (isEqual(scan, scan.lead(leadId), row)) yield { lead_id: leadId, values: row?.cells, row: row?.row };
  };
  const stored = await write(inStep(), {
    of: `select * from json_to_recordset($2::json) as r (lead_id text, "values" jsonb, "row" bigint)`,
    to: { ...becomes.agreed.to, lead_deleted_at: 'null::timestamptz' },
    make: 'true',
    had: 'both',
  });
  const of = `select * from json_to_recordset($2::json) as r (lead_id text, "row" bigint)`;
  const placed = function* () {
    for (const leadId of scan.rows.ids()) yield { lead_id: leadId, row: scan.row(leadId)?.row };
  };
  await write(placed(), { of, to: { row_number: 'm."row"' } });
  const others = function* () {
    for (const { leadId, row } of leads())
      if (!unsettled.has(leadId)) yield { lead_id: leadId, row: row?.row };
  };
  const to = {
    row_absences:
      'case when p.id is not null then p.row_absences when m."row" is null then $4::int else 0 end',
    absence_run: 'case when p.id is null then $3::bigint else p.absence_run end',
    row_number: 'case when p.id is null then m."row" else p.row_number end',
    lead_deleted_at: 'null::timestamptz',
  };
  const known = await write(others(), { of, to, make: 'true' }, id, Number(areRowsProven));
  await db.query('set local enable_seqscan = on');
  return stored + known;
}

/**
 * Notes which leads are outside of the filter: those that a complete scan lacks, also when they were read by their ids; back is
 * what the list shows. Called when the scan is adopted. Without a filter none is.
 */
export async function noteOutside(
  db: Queryable,
  { connection }: RunRef,
  scan: LiveScan,
  { isFiltered, isComplete }: { readonly isFiltered: boolean; readonly isComplete: boolean },
): Promise<void> {
  const unlisted = isFiltered ? [...scan.unlistedLeads(), ...scan.askedIds] : [];
  const of = `select lead_id, lead_id = any($2::text[]) as is_unlisted from pairs where connection = $1
    and (outside_since is not null or $3::boolean and lead_id = any($2::text[]))`;
  const outside_since = 'case when m.is_unlisted then coalesce(p.outside_since, now()) end';
  await writePairs(db, connection, { of, to: { outside_since } }, [unlisted, isFiltered && isComplete]);
}

/** Notes which leads have paused rows. */
export async function notePaused(db: Queryable, { connection }: RunRef, scan: LiveScan): Promise<void> {
  const of = `select lead_id, lead_id = any($2::text[]) as is_paused from pairs where connection = $1
    and (paused_since is not null or lead_id = any($2::text[]))`;
  const paused_since = 'case when m.is_paused then coalesce(p.paused_since, now()) end';
  await writePairs(db, connection, { of, to: { paused_since } }, [[...scan.paused()]]);
}

/** A pair that is stored for the first time; `row`: where its row stands, when that is known. */
export interface NewPair {
  readonly leadId: string;
  readonly base: Values;
  readonly row: number | null;
}

/** Characters that COPY reads otherwise, in its format of texts (PostgreSQL, COPY, File Formats). */
const copied = (text: string): string =>
  /[\\\n\r\t]/.test(text)
    ? text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('\r', '\\r').replaceAll('\t', '\\t')
    : text;

/** Stores pairs that are in step, none of which may be there already. */
export async function copyPairs(
  db: pg.PoolClient,
  connection: string,
  pairs: readonly NewPair[],
): Promise<void> {
  if (pairs.length === 0) return;
  const key = copied(connection);
  const lines = function* (): Generator<string> {
    for (let from = 0; from < pairs.length; from += 500)
      yield pairs
        .slice(from, from + 500)
        .map(
          ({ leadId, base, row }) =>
            `${key}\t${copied(leadId)}\t${isSpelled(leadId) ? copied(idKey(leadId)) : '\\N'}\t${copied(JSON.stringify(base))}\t${row ?? '\\N'}\n`,
        )
        .join('');
  };
  const copy = copyFrom(`copy pairs (connection, lead_id, lead_key, base, row_number) from stdin`);
  await pipeline(Readable.from(lines()), db.query(copy));
  await db.query(`with ${raised('true')} select`, [connection]);
}
