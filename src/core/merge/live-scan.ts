import type { Aside } from '../lead/aside.ts';
import { idKey } from '../lead/lead-id.ts';
import { type Cells, isUnreadable } from '../lead/value.ts';
import type { MergedPlace } from '../lead/table-rows.ts';
import { type Baselines, Records, type Reserve } from './records.ts';
import { type LeftRow, type ScannedRow, type ShownRow, ShownRows } from './shown-rows.ts';
import type { Asked, HeldField, Sight } from './difference.ts';
import { readableFingerprint } from '../lead/content-hash.ts';

/** What a side has shown of a pair so far. */
const [notMet, asBase, moved] = [0, 1, 2] as const;

/** How the rows of a target are compared. */
export interface RowSeeing {
  /** A field without a column is in no row: then rows are not as in the baseline, whatever they show. */
  readonly isWhole: boolean;
  /** What the status column shows of an ordinary row; null: there is no status column. */
  readonly usualStatus: string | null;
}

/** Pairs in a row, by their ids: the first, and how many. */
type PairRange = readonly [first: number, count: number];

/** What a checkpoint of the leads adds to the scan. */
export interface LeadCheckpoint {
  /** The pairs that showed their baselines. */
  readonly asBase: readonly PairRange[];
  readonly cursors: readonly string[];
  /** JSON: the others, `[id, cells]` each. */
  readonly leads: string;
  /** What the service answered about leads that it was asked for by their ids. */
  readonly asked: readonly (Asked & { readonly leadId: string })[];
}

/** What an aside takes of the heap, roughly. */
const asideBytes = 300;

/** Compares each record of both sides as it comes, and knows what was met, and what the others show. */
export class LiveScan {
  readonly base: Baselines;
  readonly #reserve: Reserve;
  /** By pair what was met. What is no pair has -1, where nothing is read or written. */
  #ofLeads: Uint8Array;
  #ofRows: Uint8Array;
  /** By lead, whose first row is paused: an empty text when it is another row since. */
  #paused: Records;
  /** The leads that do not show their baselines, or have none. */
  #shown: Records;
  rows: ShownRows;
  /** By how ids are compared those that the service spells otherwise; of nearly all services none. */
  readonly #spellings: Records;
  #asked = new Map<string, Asked>();
  asides: Aside[] = [];
  /** By where they stood the rows that were merged into others: these are not gone. */
  #merged: ReadonlyMap<number, MergedPlace> = new Map();
  /** New leads of which more is known than what they show; null: each may be one. */
  #special: ReadonlySet<string> | null = null;
  /** New leads with values that cannot be read. */
  readonly #unreadable = new Set<string>();
  #cursors = new Set<string>();
  /** Since the last checkpoint: pairs that showed their baselines, by their ids, the other leads, and answers. */
  #met: number[] = [];
  #others: number[] = [];
  #answers: (Asked & { readonly leadId: string })[] = [];

  constructor(base: Baselines, reserve: Reserve = () => {}) {
    this.base = base;
    this.#reserve = reserve;
    this.#ofLeads = new Uint8Array(base.size);
    this.#ofRows = new Uint8Array(base.size);
    this.#shown = new Records(reserve);
    this.rows = new ShownRows(base.fields, reserve);
    this.#paused = new Records(reserve);
    this.#spellings = new Records(reserve);
  }

  /** Whether it was met before in this scan; the last sight counts. */
  seeLead(leadId: string, cells: Cells): boolean {
    this.spell(leadId);
    const n = this.base.find(leadId);
    const isAgain = n < 0 ? this.#shown.find(leadId) >= 0 : this.#ofLeads[n] !== notMet;
    if (isAgain || !this.base.isShown(n, cells)) this.#keep(leadId, n, cells);
    else {
      this.#ofLeads[n] = asBase;
      this.#met.push(this.base.pairId(n));
    }
    return isAgain;
  }

  /** A lead was read by its id, and counts as it was then. */
  correctLead(leadId: string, cells: Cells): void {
    this.spell(leadId);
    this.#keep(leadId, this.base.find(leadId), cells);
  }

