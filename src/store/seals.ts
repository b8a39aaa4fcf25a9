import { hash } from 'node:crypto';
import { columnOf, type Queryable, valueOf } from './database.ts';
import { type SeenPairs, type Side, storeSealed } from './seen-pairs.ts';
import type { RunRef } from './runs.ts';

/** A record of a side; `shown`: all that its comparison with the baseline depends on, but for the settings. */
export interface Sealable {
  readonly leadId: string | null;
  readonly shown: string;
}

interface Seal {
  readonly id: number;
  readonly pairIds: readonly number[];
  /** Places in the block, of records that are looked at each time. */
  readonly others: readonly number[];
}

interface Block<T> {
  /** SHA-256, in base64. */
  readonly digest: string;
  readonly records: readonly T[];
  /** The one that holds in this scan; null: none does. */
  readonly seal: Seal | null;
  /** Whether a seal is there, whether it holds or not. */
  readonly isKnown: boolean;
}

/** Records of a side that were read together, and what seals say of them. */
export interface SealedBatch<T> {
  readonly blocks: readonly Block<T>[];
  /** The records that are to be looked up, in their order. */
  readonly open: readonly T[];
}

/** One in this many ids ends a block. */
const usualBlock = 32;

/** Whether a block ends with this id: so one record more or less makes another block, and leaves those that follow. */
function endsBlock(id: string | null): boolean {
  if (id === null) return false;
  let mix = 0x811c9dc5;
  for (let at = Math.max(0, id.length - 12); at < id.length; at++)
    mix = Math.imul(mix ^ id.charCodeAt(at), 0x01000193);
  return Math.imul(mix, 0x9e3779b1) >>> 0 < 2 ** 32 / usualBlock;
}

function cut<T extends Sealable>(
  records: readonly T[],
  settings: string,
): readonly Pick<Block<T>, 'digest' | 'records'>[] {
  const blocks = [];
  let from = 0;
  for (const [nth, { leadId }] of records.entries()) {
    const to = nth + 1;
    if (to < records.length && to - from < 4 * usualBlock && !endsBlock(leadId)) continue;
    const some = records.slice(from, to);
    const shown = some.map((record) => record.shown).join('\n');
    blocks.push({ digest: hash('sha256', `${settings}\n${shown}`, 'base64'), records: some });
    from = to;
  }
  return blocks;
}

/**
 * Looks for the seals of records, each with another id, and notes their pairs as met. `settings`: what the comparison
 * depends on beside the records; null: no seal can speak of them.
 */
export async function meetSealed<T extends Sealable>(
  db: Queryable,
  run: RunRef,
  side: Side,
  records: readonly T[],
  settings: string | null,
  met: SeenPairs,
): Promise<SealedBatch<T>> {
  if (settings === null || records.length === 0) return { blocks: [], open: records };
  const pieces = cut(records, settings);
  const seals = await findSeals(db, run.connection, side, pieces);
  const open: T[] = [];
  const blocks = pieces.map((piece) => {
    const found = seals.get(piece.digest);
    // What the scan has met before is looked at once more.
    const seal = found === undefined || found.pairIds.some((id) => met.has(id)) ? null : found;
    for (const id of seal?.pairIds ?? []) met.add(id);
    if (seal !== null) met.seals.add(seal.id);
    open.push(...(seal === null ? piece.records : at(piece.records, seal.others)));
    return { ...piece, seal, isKnown: found !== undefined };
  });
  await storeSealed(
    db,
    run.id,
    side,
    blocks.flatMap(({ seal }) => seal?.id ?? []),
  );
  return { blocks, open };
}

const at = <T>(records: readonly T[], places: readonly number[]): readonly T[] =>
  records.filter((_, place) => places.includes(place));

async function findSeals(
  db: Queryable,
  connection: string,
  side: Side,
  pieces: readonly { readonly digest: string }[],
): Promise<ReadonlyMap<string, Seal>> {
  const { rows } = await db.query<{ digest: string; id: number; pairs: string; others: number[] }>(
    `select encode(digest, 'base64') as digest, id, array_to_string(pair_ids, ' ') as pairs, others from seals
     where connection = $1 and side = $2 and digest in (select decode(d, 'base64') from unnest($3::text[]) d)`,
    [connection, side, pieces.map(({ digest }) => digest)],
  );
  return new Map(
    rows.map(({ digest, id, pairs, others }) => [
      digest,
      { id, others, pairIds: pairs.split(' ').map(Number) },
    ]),
  );
}

