import { hash } from 'node:crypto';
import type { Aside } from '../../src/core/lead/aside.ts';
import { hashContent, readableFingerprint } from '../../src/core/lead/content-hash.ts';
import type { FieldMapping } from '../../src/core/lead/mapping.ts';
import type { MergedPlace } from '../../src/core/lead/table-rows.ts';
import { type Cells, isUnreadable, type Value, type Values } from '../../src/core/lead/value.ts';
import { type Asked, showsBase } from '../../src/core/merge/difference.ts';
import type { LiveScan } from '../../src/core/merge/live-scan.ts';
import { Baselines, digestMark, recordText } from '../../src/core/merge/records.ts';
import type { ScannedRow, ShownRow } from '../../src/core/merge/shown-rows.ts';

export const fields: readonly FieldMapping[] = [
  { field: 'companyName', column: 'Company', type: 'text', direction: 'two-way' },
  { field: 'stage', column: 'Stage', type: 'text', direction: 'two-way' },
];

export interface Pair {
  readonly leadId: string;
  readonly id: number;
  readonly row: number | null;
  /** Null: they were never in step. */
  readonly base: Values | null;
  /** Its digest is kept instead of its baseline. */
  readonly isLong: boolean;
  readonly state: 'settled' | 'open' | 'deleted';
}

/** What Postgres sends of a baseline. */
function textOf({ base, isLong }: Pick<Pair, 'base' | 'isLong'>): string {
  const text = base === null ? '' : recordText(base, fields);
  return isLong ? `${digestMark}${Buffer.byteLength(text)} ${hash('sha256', text, 'base64')}` : text;
}

export function baselinesOf(pairs: readonly Pair[]): Baselines {
  const all = new Baselines(fields);
  for (const { leadId, id, row, state, ...base } of pairs) {
    const bytes = Buffer.from(`${leadId}${textOf(base)}`);
    const end = Buffer.byteLength(leadId);
    const pair = { id, row, isSettled: state === 'settled', isDeleted: state === 'deleted' };
    all.add(pair, bytes, 0, end, end, bytes.length);
  }
  return all;
}

/** New leads of which more is known than what they show. */
const special: readonly string[] = ['a', 'e'];
export const merged = new Map<number, MergedPlace>([
  [2, { row: 9, message: 'merged' }],
  [4, { row: 9, message: 'merged' }],
]);

type RowSeen = ScannedRow & { readonly leadId: string | null; readonly isAsBase: boolean };

/** What a record shows of its baseline: the same, the same in another form, or not every field. */
export type Shown = 'base' | 'alike' | 'part';

/** What a scan knows, in ordinary maps and lists: no bytes, ordinals or ranges, and each answer from all that was seen. */
export class ScanModel {
  readonly pairs: ReadonlyMap<string, Pair>;
  /** By how an id is compared what the service calls it. */
  readonly spellings = new Map<string, string>();
  readonly asBase = new Set<string>();
  readonly others = new Map<string, Cells>();
  readonly asked = new Map<string, Asked>();
  readonly cursors = new Set<string>();
  rows: RowSeen[] = [];

  constructor(known: readonly Pair[]) {
    this.pairs = new Map(known.map((pair) => [pair.leadId, pair]));
    for (const leadId of this.pairs.keys()) this.spell(leadId);
  }

  spell(leadId: string): void {
    const key = leadId.toLowerCase();
    if (!this.spellings.has(key)) this.spellings.set(key, leadId);
  }

  cellsOf({ leadId, cells }: { readonly leadId: string; readonly cells: Cells | Shown }): Cells {
    if (typeof cells !== 'string') return cells;
    const base = this.pairs.get(this.spellings.get(leadId) ?? leadId)?.base ?? { companyName: 'Acme' };
    if (cells === 'part') return { companyName: base['companyName'] ?? null };
    const inForm = (value: Value): Value =>
      cells === 'base' ? value : (value?.normalize('NFD').replaceAll('\n', '\r\n') ?? null);
    return Object.fromEntries(Object.entries(base).map(([field, value]) => [field, inForm(value)]));
  }

