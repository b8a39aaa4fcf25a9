import { hash } from 'node:crypto';
import { IdSet } from '../lead/id-set.ts';
import type { FieldMapping } from '../lead/mapping.ts';
import type { Cells, Value, Values } from '../lead/value.ts';
import { showsBase } from './difference.ts';
import { grown, Records, type Reserve } from './records.ts';

/** Begins what is kept of a long text: its SHA-256 in base64. */
export const digestMark = '#';

/** A pair, as it is loaded. */
export interface LoadedPair {
  readonly id: number;
  /** Where its row stood last; null: nowhere. */
  readonly row: number | null;
  /** Whether only its values are to be compared: no side was missed before, the lead is not deleted, both were in step. */
  readonly isSettled: boolean;
}

/** The pairs of a place, by ordinals: their order when they were loaded. */
export class Baselines {
  /** How often pairs had moved when they were loaded (see the schema). */
  readonly moves: number;
  readonly fields: readonly FieldMapping[];
  readonly #records: Records;
  #pairIds = new Float64Array(1_024);
  #rows = new Float64Array(1_024);
  #settled = new Uint8Array(1_024);

  constructor(fields: readonly FieldMapping[], moves = 0, reserve?: Reserve) {
    this.fields = fields;
    this.moves = moves;
    this.#records = new Records(reserve);
  }

  get size(): number {
    return this.#records.size;
  }

  /** Takes a pair: the bytes of its id, and those of its baseline as `recordText` has it, or of the digest of that. */
  add(pair: LoadedPair, ...bytes: Parameters<Records['add']>): void {
    const n = this.#records.add(...bytes);
    if (n === this.#settled.length) {
      this.#pairIds = grown(this.#pairIds, new Float64Array(2 * n));
      this.#rows = grown(this.#rows, new Float64Array(2 * n));
      this.#settled = grown(this.#settled, new Uint8Array(2 * n));
    }
    this.#pairIds[n] = pair.id;
    this.#rows[n] = pair.row ?? -1;
    this.#settled[n] = Number(pair.isSettled);
  }

  /** -1: the lead is no pair. */
  find(leadId: string): number {
    return this.#records.find(leadId);
  }

  leadId(n: number): string {
    return this.#records.id(n);
  }

  pairId(n: number): number {
    return this.#pairIds[n] ?? 0;
  }

  row(n: number): number | null {
    const row = this.#rows[n] ?? -1;
    return row === -1 ? null : row;
  }