  #keep(leadId: string, n: number, cells: Cells): void {
    if (n >= 0) this.#ofLeads[n] = moved;
    else if (Object.values(cells).some(isUnreadable)) this.#unreadable.add(leadId);
    else this.#unreadable.delete(leadId);
    this.#others.push(this.#shown.set(leadId, JSON.stringify(cells)));
  }

  /** The service was asked for a lead that the list does not show. */
  answer(leadId: string, asked: Asked): void {
    this.#asked.set(leadId, asked);
    this.#answers.push({ leadId, ...asked });
  }

  /** Knows how the service spells an id. */
  spell(leadId: string): void {
    const key = idKey(leadId);
    if (key !== leadId && this.#spellings.find(key) < 0) this.#spellings.set(key, leadId);
  }

  /** Whether the service spells any id otherwise than it is compared. */
  get isSpelled(): boolean {
    return this.#spellings.size > 0;
  }

  /** An id of a table, in the service's spelling where that is known. */
  spelled(id: string): string {
    const key = idKey(id);
    const n = this.#spellings.find(key);
    return n < 0 ? key : this.#spellings.text(n);
  }

  /** Null: it shows its baseline, where it stood, and the usual status. */
  seeRow(row: ScannedRow, { isWhole, usualStatus }: RowSeeing): LeftRow | null {
    if (row.leadId === null) return this.rows.keepLoose(row, false);
    const leadId = this.spelled(row.leadId);
    const n = this.base.find(leadId);
    const isCopy = n < 0 ? this.rows.has(leadId) : this.#ofRows[n] !== notMet;
    if (isCopy) return this.rows.keepLoose({ ...row, leadId }, true);
    if (row.paused === true) {
      this.#ofRows[n] = asBase;
      this.#paused.set(leadId, 'paused');
      return this.rows.keep({ ...row, leadId }, false);
    }
    const hasAll = isWhole && this.base.fields.every(({ field }) => field in row.cells);
    const isAsBase = hasAll && this.base.isShown(n, row.cells);
    this.#ofRows[n] = isAsBase ? asBase : moved;
    if (isAsBase && this.base.row(n) === row.row && row.status === usualStatus) return null;
    return this.rows.keep({ ...row, leadId }, isAsBase);
  }

  /** All rows show their baselines where they stood, but for those of `others`, which are not met yet. */
  meetRowsBut(others: Iterable<string>): void {
    this.#ofRows.fill(asBase);
    for (const leadId of others) this.#ofRows[this.base.find(leadId)] = notMet;
  }

  /** Gives rows that were read before their leads were the service's spelling of their ids. Of pairs it is known before. */
  respellRows(): void {
    for (let nth = 0; nth < this.#spellings.size; nth++) {
      const [key, leadId] = [this.#spellings.id(nth), this.#spellings.text(nth)];
      this.rows.respell(key, leadId);
      if (!this.isPaused(key) && !this.isPaused(leadId)) continue;
      this.#paused.set(key, '');
      this.#paused.set(leadId, this.rows.find(leadId)?.paused === true ? 'paused' : '');
    }
    this.rows.respellCopies();
  }

  seeAsides(asides: readonly Aside[]): void {
    this.#reserve(asideBytes * asides.length);
    for (const one of asides) this.asides.push(one);
  }

  mergeRows(merged: ReadonlyMap<number, MergedPlace>): void {
    this.#merged = merged;
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
    const leads = this.#others.map((n) => this.#line(n));
    const asked = this.#answers;
    [this.#met, this.#others, this.#answers] = [[], [], []];
    return { asBase: ranges, cursors, leads: `[${leads.join(',')}]`, asked };
  }

  /** Takes up what the checkpoints of an earlier process have; then each with `takeUpOthers`, in their order. */
  takeUpLeads(checkpoints: readonly Omit<LeadCheckpoint, 'leads'>[]): void {
    const ranges = checkpoints.flatMap((one) => one.asBase).toSorted(([a], [b]) => a - b);
    for (let n = 0; n < this.base.size; n++) {
      const id = this.base.pairId(n);
      const range = lastBefore(ranges, id);
      if (range !== undefined && id < range[0] + range[1]) this.#ofLeads[n] = asBase;
    }
    for (const { cursors, asked } of checkpoints) {
      this.useCursors(cursors);
      for (const { leadId, ...answer } of asked) this.#asked.set(leadId, answer);
    }
  }

  takeUpOthers({ leads }: Pick<LeadCheckpoint, 'leads'>): void {
    for (const [leadId, cells] of JSON.parse(leads) as readonly [string, Cells][])
      this.correctLead(leadId, cells);
    this.#others = [];
  }

  forgetLeads(): void {
    this.#shown.free();
    this.#shown = new Records(this.#reserve);
    this.#ofLeads = new Uint8Array(this.base.size);
    this.#asked = new Map();
    this.#unreadable.clear();
    this.#cursors = new Set();
    [this.#met, this.#others, this.#answers] = [[], [], []];
  }

  forgetRows(): void {
    this.rows.free();
    this.rows = new ShownRows(this.base.fields, this.#reserve);
    this.#paused.free();
    this.#paused = new Records(this.#reserve);
    this.#ofRows = new Uint8Array(this.base.size);
    this.#reserve(-asideBytes * this.asides.length);
    this.asides = [];
    this.#merged = new Map();
  }

  /** Whether the row of a lead is paused: then neither side shows anything, nor is it missed. */
  isPaused(leadId: string): boolean {
    const n = this.#paused.find(leadId);
    return n >= 0 && this.#paused.text(n) !== '';
  }

  /** The leads of paused rows. */
  *paused(): Generator<string> {
    for (let n = 0; n < this.#paused.size; n++) if (this.#paused.text(n) !== '') yield this.#paused.id(n);
  }

  /** What a lead shows that does not show its baseline, or has none; null: there is no such lead. */
  lead(leadId: string): Cells | null {
    const n = this.#shown.find(leadId);
    return n < 0 || (this.isPair(leadId) && this.isPaused(leadId))
      ? null
      : (JSON.parse(this.#shown.text(n)) as Cells);
  }

  /** JSON: `[id, cells]`. */
  #line(n: number): string {
    return `[${JSON.stringify(this.#shown.id(n))},${this.#shown.text(n)}]`;
  }

  /** The bytes of all that is known of a lead: its baseline, and what both sides show instead. */
  length(leadId: string): number {
    const base = this.base.length(this.base.find(leadId));
    return base + this.#shown.lengthOf(leadId) + this.rows.length(leadId);
  }

  /** The first row of an id that is not as it was, or is of no pair. */
  row(leadId: string): ShownRow | null {
    return this.rows.find(leadId);
  }

  /** Whether a lead is in the list, or was read by its id. */
  hasLead(leadId: string): boolean {
    const n = this.base.find(leadId);
    if (n < 0) return this.#shown.find(leadId) >= 0;
    return this.#ofLeads[n] !== notMet || this.isPaused(leadId);
  }

  hasRow(leadId: string): boolean {
    const n = this.base.find(leadId);
    return n < 0 ? this.rows.has(leadId) : this.#ofRows[n] !== notMet;
  }

  isPair(leadId: string): boolean {
    return this.base.find(leadId) >= 0;
  }

  /** The sides on which the scan missed a pair; of any other lead none. */
  missed(leadId: string): { readonly lead: boolean; readonly row: boolean } {
    const n = this.base.find(leadId);
    return { lead: this.#ofLeads[n] === notMet && !this.isPaused(leadId), row: this.#ofRows[n] === notMet };
  }

  /** Where the row of a pair went that the scan missed. */
  merged(leadId: string): MergedPlace | null {
    const n = this.base.find(leadId);
    const place = this.#ofRows[n] === notMet ? this.base.row(n) : null;
    return place === null ? null : (this.#merged.get(place) ?? null);
  }

  asked(leadId: string): Asked | null {
    return this.#asked.get(leadId) ?? null;
  }

  get askedIds(): readonly string[] {
    return [...this.#asked.keys()];
  }

  /** The leads that do not show their baselines, or have none, in the order of the list. */
  *leads(): Generator<string> {
    for (let n = 0; n < this.#shown.size; n++) {
      const leadId = this.#shown.id(n);
      if (!this.isPaused(leadId) || !this.isPair(leadId)) yield leadId;
    }
  }

  /** The new leads but these get a row each, and are looked at together. */
  setAsideNew(special: ReadonlySet<string>): void {
    this.#special = special;
  }

  /** More is known of these leads, too, than what they show. */
  lookAt(leadIds: Iterable<string>): void {
    if (this.#special !== null) this.#special = new Set([...this.#special, ...leadIds]);
  }

  /** Whether nothing is known of a lead but what it shows, so that a row is made of it with many others. */
  isPlain(leadId: string): boolean {
    if (this.#special === null || this.#special.has(leadId) || this.#unreadable.has(leadId)) return false;
    return !this.isPair(leadId) && !this.rows.has(leadId);
  }

  /** The new leads of which nothing else is known, as JSON: `[id, cells]` each. */
  *plainLines(): Generator<string> {
    for (let n = 0; n < this.#shown.size; n++) if (this.isPlain(this.#shown.id(n))) yield this.#line(n);
  }

  /** The ids of which something may be to be decided, in their order; with `ofRows` those alone whose rows are. */
  differing(ofRows = false): readonly string[] {
    const ids = new Set<string>();
    if (!ofRows) for (const leadId of this.leads()) if (!this.isPlain(leadId)) ids.add(leadId);
    for (const leadId of this.rows.otherIds()) ids.add(leadId);
    for (const { leadId, row } of this.absent()) if (row || !ofRows) ids.add(leadId);
    for (const leadId of this.paused()) ids.add(leadId);
    return [...ids].toSorted();
  }

  /** The leads that the list lacks, with a row that is not as it was, in their order; without those that were asked for. */
  unlistedRows(): readonly string[] {
    const ids = [...this.rows.otherIds()];
    return ids.filter((leadId) => !this.hasLead(leadId) && !this.#asked.has(leadId)).toSorted();
  }

  /** How many pairs show their baselines, on either side; those of paused rows count on that of the row. */
  unmoved(): { readonly leads: number; readonly rows: number } {
    const count = (side: Uint8Array): number => side.reduce((sum, one) => sum + Number(one === asBase), 0);
    const paused = [...this.paused()].map((leadId) => this.base.find(leadId));
    const leads = paused.filter((n) => this.#ofLeads[n] === asBase).length;
    return { leads: count(this.#ofLeads) - leads, rows: count(this.#ofRows) };
  }

  /** The pairs that a complete scan has not met on one side or on both. */
  *absent(): Generator<{ readonly leadId: string; readonly lead: boolean; readonly row: boolean }> {
    for (let n = 0; n < this.base.size; n++) {
      const [lead, row] = [this.#ofLeads[n] === notMet, this.#ofRows[n] === notMet];
      if ((lead || row) && !this.isPaused(this.base.leadId(n)))
        yield { leadId: this.base.leadId(n), lead, row };
    }
  }

  /** The pairs that the list lacks, whether their rows are paused or not. */
  *unlistedLeads(): Generator<string> {
    for (let n = 0; n < this.base.size; n++) if (this.#ofLeads[n] === notMet) yield this.base.leadId(n);
  }

  /** How many pairs were in step once, and are not deleted. */
  inStep(): number {
    return this.#count((n) => this.base.wasInStep(n) && !this.base.isDeleted(n));
  }

  #count(is: (n: number) => boolean): number {
    let count = 0;
    for (let n = 0; n < this.base.size; n++) count += Number(is(n));
    return count;
  }

  /** How many leads are known that are not deleted, and how many of them the list lacks. */
  unlisted(): { readonly known: number; readonly missed: number } {
    const known = this.#count((n) => !this.base.isDeleted(n));
    return { known, missed: this.#count((n) => !this.base.isDeleted(n) && this.#ofLeads[n] === notMet) };
  }

  /** The leads of pairs whose rows were not met; null: they are more than `most`. */
  rowless(most: number): readonly string[] | null {
    const found: string[] = [];
    for (let n = 0; n < this.base.size; n++)
      if (this.#ofRows[n] === notMet && found.push(this.base.leadId(n)) > most) return null;
    return found;
  }
}

/** The last range that begins at an id or before it. */
function lastBefore(ranges: readonly PairRange[], id: number): PairRange | undefined {
  let [low, high] = [0, ranges.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((ranges[middle]?.[0] ?? Infinity) <= id) low = middle + 1;
    else high = middle;
  }
  return ranges[low - 1];
}

/** What is stored of a pair beside what a scan compares. */
export type PairFacts = Pick<Sight, keyof typeof noPair>;

const noPair = {
  base: null,
  leadAbsences: 0,
  rowAbsences: 0,
  isCounted: false,
  absentSince: null,
  deletionDone: false,
};

/** What a scan shows of a lead id. `facts`: of a pair. */
export function sightOf(
  scan: LiveScan,
  leadId: string,
  facts: PairFacts | undefined,
  held: readonly HeldField[],
): Sight {
  const isPaused = scan.isPaused(leadId);
  const [lead, row] = [isPaused ? null : scan.lead(leadId), scan.row(leadId)];
  const isSame = isEqual(scan, lead, row);
  return {
    leadId,
    isKnown: facts !== undefined,
    ...(facts ?? noPair),
    isSame,
    lead: isSame ? null : lead,
    row: isSame ? null : (row?.cells ?? null),
    rowNumber: placeOf(scan, leadId),
    missed: scan.missed(leadId),
    merged: scan.merged(leadId),
    asked: scan.asked(leadId),
    held,
    isCopied: scan.rows.isCopied(leadId),
    ...(isPaused && { isPaused }),
  };
}

/** Where the row of a lead is, or was last; null: nowhere. */
export function placeOf(scan: LiveScan, leadId: string): number | null {
  return scan.row(leadId)?.row ?? scan.base.row(scan.base.find(leadId));
}

/** Whether both sides show something that is not the baseline, and the same. */
export function isEqual(
  { base }: LiveScan,
  lead: ReturnType<LiveScan['lead']>,
  row: ReturnType<LiveScan['row']>,
): boolean {
  if (lead === null || row === null || row.hash === null) return false;
  return readableFingerprint(lead, base.fields) === row.hash;
}
