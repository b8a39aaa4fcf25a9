import { hashContent } from '../lead/content-hash.ts';
import type { FieldMapping } from '../lead/mapping.ts';
import { type Cells, folded, isUnreadable, sameCell, type Values } from '../lead/value.ts';
import type { LooseRow, Sight } from './difference.ts';
import { missedFields, type Policy } from './policy.ts';

/** A row that belongs to no known lead: its id is missing, unknown, a duplicate or unreadable. */
export interface Stray extends Pick<LooseRow, 'row' | 'leadId' | 'cells' | 'contentHash'> {
  readonly isUnreadable: boolean;
  /** Its id cell cannot be written, or must not be. */
  readonly isClosed: boolean;
}

/** A known lead whose row the scan did not show, or showed with other values. */
export interface LostLead {
  readonly leadId: string;
  readonly base: Values;
  /** From the scan, else the baseline. */
  readonly lead: Cells;
  /** The baseline, and the held values of its row, if any. */
  readonly row?: Cells | null;
  readonly isListed: boolean;
  /** Its row was in the previous scan. */
  readonly isFresh: boolean;
  /** Where its row was last. */
  readonly place: number | null;
  /** The row with its id that shows another name than the baseline, if any. */
  readonly shown?: { readonly row: number; readonly contentHash: string };
}

/** How often a side was missed before this run. */
const before = (absences: number, { isCounted }: Sight): number => absences - Number(isCounted);

/** A known lead whose row the scan did not show; null: it is none. A lead that is not in it either may be gone, or only be missed. */
export function goneLead(sight: Sight): LostLead | null {
  const { leadId, base, missed, merged, deletionDone, held } = sight;
  if (base === null || !missed.row || merged !== null || deletionDone) return null;
  if (missed.lead && before(sight.leadAbsences, sight) > 0) return null;
  const row = Object.fromEntries(held.map((one) => [one.field, one.row]));
  return {
    leadId,
    base,
    lead: sight.lead ?? base,
    row: held.length === 0 ? null : { ...base, ...row },
    isListed: !missed.lead,
    isFresh: before(sight.rowAbsences, sight) <= 0,
    place: sight.rowNumber,
  };
}

/** A known lead whose row shows another name than they last agreed on, and than the lead; null: it is none. */
export function renamedLead(
  { leadId, base, lead, row, rowNumber }: Sight,
  fields: readonly FieldMapping[],
): LostLead | null {
  const name = row?.['companyName'];
  if (base === null || row === null || name === undefined || rowNumber === null) return null;
  const agreed = base['companyName'] ?? null;
  const isNamed = !sameCell(agreed, null);
  if (!isNamed || sameCell(name, agreed) || sameCell(name, lead?.['companyName'] ?? agreed)) return null;
  const shown = { row: rowNumber, contentHash: hashContent(row, fields) };
  return { leadId, base, lead: lead ?? base, isListed: true, isFresh: true, place: null, shown };
}

/**
 * A lead without a row, for which one was begun (`begun`: what it was to show, by lead) by a run that never heard what became of
 * it: it may have come about, and lost its id since. Null: it is none.
 */
export function unheardLead(
  { leadId, base, isSame, lead, row, isCopied }: Sight,
  begun: ReadonlyMap<string, Values>,
): LostLead | null {
  const sent = begun.get(leadId);
  if (sent === undefined || base !== null || isSame || lead === null || row !== null || isCopied) return null;
  return { leadId, base: sent, lead, isListed: true, isFresh: true, place: null };
}

/**
 * A row whose id belongs to no known lead; null: it is none. Of a deleted lead one that reappeared, which may have had another id in
 * between, or with `allOfGone` each. `isNew`: its id was not in the scan before.
 */
export function orphanRow(
  { leadId, isKnown, missed, rowAbsences, lead, row, rowNumber, isSame, held }: Sight,
  fields: readonly FieldMapping[],
  allOfGone: boolean,
): { readonly stray: Stray; readonly isNew: boolean } | null {
  if (row === null || rowNumber === null || lead !== null || isSame || (isKnown && !missed.lead)) return null;
  const isHeld = held.some(({ code }) => code === 'row.orphan' || (code === 'lead.unasked' && !isKnown));
  if (isKnown && rowAbsences === 0 && !isHeld && !allOfGone) return null;
  const contentHash = hashContent(row, fields);
  const stray = { row: rowNumber, leadId, isUnreadable: false, isClosed: false, cells: row, contentHash };
  return { stray, isNew: !isKnown && !isHeld };
}

/** A row without an id, or whose id another row has. */
export function looseStray({
  row,
  leadId,
  unreadableId,
  idClosed,
  isPaused = false,
  cells,
  contentHash,
}: LooseRow): Stray {
  const isUnreadable = unreadableId !== null;
  const isClosed = isUnreadable || idClosed !== null || isPaused;
  return { row, leadId, isUnreadable, isClosed, cells, contentHash };
}

