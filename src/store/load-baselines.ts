import pg from 'pg';
import { to as copyTo } from 'pg-copy-streams';
import type { FieldMapping } from '../core/lead/mapping.ts';
import { Baselines, digestMark, largestChunk, type Reserve } from '../core/merge/records.ts';
import { oneOf, type Queryable, transaction, valueOf } from './database.ts';

/** SQL for how often the pairs under a key (SQL as well) have moved. */
export const movesOf = (key: string): string =>
  `coalesce((select moves from place_notes where connection = ${key}), 0)`;

/** Bytes of a text above which its digest is kept instead. */
const longestText = 1_000;

/** Of a settled pair nothing but its values is to be compared. */
const isSettled = `base is not null and lead_deleted_at is null and lead_absences = 0 and row_absences = 0`;

/** Loads the pairs under a key, as they are at one moment. `reserve` is asked for the bytes that they take. */
export function loadBaselines(
  pool: pg.Pool,
  connection: string,
  fields: readonly FieldMapping[],
  reserve: Reserve,
): Promise<Baselines> {
  const key = pg.escapeLiteral(connection);
  const values = fields.map(({ field }) => `coalesce((base->${pg.escapeLiteral(field)})::text, '0')`);
  return transaction(pool, async (db) => {
    await db.query('set transaction isolation level repeatable read, read only');
    const moves = await valueOf<number>(db, `select ${movesOf('$1')}`, [connection]);
    const all = new Baselines(fields, moves ?? 0, reserve);
    const copy = copyTo(
      `copy (select id, lead_id, case when base is null then '' when octet_length(text) <= ${longestText} then text
           else '${digestMark}' || octet_length(convert_to(text, 'UTF8')) || ' ' || encode(sha256(convert_to(text, 'UTF8')), 'base64') end, row_number, ${isSettled}, lead_deleted_at is not null
         from pairs cross join lateral (select '[' || ${values.join(` || ',' || `)} || ']' as text) t
         where connection = ${key}) to stdout (format binary)`,
    );
    const reader = new PairReader(all);
    let fault: Error | null = null;
    // A COPY that is left in the middle leaves its connection there.
    for await (const chunk of db.query(copy) as AsyncIterable<Buffer>)
      try {
        if (fault === null) reader.read(chunk);
      } catch (error) {
        fault = error instanceof Error ? error : new Error(String(error));
      }
    if (fault !== null) throw fault;
    return all;
  });
}

/** What a run reserves for the baselines under a key, roughly and rather too much (bytes): the last chunk may be nearly empty. */
export async function sizeOfBaselines(
  db: Queryable,
  connection: string,
): Promise<{ readonly pairs: number; readonly bytes: number }> {
  const { pairs, bytes } = await oneOf<{ pairs: number; bytes: number }>(
    db,
    `select count(*)::int as pairs, (coalesce(sum(octet_length(lead_id) + least(coalesce(octet_length(base::text), 0), ${longestText})), 0) + 48 * count(*))::float8 as bytes
     from pairs where connection = $1`,
    [connection],
  );
  return { pairs, bytes: bytes + Math.min(largestChunk, bytes) };
}

/** Bytes of what COPY sends first in its binary format (PostgreSQL, COPY, Binary Format), without extensions. */
const header = 19;

/** Columns of a pair: id, lead id, text, row, settled, deleted. */
const columns = 6;

/** Takes the chunks of a COPY, and adds the pairs in them. */
class PairReader {
  readonly #all: Baselines;
  #rest: Buffer = Buffer.alloc(0);
  #toSkip = header;
  /** Where each column begins and ends. */
  readonly #from: number[] = [];
  readonly #to: number[] = [];

  constructor(all: Baselines) {
    this.#all = all;
  }

  read(chunk: Buffer): void {
    const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    let at = 0;
    if (this.#toSkip > 0 && bytes.length >= this.#toSkip) [at, this.#toSkip] = [this.#toSkip, 0];
    if (this.#toSkip === 0)
      for (let end = this.#tuple(bytes, at); end > 0; end = this.#tuple(bytes, at)) {
        const [, leadId = 0, text = 0, row = 0, settled = 0, deleted = 0] = this.#from;
        const [, leadIdEnd = 0, textEnd = 0, rowEnd = 0] = this.#to;
        const pair = {
          id: Number(bytes.readBigInt64BE(this.#from[0])),
          row: rowEnd === row ? null : Number(bytes.readBigInt64BE(row)),
          isSettled: bytes[settled] === 1,
          isDeleted: bytes[deleted] === 1,
        };
        this.#all.add(pair, bytes, leadId, leadIdEnd, text, textEnd);
        at = end;
      }
    this.#rest = bytes.subarray(at);
  }

  /** Finds the columns of the tuple that begins here. Returns its end; 0: it is not whole, or the end of all. */
  #tuple(bytes: Buffer, from: number): number {
    if (from + 2 > bytes.length || bytes.readInt16BE(from) === -1) return 0;
    let at = from + 2;
    for (let column = 0; column < columns; column++) {
      if (at + 4 > bytes.length) return 0;
      const length = bytes.readInt32BE(at);
      this.#from[column] = at + 4;
      at += 4 + Math.max(0, length);
      this.#to[column] = at;
    }
    return at <= bytes.length ? at : 0;
  }
}