  isShown(leadId: string, cells: Cells): boolean {
    const { base = null, isLong, state } = this.pairs.get(leadId) ?? {};
    if (base === null || state !== 'settled') return false;
    return isLong ? recordText(cells, fields) === recordText(base, fields) : showsBase(cells, base);
  }

  isListed = (leadId: string): boolean => this.asBase.has(leadId) || this.others.has(leadId);

  isPaused = (leadId: string): boolean => this.rowOf(leadId)?.paused === true;

  /** Whether it is a pair whose row is paused: then neither side shows anything, nor is it missed. */
  isHidden = (leadId: string): boolean => this.pairs.has(leadId) && this.isPaused(leadId);

  hasLead = (leadId: string): boolean => this.isListed(leadId) || this.isHidden(leadId);

  seeLead(leadId: string, cells: Cells): boolean {
    const isAgain = this.isListed(leadId);
    if (!isAgain && this.isShown(leadId, cells)) this.asBase.add(leadId);
    else this.correct(leadId, cells);
    this.spell(leadId);
    return isAgain;
  }

  correct(leadId: string, cells: Cells): void {
    this.spell(leadId);
    this.asBase.delete(leadId);
    this.others.set(leadId, cells);
  }

  /** What a table memory keeps of it; null: it is as it was. */
  seeRow(row: ScannedRow, isWhole: boolean): object | null {
    const leadId = row.leadId && (this.spellings.get(row.leadId) ?? row.leadId);
    const duplicate = leadId !== null && this.rows.some((one) => one.leadId === leadId);
    const hasAll = isWhole && fields.every(({ field }) => field in row.cells);
    const isShown = row.paused === true || (hasAll && this.isShown(leadId ?? '', row.cells));
    const isAsBase = leadId !== null && !duplicate && this.pairs.has(leadId) && isShown;
    this.rows.push({ ...row, leadId, isAsBase });
    const isLeft =
      !isAsBase || row.paused === true || this.pairs.get(leadId)?.row !== row.row || row.status !== '';
    return isLeft ? { ...row, leadId, duplicate } : null;
  }

  respell(): void {
    const firsts = new Set(this.rows.filter((row) => !this.isLoose(row)).map(({ ordinal }) => ordinal));
    const leadIdOf = (id: string): string => this.spellings.get(id) ?? id;
    this.rows = this.rows.map((row) => ({ ...row, leadId: row.leadId && leadIdOf(row.leadId) }));
    // What the first row of an id shows is not kept while it is paused.
    this.rows = this.rows.map((row) =>
      row.paused && firsts.has(row.ordinal) && this.isLoose(row) ? { ...row, cells: {} } : row,
    );
  }

  forgetLeads(): void {
    for (const one of [this.asBase, this.others, this.asked, this.cursors]) one.clear();
  }

  /** What another process knows: leads, and no rows. */
  takeUp(): void {
    this.rows = [];
    this.spellings.clear();
    for (const leadId of [...this.pairs.keys(), ...this.others.keys()]) this.spell(leadId);
  }

  rowOf = (leadId: string): RowSeen | undefined => this.rows.find((row) => row.leadId === leadId);

  /** How the first row of an id is kept; null: there is none, or it is as it was. */
  keptRow(leadId: string): ShownRow | null {
    const first = this.rowOf(leadId);
    if (first === undefined) return null;
    const { ordinal, row, status, cells, isAsBase, paused } = first;
    if (paused === true) return { ordinal, row, status, paused, cells: null, hash: null };
    if (isAsBase && this.pairs.get(leadId)?.row === row && status === '') return null;
    const kept = isAsBase ? { cells: null, hash: null } : { cells, hash: readableFingerprint(cells, fields) };
    return { ordinal, row, status, ...kept };
  }

  isLoose = (row: RowSeen): boolean => row.leadId === null || this.rowOf(row.leadId) !== row;

  isPlain = (leadId: string): boolean =>
    !special.includes(leadId) &&
    !Object.values(this.others.get(leadId) ?? {}).some(isUnreadable) &&
    !this.pairs.has(leadId) &&
    this.rowOf(leadId) === undefined;