/**
 * Seals the blocks of a batch in which most records were found to be as in their baseline: `pairs` are those of the open
 * ones that were. Returns the records of which no seal speaks now.
 */
export async function seal<T>(
  db: Queryable,
  connection: string,
  side: Side,
  { blocks, open }: SealedBatch<T>,
  pairs: ReadonlyMap<T, number>,
  met: SeenPairs,
): Promise<readonly T[]> {
  if (blocks.length === 0) return open;
  const left: T[] = [];
  const made: {
    readonly digest: string;
    readonly pairIds: readonly number[];
    readonly others: readonly number[];
  }[] = [];
  for (const { digest, records, seal: before, isKnown } of blocks) {
    const looked = before === null ? records : at(records, before.others);
    const found = looked.flatMap((record) => pairs.get(record) ?? []);
    const isSealable = before === null ? !isKnown && 2 * found.length >= records.length : found.length > 0;
    if (!isSealable) {
      left.push(...looked);
      continue;
    }
    const others = [...records.keys()].filter((place) => {
      const record = records[place];
      return record !== undefined && looked.includes(record) && !pairs.has(record);
    });
    left.push(...at(records, others));
    made.push({ digest, pairIds: [...(before?.pairIds ?? []), ...found], others });
  }
  if (made.length > 0) for (const id of await storeSeals(db, connection, side, made)) met.seals.add(id);
  return left;
}

function storeSeals(
  db: Queryable,
  connection: string,
  side: Side,
  seals: readonly (Omit<Seal, 'id'> & { readonly digest: string })[],
): Promise<readonly number[]> {
  return columnOf(
    db,
    `insert into seals (connection, side, digest, pair_ids, others)
     select $1, $2, decode(digest, 'base64'), "pairIds", others
     from json_to_recordset($3::json) as s (digest text, "pairIds" bigint[], others int[])
     on conflict (connection, side, digest) do update set pair_ids = excluded.pair_ids, others = excluded.others
     returning id`,
    [connection, side, JSON.stringify(seals)],
  );
}

/** Breaks the seals of a side of which a pair has changed. Called when a scan begins. */
export async function breakSeals(db: Queryable, connection: string, side: Side): Promise<void> {
  // Without statistics of the tables a join would read all seals for each pair; "is true" keeps Postgres from making one.
  await db.query(
    `with gone as materialized (delete from moved where connection = $1 and side = $2 returning pair_id)
     delete from seals where id in (
       select id from (select id, unnest(pair_ids) as pair_id from seals where connection = $1 and side = $2) s
       where (pair_id in (select pair_id from gone)) is true)`,
    [connection, side],
  );
}

/** Drops the seals of a side that a complete scan has not come upon: what they speak of is not shown any more. */
export async function dropSeals(
  db: Queryable,
  connection: string,
  side: Side,
  { seals }: SeenPairs,
): Promise<void> {
  await db.query(
    `delete from seals where connection = $1 and side = $2 and id not in (select unnest($3::bigint[]))`,
    [connection, side, [...seals]],
  );
}

/**
 * Seals the rows of all pairs as one, known by a text: when there are so many pairs, each with a row, a baseline in all
 * fields and nothing else to be decided. Returns false, and does nothing, when that is not so.
 */
export async function sealAllRows(
  db: Queryable,
  connection: string,
  text: string,
  fields: readonly string[],
  rows: number,
  met: SeenPairs,
): Promise<boolean> {
  const id = await valueOf<number>(
    db,
    `insert into seals (connection, side, digest, pair_ids, others)
     select $1, 'row', $2, array_agg(id), '{}' from pairs where connection = $1
     having count(*) = $4 and bool_and(base ?& $3::text[] and row_number is not null and lead_deleted_at is null
       and lead_absences = 0 and row_absences = 0)
     on conflict (connection, side, digest) do update set pair_ids = excluded.pair_ids returning id`,
    [connection, hash('sha256', text, 'buffer'), fields, rows],
  );
  if (id !== null) met.seals.add(id);
  return id !== null;
}