/** Which rows belong to leads that lost theirs. Rows by number. */
export interface LostRows {
  /** Rows that certainly belong to a lead: they get its id back. */
  readonly links: ReadonlyMap<number, string>;
  /** Rows that may belong to leads, the likeliest first. */
  readonly mayBe: ReadonlyMap<number, readonly string[]>;
  /** Rows with an id that show another lead's content: ids and rows were shifted against each other. */
  readonly moved: ReadonlyMap<number, readonly string[]>;
  /** Leads whose rows are not certainly gone. */
  readonly leadIds: ReadonlySet<string>;
  /** A row with an unreadable id may be any lead's: no row can be called gone. */
  readonly isAnyones: boolean;
}

/** What a scan shows of rows that lost their ids. */
export interface FoundRows extends LostRows {
  /** The rows that get their id back, by lead. */
  readonly rowOf: ReadonlyMap<string, { readonly row: number; readonly cells: Cells }>;
  /** Rows that would get their ids back, but for a column that is missing, and the leads. */
  readonly unsure: ReadonlyMap<number, string>;
  /** New rows with unknown ids, at most as many as rows of known leads disappeared. */
  readonly idsUnknown: number;
  /** Whether a row with an unreadable id may be this new lead's. */
  mayHaveRow(lead: Cells): boolean;
}

/**
 * As `findLostRows`, with what a plan asks of it. `fresh`: leads whose rows this scan is the first to miss; `newOrphans`: rows whose
 * ids appeared in it.
 */
export function foundRows(
  strays: readonly Stray[],
  gone: readonly LostLead[],
  fields: readonly FieldMapping[],
  policy: Policy,
  { fresh, newOrphans }: { readonly fresh: number; readonly newOrphans: number },
): FoundRows {
  const lost = findLostRows(strays, gone, fields, policy.fields);
  // By the columns that are left two rows may look alike.
  const isSure = missedFields(policy).length === 0;
  const links = isSure ? lost.links : new Map<number, string>();
  const byRow = new Map(strays.map((stray) => [stray.row, stray]));
  const unreadable = new Set(
    strays.filter((stray) => stray.isUnreadable).flatMap((stray) => contentMarks(stray.cells, fields)),
  );
  return {
    ...lost,
    links,
    unsure: isSure ? new Map() : lost.links,
    rowOf: new Map([...links].map(([row, leadId]) => [leadId, { row, cells: byRow.get(row)?.cells ?? {} }])),
    idsUnknown: Math.min(newOrphans, fresh - lost.links.size),
    mayHaveRow: (cells) =>
      unreadable.size > 0 && contentMarks(cells, fields).some((mark) => unreadable.has(mark)),
  };
}

/** Beyond this many rows and leads of one name, each may be each other's: comparing all would be quadratic. */
const mostCompared = 1_000;

/** Keys that two records share when they show the same or have the same name. */
function contentMarks(cells: Cells, fields: readonly FieldMapping[]): readonly string[] {
  return [`=${hashContent(cells, fields)}`, ...nameMark(cells)];
}

/** Keys for comparing rows and leads: full content, name, position. */
export function strayMarks({ contentHash, cells, row }: Stray): readonly string[] {
  return [`=${contentHash}`, ...nameMark(cells), `@${row}`];
}

export function lostMarks(
  lost: LostLead,
  fields: readonly FieldMapping[],
  readable: readonly FieldMapping[],
): readonly string[] {
  return [
    ...contentKeys(lost, fields, readable).map((key) => `=${key}`),
    ...recordsOf(lost).flatMap(nameMark),
    ...(lost.place === null ? [] : [`@${lost.place}`]),
  ];
}

/** What the lead's row may have shown before today's edits. */
function recordsOf({ base, lead, row }: LostLead): readonly Cells[] {
  return row ? [base, lead, row] : [base, lead];
}

/**
 * Finds the rows of leads whose ids were cleared, overwritten, filled down or shifted by a cell. A row without id that
 * alone shows all that one lead shows is its row; one with its name or most of its content may be. Pure; linear in rows
 * and leads. `readable`: the fields that have a column.
 */
