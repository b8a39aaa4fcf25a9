import { hashContent } from '../lead/content-hash.ts';
import type { FieldMapping } from '../lead/mapping.ts';
import { type Cells, sameCell } from '../lead/value.ts';

/** A record that an undo took its other side from; `leadId`: empty for a row without id. */
export interface UndoneRecord {
  readonly leadId: string;
  /** The fingerprint of what it showed then. */
  readonly contentHash: string;
  /** What it showed then. Null: not known. */
  readonly cells: Cells | null;
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

  get size(): number {
    return this.#records.size;
  }

  get seen(): readonly UndoneRecord[] {
    return [...this.#seen];
  }

  /** The key of the record with these cells, by the fields that they show; or null. */
  find(leadId: string, cells: Cells): string | null {
    const found = this.#records.get(leadId)?.find((record) => this.#isLike(record, cells));
    if (found === undefined) return null;
    this.#seen.add(found);
    return found.contentHash;
  }

  #isLike({ contentHash, cells: before }: UndoneRecord, cells: Cells): boolean {
    if (before === null) return hashContent(cells, this.#fields) === contentHash;
    return this.#fields.every(
      ({ field }) => !(field in cells) || sameCell(cells[field] ?? null, before[field] ?? null),
    );
  }
}