  missed(leadId: string): { readonly lead: boolean; readonly row: boolean } {
    const isPair = this.pairs.has(leadId);
    return { lead: isPair && !this.hasLead(leadId), row: isPair && this.rowOf(leadId) === undefined };
  }

  about(leadId: string) {
    const pair = this.pairs.get(leadId);
    const [other, row] = [this.others.get(leadId) ?? null, this.keptRow(leadId)];
    const lead = this.isHidden(leadId) ? null : other;
    const bytes = (one: object | null): number => (one === null ? 0 : Buffer.byteLength(JSON.stringify(one)));
    const baseBytes = pair && pair.base !== null ? baseLength(pair.base, pair.isLong) : 0;
    return {
      isPair: pair !== undefined,
      lead,
      row,
      hasLead: this.hasLead(leadId),
      hasRow: this.rowOf(leadId) !== undefined,
      missed: this.missed(leadId),
      merged: this.missed(leadId).row ? (merged.get(pair?.row ?? 0) ?? null) : null,
      asked: this.asked.get(leadId) ?? null,
      isPlain: this.isPlain(leadId),
      isCopied: this.rows.some((one) => one.leadId === leadId && this.isLoose(one) && !one.paused),
      isPaused: this.isPaused(leadId),
      length: baseBytes + bytes(other) + bytes(row),
    };
  }

  /** What nothing but the scan tells of `sightOf`. */
  sight(leadId: string): object {
    const { lead: listed, row, missed, merged: into, asked, isCopied, isPaused } = this.about(leadId);
    const lead = isPaused ? null : listed;
    const hash = row?.hash ?? null;
    const isSame = lead !== null && hash !== null && readableFingerprint(lead, fields) === hash;
    return {
      leadId,
      isSame,
      lead: isSame ? null : lead,
      row: isSame ? null : (row?.cells ?? null),
      rowNumber: row?.row ?? this.pairs.get(leadId)?.row ?? null,
      missed,
      merged: into,
      asked,
      isCopied,
      ...(isPaused && { isPaused }),
    };
  }

  rowsInCells(asides: readonly Aside[]): readonly object[] {
    const found = new Map<string, object>();
    for (const one of asides) {
      const leadId = this.spellings.get(one.leadId) ?? one.leadId;
      const pair = this.pairs.get(leadId);
      const { missed, merged: into, hasRow, hasLead } = this.about(leadId);
      const isInNoRow = pair ? missed.row && into === null : !hasRow && (one.kind === 'table' || hasLead);
      const place = JSON.stringify([one.place, leadId, one.kind]);
      const hadRow = (pair?.base ?? null) !== null;
      if (leadId === '' || isInNoRow) found.set(place, { ...one, leadId, hadRow });
    }
    return [...found.keys()].toSorted().map((place) => found.get(place) ?? {});
  }