export function findLostRows(
  strays: readonly Stray[],
  lost: readonly LostLead[],
  fields: readonly FieldMapping[],
  readable: readonly FieldMapping[],
): LostRows {
  const links = new Map<number, string>();
  const mayBe = new Map<number, string[]>();
  const moved = new Map<number, readonly string[]>();
  const leadIds = new Set<string>();
  const certain = new Set<number>();
  const gone = lost.filter(({ shown }) => shown === undefined);
  const keysOf = new Map(lost.map((lead) => [lead, contentKeys(lead, fields, readable)]));

  const byKey = groupBy(strays, ({ contentHash }) => [contentHash]);
  const leadsByKey = groupBy(lost, (lead) => keysOf.get(lead) ?? []);
  const rowsOf = (lead: LostLead): readonly Stray[] =>
    (keysOf.get(lead) ?? []).flatMap((key) => byKey.get(key) ?? []);
  const matched = new Set<LostLead>();
  for (const [key, rows] of byKey) {
    const leads = leadsByKey.get(key) ?? [];
    for (const lead of leads) matched.add(lead);
    if (leads.length === 0) continue;
    const ids = leads.map(({ leadId }) => leadId);
    for (const id of ids) leadIds.add(id);
    const [only] = leads.length === 1 && rows.length === 1 ? leads : [];
    const isCertain = only !== undefined && rowsOf(only).length === 1;
    for (const { row, leadId, isClosed } of rows) {
      if (isCertain) certain.add(row);
      if (isCertain && leadId === null && !isClosed && only.isListed && only.shown === undefined)
        links.set(row, only.leadId);
      // One shared list: there may be many rows.
      else mayBe.set(row, ids);
    }
  }

  const offer = ({ row }: Stray, lead: LostLead): void => {
    mayBe.set(row, [...new Set([...(mayBe.get(row) ?? []), lead.leadId])]);
    leadIds.add(lead.leadId);
  };
  const freeRows = strays.filter(({ row }) => !links.has(row) && !mayBe.has(row));
  const freeLeads = gone.filter((lead) => lead.isFresh && !matched.has(lead));
  const byMark = groupBy(freeRows, strayMarks);
  for (const [mark, leads] of groupBy(freeLeads, (lead) => lostMarks(lead, [], readable))) {
    const rows = byMark.get(mark) ?? [];
    if (rows.length * leads.length > mostCompared) {
      const ids = leads.map(({ leadId }) => leadId);
      for (const id of ids) leadIds.add(id);
      for (const { row } of rows) mayBe.set(row, ids);
      continue;
    }
    for (const stray of rows) {
      for (const lead of leads) if (isMuchAlike(stray, lead, readable)) offer(stray, lead);
    }
  }

  const owners = groupBy(lost, ({ base }) => [contentKey(base, fields, readable)]);
  const shownKeys = groupBy(lost, ({ shown }) => (shown === undefined ? [] : [shown.contentHash]));
  for (const { leadId, base, shown } of lost) {
    if (shown === undefined) continue;
    const others = (owners.get(shown.contentHash) ?? []).filter((other) => other.leadId !== leadId);
    const key = contentKey(base, fields, readable);
    const isElsewhere = byKey.has(key) || (shownKeys.get(key) ?? []).some((other) => other.leadId !== leadId);
    if (others.length === 0 && !isElsewhere) continue;
    moved.set(
      shown.row,
      others.map((other) => other.leadId),
    );
    for (const other of others) leadIds.add(other.leadId);
  }
  const isAnyones = strays.some((stray) => stray.isUnreadable && !certain.has(stray.row));
  return { links, mayBe, moved, leadIds, isAnyones };
}

/** Whether a row that has the lead's name, or stands where its row was, may be that row: by the name, or by half of what is filled. */
function isMuchAlike({ cells }: Stray, lost: LostLead, fields: readonly FieldMapping[]): boolean {
  const shown = fields.filter(({ field }) => field in cells);
  return recordsOf(lost).some((record) => {
    if (nameMark(cells).some((name) => nameMark(record).includes(name))) return true;
    const filled = shown.filter(
      ({ field }) => !sameCell(cells[field] ?? null, null) || !sameCell(record[field] ?? null, null),
    );
    const same = filled.filter(({ field }) => sameCell(cells[field] ?? null, record[field] ?? null));
    return same.length > 0 && same.length * 2 >= filled.length;
  });
}

function nameMark({ companyName = null }: Cells): readonly string[] {
  const name = isUnreadable(companyName) ? '' : folded(companyName);
  return name === '' ? [] : [`#${name}`];
}

/** Content keys of an unedited row. */
function contentKeys(
  lost: LostLead,
  fields: readonly FieldMapping[],
  readable: readonly FieldMapping[],
): readonly string[] {
  if (fields.length === 0) return [];
  return [...new Set(recordsOf(lost).map((record) => contentKey(record, fields, readable)))];
}

function contentKey(
  cells: Cells,
  fields: readonly FieldMapping[],
  readable: readonly FieldMapping[],
): string {
  const shown = readable.map(({ field }) => [field, cells[field] ?? null] as const);
  return hashContent(Object.fromEntries(shown), fields);
}

function groupBy<T>(items: readonly T[], keysOf: (item: T) => readonly string[]): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    for (const key of new Set(keysOf(item))) {
      const group = groups.get(key);
      if (group === undefined) groups.set(key, [item]);
      else group.push(item);
    }
  }
  return groups;
}
