import type pg from 'pg';
import { rowsOf } from './database.ts';
import type { BlockKey, MatchForms } from '../core/merge/match-likeness.ts';

/** A record by its place in the list of its side. */
export interface MatchRecord {
  readonly side: 'lead' | 'row';
  readonly nth: number;
  readonly forms: MatchForms;
}

/** Records that may be one, by what they are recognised by. */
export interface BlockPair {
  readonly lead: number;
  readonly row: number;
  readonly leadForms: MatchForms;
  readonly rowForms: MatchForms;
}

/** A key with more pairs of leads and rows than this is not compared: it distinguishes nothing. */
const mostPairs = 400;

/** A whole name says more. Of more than this each record is compared with two of the other side: they are no one's for certain. */
const mostWholePairs = 2_500;

const pageSize = 2_000;

/**
 * Finds the records of two sides that are worth comparing, within one transaction: all that is kept of them is in tables of
 * the database that vanish with it.
 */
export class MatchBlocks {
  readonly #db: pg.PoolClient;

  private constructor(db: pg.PoolClient) {
    this.#db = db;
  }

  static async open(db: pg.PoolClient): Promise<MatchBlocks> {
    await db.query(`create temp table match_records (place int generated always as identity, side text, nth int, forms json)
      on commit drop`);
    await db.query(
      `create temp table match_keys (side text, nth int, key bigint, whole boolean) on commit drop`,
    );
    return new MatchBlocks(db);
  }

  async add(records: readonly MatchRecord[]): Promise<void> {
    await this.#db.query(
      `insert into match_records (side, nth, forms)
       select side, nth, forms from json_to_recordset($1::json) as r (side text, nth int, forms json)`,
      [JSON.stringify(records)],
    );
  }

  /** Gives every record its keys. */
  async divide(keysOf: (forms: MatchForms) => readonly BlockKey[]): Promise<void> {
    await this.#db.query(`create index on match_records (place)`);
    await this.#db.query(`create index on match_records (side, nth)`);
    for (let after = 0; ; after += pageSize) {
      const { rows } = await this.#db.query<MatchRecord>(
        `select side, nth, forms from match_records where place > $1 and place <= $1 + $2`,
        [after, pageSize],
      );
      if (rows.length === 0) break;
      const keys = rows.flatMap(({ side, nth, forms }) =>
        keysOf(forms).map(({ key, isWhole }) => ({ side, nth, key, isWhole })),
      );
      await this.#db.query(
        `insert into match_keys
         select side, nth, hashtextextended(key, 0), "isWhole"
         from json_to_recordset($1::json) as k (side text, nth int, key text, "isWhole" boolean)`,
        [JSON.stringify(keys)],
      );
    }
    await this.#db.query(`analyze match_keys`);
    await this.#db.query(`analyze match_records`);
  }

  /** Each pair once. */
  async *pairs(): AsyncGenerator<readonly BlockPair[], void> {
    await this.#db.query(
      `create temp table match_pairs on commit drop as
       with sized as (
         select key, bool_or(whole) as whole, count(*) filter (where side = 'lead') as leads, count(*) filter (where side = 'row') as rows
         from match_keys group by key),
       shared as (
         select *, leads * rows <= case when whole then ${mostWholePairs} else ${mostPairs} end as few
         from sized where leads > 0 and rows > 0),
       placed as (
         select k.side, k.nth, s.key, least(s.leads, s.rows) as turns, row_number() over (partition by s.key, k.side order by k.nth) as at
         from shared s join match_keys k using (key) where s.whole and not s.few)
       select l.nth as lead, r.nth as "row" from shared s
       join match_keys l on l.key = s.key and l.side = 'lead' join match_keys r on r.key = s.key and r.side = 'row' where s.few
       union
       select l.nth, r.nth from placed l join placed r
         on r.key = l.key and r.at % r.turns in (l.at % l.turns, (l.at + 1) % l.turns)
       where l.side = 'lead' and r.side = 'row'`,
    );
    await this.#db.query(
      `declare matched no scroll cursor for
       select p.lead, p."row", l.forms as "leadForms", r.forms as "rowForms" from match_pairs p
       join match_records l on l.side = 'lead' and l.nth = p.lead join match_records r on r.side = 'row' and r.nth = p."row"
       order by p.lead, p."row"`,
    );
    for (;;) {
      const { rows } = await this.#db.query<BlockPair>(`fetch ${pageSize} from matched`);
      if (rows.length === 0) break;
      yield rows;
    }
    await this.#db.query(`close matched`);
  }

  /** The same of pairs that are asked for. */
  formsOf(pairs: readonly { readonly lead: number; readonly row: number }[]): Promise<readonly BlockPair[]> {
    return rowsOf(
      this.#db,
      `select p.lead, p."row", l.forms as "leadForms", r.forms as "rowForms"
       from json_to_recordset($1::json) as p (lead int, "row" int)
       join match_records l on l.side = 'lead' and l.nth = p.lead join match_records r on r.side = 'row' and r.nth = p."row"`,
      [JSON.stringify(pairs)],
    );
  }
}