  all(): object {
    const known = [...this.pairs.values()];
    const live = known.filter(({ state }) => state !== 'deleted');
    const missedOf = (side: 'lead' | 'row') => known.filter(({ leadId }) => this.missed(leadId)[side]);
    const absent = known
      .map(({ leadId }) => ({ leadId, ...this.missed(leadId) }))
      .filter(({ lead, row }) => lead || row);
    const isOther = (leadId: string): boolean => (this.keptRow(leadId)?.cells ?? null) !== null;
    const withRows = [...new Set(this.rows.flatMap(({ leadId }) => leadId ?? []))];
    const ofRows = [
      ...withRows.filter((leadId) => isOther(leadId) || this.isPaused(leadId)),
      ...missedOf('row').map(({ leadId }) => leadId),
    ];
    const shownLeads = [...this.others.keys()].filter((leadId) => !this.isHidden(leadId));
    const ofLeads = shownLeads.filter((leadId) => !this.isPlain(leadId));
    const sorted = (some: readonly string[]): readonly string[] => [...new Set(some)].toSorted();
    const rowless = missedOf('row').map(({ leadId }) => leadId);
    return {
      leads: shownLeads,
      plain: [...this.others].filter(([leadId]) => this.isPlain(leadId)).map((one) => JSON.stringify(one)),
      askedIds: [...this.asked.keys()],
      differing: sorted([...ofLeads, ...ofRows, ...absent.map(({ leadId }) => leadId)]),
      differingRows: sorted(ofRows),
      unlistedRows: sorted(
        withRows.filter((leadId) => isOther(leadId) && !this.hasLead(leadId) && !this.asked.has(leadId)),
      ),
      unmoved: {
        leads: [...this.asBase].filter((leadId) => !this.isHidden(leadId)).length,
        rows: this.rows.filter(({ isAsBase }) => isAsBase).length,
      },
      absent,
      unlistedLeads: [...this.pairs.keys()].filter((leadId) => !this.isListed(leadId)),
      paused: sorted(withRows.filter(this.isPaused)),
      inStep: live.filter(({ base }) => base !== null).length,
      unlisted: { known: live.length, missed: live.filter(({ leadId }) => !this.isListed(leadId)).length },
      rowless: [rowless, rowless.length === 0 ? [] : null],
      isSpelled: [...this.spellings].some(([one, leadId]) => one !== leadId),
      shownRows: sorted(withRows.filter((leadId) => this.keptRow(leadId) !== null)),
      loose: this.rows.filter(this.isLoose).map(({ row, ordinal, leadId, status, cells, ...one }) => ({
        row,
        ordinal,
        leadId,
        status,
        cells,
        contentHash: hashContent(cells, fields),
        unreadableId: one.unreadableId ?? null,
        idClosed: one.idClosed ?? null,
        isApart: one.apart ?? false,
        ...(one.paused && { isPaused: one.paused }),
      })),
      isAnyWithoutId: this.rows.some(({ leadId }) => leadId === null),
      hasUnreadableIds: this.rows.some((row) => row.unreadableId !== undefined),
      hasBytes: this.rows.some((row) => this.isLoose(row) || this.keptRow(row.leadId ?? '') !== null),
    };
  }
}

const baseLength = (base: Values, isLong: boolean): number => {
  const text = recordText(base, fields);
  return isLong ? Buffer.byteLength(text) : text.length;
};

/** Ids in a row as their first, and how many. */
export function rangesOf(ids: readonly number[]): readonly (readonly [number, number])[] {
  const all = new Set(ids);
  const firsts = [...all].filter((id) => !all.has(id - 1)).toSorted((a, b) => a - b);
  return firsts.map((first) => {
    let end = first;
    while (all.has(end)) end += 1;
    return [first, end - first];
  });
}

/** As `ScanModel.about`. */
export const about = (live: LiveScan, leadId: string): object => ({
  isPair: live.isPair(leadId),
  lead: live.lead(leadId),
  row: live.row(leadId),
  hasLead: live.hasLead(leadId),
  hasRow: live.hasRow(leadId),
  missed: live.missed(leadId),
  merged: live.merged(leadId),
  asked: live.asked(leadId),
  isPlain: live.isPlain(leadId),
  isCopied: live.rows.isCopied(leadId),
  isPaused: live.isPaused(leadId),
  length: live.length(leadId),
});

/** As `ScanModel.all`. */
export function all(live: LiveScan): object {
  const rowless = live.rowless(10) ?? [];
  return {
    leads: [...live.leads()],
    plain: [...live.plainLines()],
    askedIds: live.askedIds,
    differing: live.differing(),
    differingRows: live.differing(true),
    unlistedRows: live.unlistedRows(),
    unmoved: live.unmoved(),
    absent: [...live.absent()],
    unlistedLeads: [...live.unlistedLeads()],
    paused: [...live.paused()].toSorted(),
    inStep: live.inStep(),
    unlisted: live.unlisted(),
    rowless: [rowless, live.rowless(rowless.length - 1)],
    isSpelled: live.isSpelled,
    shownRows: [...live.rows.ids()].toSorted(),
    loose: [...live.rows.loose()],
    isAnyWithoutId: live.rows.isAnyWithoutId,
    hasUnreadableIds: live.rows.hasUnreadableIds,
    hasBytes: live.rows.bytes > 0,
  };
}