  /** Whether a record shows the baseline in every field that it has, and nothing else is to be decided. */
  isShown(n: number, cells: Cells): boolean {
    if (this.#settled[n] !== 1) return false;
    const text = recordText(cells, this.fields);
    if (this.#records.hasText(n, text)) return true;
    const known = this.#records.text(n);
    // Of a long one in another form only the sight of both sides tells that it means the same.
    if (known.startsWith(digestMark)) return known === digestMark + hash('sha256', text, 'base64');
    return showsBase(cells, this.#valuesOf(known));
  }

  #valuesOf(text: string): Values {
    const values = JSON.parse(text) as readonly (Value | 0)[];
    return Object.fromEntries(
      this.fields.flatMap(({ field }, nth) => {
        const value = values[nth];
        return value === 0 || value === undefined ? [] : [[field, value]];
      }),
    );
  }
}

/** What a record shows, in the order of the mapping; 0: it has no such field. */
export function recordText(cells: Cells, fields: readonly FieldMapping[]): string {
  return JSON.stringify(fields.map(({ field }) => cells[field] ?? (field in cells ? null : 0)));
}

/** What a side has shown of a pair so far. */
const [notMet, asBase, moved] = [0, 1, 2] as const;

/** What a scan makes of a lead: `again`: it was met before in this scan, and the last sight counts. */
export type LeadSight = 'as-base' | 'moved' | 'new' | 'again';

/** How a row compares; `duplicate`: an earlier row has its id, of one that is no pair almost certainly (see `IdSet`). */
export interface RowSight {
  readonly isAsBase: boolean;
  readonly duplicate: boolean;
  /** Where it stood before. */
  readonly place: number | null;
}

/** Pairs in a row, by their ids: the first, and how many. */
type PairRange = readonly [first: number, count: number];

/** What a checkpoint of the leads adds to the scan. */
export interface LeadCheckpoint {
  /** The pairs that showed their baselines. */
  readonly asBase: readonly PairRange[];
  readonly cursors: readonly string[];
}

/** Compares each record of both sides as it comes, and knows what was met. */
export class LiveScan {
  readonly base: Baselines;
  #leads: Uint8Array;
  #rows: Uint8Array;
  /** The ids of leads, and of rows, that are no pairs. */
  #newIds = new IdSet();
  #otherRows = new IdSet();
  #cursors = new Set<string>();
  /** Pairs that showed their baselines since the last checkpoint, by their ids. */
  #met: number[] = [];

  constructor(base: Baselines) {
    this.base = base;
    this.#leads = new Uint8Array(base.size);
    this.#rows = new Uint8Array(base.size);
  }

  seeLead(leadId: string, cells: Cells): LeadSight {
    const n = this.base.find(leadId);
    if (n < 0) {
      const isAgain = this.#newIds.mayHave(leadId);
      this.#newIds.add(leadId);
      return isAgain ? 'again' : 'new';
    }
    const isAgain = this.#leads[n] !== notMet;
    const isShown = !isAgain && this.base.isShown(n, cells);
    this.#leads[n] = isShown ? asBase : moved;
    if (isShown) this.#met.push(this.base.pairId(n));
    return isAgain ? 'again' : isShown ? 'as-base' : 'moved';
  }

  /** `isWhole`: the row has all fields; else it is not as in the baseline, whatever it shows. */
  seeRow(leadId: string, cells: Cells, isWhole: boolean): RowSight {
    const n = this.base.find(leadId);
    if (n < 0) {
      const isAgain = this.#otherRows.mayHave(leadId);
      this.#otherRows.add(leadId);
      return { isAsBase: false, duplicate: isAgain, place: null };
    }
    const duplicate = this.#rows[n] !== notMet;
    const isAsBase = isWhole && !duplicate && this.base.isShown(n, cells);
    if (!duplicate) this.#rows[n] = isAsBase ? asBase : moved;
    return { isAsBase, duplicate, place: this.base.row(n) };
  }

  /** A row was met under another spelling of its id. */
  meetRow(leadId: string): void {
    const n = this.base.find(leadId);
    if (n >= 0 && this.#rows[n] === notMet) this.#rows[n] = moved;
  }

  /** All rows show their baselines where they stood, but for those of `others`, which are not met yet. */
  meetRowsBut(others: Iterable<string>): void {
    this.#rows.fill(asBase);
    for (const leadId of others) {
      const n = this.base.find(leadId);
      if (n >= 0) this.#rows[n] = notMet;
    }
  }

  /** Whether none of these cursors was used before; from now on they are. */
  useCursors(cursors: readonly string[]): boolean {
    return cursors.every((cursor) => !this.#cursors.has(cursor) && this.#cursors.add(cursor));
  }

  /** What came since the last checkpoint; `cursors`: those of its pages. */
  takeLeads(cursors: readonly string[]): LeadCheckpoint {
    const ranges: [number, number][] = [];
    for (const id of this.#met.toSorted((a, b) => a - b)) {
      const last = ranges.at(-1);
      if (last !== undefined && last[0] + last[1] === id) last[1] += 1;
      else ranges.push([id, 1]);
    }
    this.#met = [];
    return { asBase: ranges, cursors };
  }

  /** Takes up what the checkpoints of an earlier process have; then `takeUpWhole` what it stored whole. */
  takeUpLeads(checkpoints: readonly LeadCheckpoint[]): void {
    const ranges = checkpoints.flatMap((one) => one.asBase).toSorted(([a], [b]) => a - b);
    for (let n = 0; n < this.base.size; n++) {
      const id = this.base.pairId(n);
      const [first, count] = ranges[lastBefore(ranges, id)] ?? [0, 0];
      if (id < first + count) this.#leads[n] = asBase;
    }
    for (const { cursors } of checkpoints) this.useCursors(cursors);
  }

  /** Takes up leads that an earlier process stored whole. */
  takeUpWhole(leadIds: Iterable<string>): void {
    for (const leadId of leadIds) {
      const n = this.base.find(leadId);
      if (n >= 0) this.#leads[n] = moved;
      else this.#newIds.add(leadId);
    }
  }

  forgetLeads(): void {
    this.#leads = new Uint8Array(this.base.size);
    this.#newIds = new IdSet();
    this.#cursors = new Set();
    this.#met = [];
  }

  forgetRows(): void {
    this.#rows = new Uint8Array(this.base.size);
    this.#otherRows = new IdSet();
  }

  /** How many pairs show their baselines, on either side. */
  unmoved(): { readonly leads: number; readonly rows: number } {
    const count = (side: Uint8Array): number => side.reduce((sum, one) => sum + Number(one === asBase), 0);
    return { leads: count(this.#leads), rows: count(this.#rows) };
  }

  /** The pairs that a complete scan has not met on one side or on both. */
  *absent(): Generator<{
    readonly leadId: string;
    readonly lead: boolean;
    readonly row: boolean;
    readonly place: number | null;
  }> {
    for (let n = 0; n < this.base.size; n++) {
      const [lead, row] = [this.#leads[n] === notMet, this.#rows[n] === notMet];
      if (lead || row) yield { leadId: this.base.leadId(n), lead, row, place: this.base.row(n) };
    }
  }

  /** The leads of pairs whose rows were not met; null: they are more than `most`. */
  rowless(most: number): readonly string[] | null {
    const found: string[] = [];
    for (let n = 0; n < this.base.size; n++)
      if (this.#rows[n] === notMet && found.push(this.base.leadId(n)) > most) return null;
    return found;
  }
}

/** The last range that begins at an id or before it; -1: none does. */
function lastBefore(ranges: readonly PairRange[], id: number): number {
  let [low, high] = [0, ranges.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((ranges[middle]?.[0] ?? Infinity) <= id) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}
