import { hashContent } from '../core/lead/content-hash.ts';
import type { FieldMapping } from '../core/lead/mapping.ts';
import { type Cells, sameCell } from '../core/lead/value.ts';
import { type Queryable, rowsOf } from './database.ts';
import type { AbsenceProof } from './baselines.ts';
import type { RunRef } from './runs.ts';

/** A record that an undo took its other side from; `leadId`: empty for a row without id. */
interface UndoneRecord {
  readonly leadId: string;
  /** The fingerprint of what it showed then. */
  readonly contentHash: string;
  /** What it showed then. Null: not known. */
  readonly cells: Cells | null;
}

/** Remembers what an undo took the other side from. */
export async function keepUndone(
  db: Queryable,
  connection: string,
  records: readonly UndoneRecord[],
): Promise<void> {
  await db.query(
    `insert into undone (connection, lead_id, content_hash, cells)
     select distinct on (r."leadId", r."contentHash") $1, r."leadId", r."contentHash", r.cells
     from jsonb_to_recordset($2::jsonb) as r ("leadId" text, "contentHash" text, cells jsonb)
     on conflict (connection, lead_id, content_hash) do update set cells = excluded.cells, missed = 0, last_run = null`,
    [connection, JSON.stringify(records)],
  );
}

/** The records that an undo took the other side from, and which of them a scan shows as they were. */
export class UndoneRecords {
  readonly #records: Map<string, readonly UndoneRecord[]>;
  readonly #fields: readonly FieldMapping[];
  readonly #seen = new Set<UndoneRecord>();

  constructor(records: readonly UndoneRecord[], fields: readonly FieldMapping[]) {
    this.#records = Map.groupBy(records, ({ leadId }) => leadId);
    this.#fields = fields;
  }

  static async load(
    db: Queryable,
    connection: string,
    fields: readonly FieldMapping[],
  ): Promise<UndoneRecords> {
    const records = await rowsOf<UndoneRecord>(
      db,
      `select lead_id as "leadId", content_hash as "contentHash", cells from undone where connection = $1`,
      [connection],
    );
    return new UndoneRecords(records, fields);
  }

  /** The key of the record with these cells, by the fields that they show; or null. */
  find(leadId: string, cells: Cells): string | null {
    const found = this.#records.get(leadId)?.find((record) => this.#isLike(record, cells));
    if (found === undefined) return null;
    this.#seen.add(found);
    return found.contentHash;
  }

  /**
   * Deletes records that a person decided on or that two complete scans of different runs did not show unchanged. Call it
   * before ended conflicts are released.
   */
  async save(db: Queryable, run: RunRef, isProof: AbsenceProof): Promise<void> {
    if (this.#records.size === 0) return;
    const isSeen = `exists (select from jsonb_to_recordset($3::jsonb) as s ("leadId" text, "contentHash" text)
      where s."leadId" = u.lead_id and s."contentHash" = u.content_hash)`;
    const isMissed = `(u.last_run is distinct from $1 and case when u.lead_id = '' then $5::boolean else $4 end)`;
    const parameters = [run.id, run.connection, JSON.stringify([...this.#seen]), isProof.leads, isProof.rows];
    await db.query(
      `delete from undone u where connection = $2 and not ${isSeen} and (missed > 0 and ${isMissed}
         or exists (select from conflicts h where h.connection = $2 and h.lead_id = u.lead_id
           and split_part(h.content_hash, '#', 1) = u.content_hash and h.code in ('row.undone', 'lead.undone')
           and h.resolution is not null))`,
      parameters,
    );
    await db.query(
      `update undone u set last_run = $1, missed = case when ${isSeen} then 0 else missed + ${isMissed}::int end
       where connection = $2`,
      parameters,
    );
  }

  #isLike({ contentHash, cells: before }: UndoneRecord, cells: Cells): boolean {
    if (before === null) return hashContent(cells, this.#fields) === contentHash;
    return this.#fields.every(
      ({ field }) => !(field in cells) || sameCell(cells[field] ?? null, before[field] ?? null),
    );
  }
}
