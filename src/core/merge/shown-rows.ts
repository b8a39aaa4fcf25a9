import { hashContent, readableFingerprint } from '../lead/content-hash.ts';
import type { FieldMapping } from '../lead/mapping.ts';
import type { Cells } from '../lead/value.ts';
import type { LooseRow } from './difference.ts';
import { Records, type Reserve } from './records.ts';
import { type TableRow } from '../lead/table-rows.ts';

export interface ScannedRow extends TableRow {
  /** Its place among all that were read. */
  readonly ordinal: number;
  /** It has no id and stands apart from the table: no lead is made of it. */
  readonly apart?: boolean;
}

/** A row that is kept; `duplicate`: an earlier one has its id. */
export interface LeftRow extends ScannedRow {
  readonly duplicate: boolean;
}

/** The first row of an id. */
export interface ShownRow extends Pick<ScannedRow, 'ordinal' | 'row' | 'status' | 'paused'> {
  /** Null: as in the baseline, and it only stands elsewhere, or its status says something; or it is paused. */
  readonly cells: Cells | null;
  /** Of its content; null when a cell is unreadable, and without cells. */
  readonly hash: string | null;
}

/** A row that no lead id names, with its status. */
export interface ShownLooseRow extends LooseRow, Pick<ScannedRow, 'ordinal' | 'status'> {}

/** The rows of a table that do not show what they did before, as bytes. */
export class ShownRows {
  readonly #fields: readonly FieldMapping[];
  /** By lead. A text is empty when the row has another id since. */
  readonly #first: Records;
  /** By ordinal. */
  readonly #loose: Records;
  readonly #copied = new Set<string>();
  /** By their former ids those of further rows that wait for `respellCopies`. */
  #ofCopies = new Map<string, string>();
  /** Whether a row has no id. */
  isAnyWithoutId = false;
  hasUnreadableIds = false;
  /** What the rows take, roughly: counted, so that a table without an end ends. */
  bytes = 0;

  constructor(fields: readonly FieldMapping[], reserve?: Reserve) {
    this.#fields = fields;
    this.#first = new Records(reserve);
    this.#loose = new Records(reserve);
  }

  free(): void {
    this.#first.free();
    this.#loose.free();
  }

  has(leadId: string): boolean {
    return this.length(leadId) > 0;
  }

  /** The bytes of the first row of an id; 0: there is none. */
  length(leadId: string): number {
    return this.#first.lengthOf(leadId);
  }

  find(leadId: string): ShownRow | null {
    const n = this.#first.find(leadId);
    const text = n < 0 ? '' : this.#first.text(n);
    return text === '' ? null : (JSON.parse(text) as ShownRow);
  }

  /** Keeps the first row of an id. */
  keep(row: ScannedRow & { readonly leadId: string }, isAsBase: boolean): LeftRow {
    const { ordinal, status, cells, leadId, paused } = row;
    const content =
      isAsBase || paused === true
        ? { cells: null, hash: null }
        : { cells, hash: readableFingerprint(cells, this.#fields) };
    const shown: ShownRow = { ordinal, row: row.row, status, ...(paused && { paused }), ...content };
    this.#set(this.#first, leadId, shown);
    return { ...row, duplicate: false };
  }

  /** Keeps a row without an id, or a further one of an id (`isCopy`). */
  keepLoose(row: ScannedRow, isCopy: boolean): LeftRow {
    const {
      ordinal,
      status,
      leadId,
      unreadableId = null,
      idClosed = null,
      apart = false,
      paused,
      cells,
    } = row;
    const contentHash = hashContent(cells, this.#fields);
    const loose = { row: row.row, leadId, unreadableId, idClosed, isApart: apart, cells, contentHash };
    this.#keepLoose({ ...loose, ordinal, status, ...(paused && { isPaused: paused }) });
    return { ...row, duplicate: isCopy };
  }

  #keepLoose(loose: ShownLooseRow): void {
    if (loose.leadId === null) this.isAnyWithoutId = true;
    else if (loose.isPaused !== true) this.#copied.add(loose.leadId);
    this.hasUnreadableIds ||= loose.unreadableId !== null;
    this.#set(this.#loose, String(loose.ordinal), loose);
  }

  #set(records: Records, id: string, row: object): void {
    const text = JSON.stringify(row);
    this.bytes += text.length;
    records.set(id, text);
  }

  /** A row has another spelling of its id, as further ones after `respellCopies`. */
  respell(key: string, leadId: string): void {
    const [row, other] = [this.find(key), this.find(leadId)];
    if (row === null) return;
    this.#first.set(key, '');
    // Of two rows the one that stands first has the id: the other was read after its spelling was known.
    this.#first.set(leadId, JSON.stringify(row));
    if (other !== null) this.keepLoose({ ...other, leadId, cells: other.cells ?? {} }, true);
    this.#copied.delete(key);
    this.#ofCopies.set(key, leadId);
  }

  /** All at once, since each row is looked at. */
  respellCopies(): void {
    if (this.#ofCopies.size === 0) return;
    for (const loose of this.loose()) {
      const leadId = this.#ofCopies.get(loose.leadId ?? '');
      if (leadId !== undefined) this.#keepLoose({ ...loose, leadId });
    }
    this.#ofCopies = new Map();
  }

  isCopied(leadId: string): boolean {
    return this.#copied.has(leadId);
  }

  /** The leads of `find`. */
  *ids(): Generator<string> {
    for (let n = 0; n < this.#first.size; n++) if (this.#first.text(n) !== '') yield this.#first.id(n);
  }

  /** Those of `ids` whose rows do not show their baselines. */
  *otherIds(): Generator<string> {
    for (const leadId of this.ids()) if (this.find(leadId)?.cells !== null) yield leadId;
  }

  /** Rows without an id, and those whose id an earlier row has, in the target's order. */
  *loose(): Generator<ShownLooseRow> {
    const byPlace = Array.from({ length: this.#loose.size }, (_, n) => n);
    byPlace.sort((a, b) => Number(this.#loose.id(a)) - Number(this.#loose.id(b)));
    for (const n of byPlace) yield JSON.parse(this.#loose.text(n)) as ShownLooseRow;
  }
}
