import { fingerprint } from '../lead/fingerprint.ts';
import type { FieldMapping } from '../lead/mapping.ts';
import { type Cells, folded, isUnreadable, sameCell, type Values } from '../lead/value.ts';

/** A row that no lead is known to have: without an id, with one that nobody knows or another row has, or an unreadable one. */
export interface Stray {
  readonly row: number;
  /** What stands in its id cell; null: nothing that can be read. */
  readonly leadId: string | null;
  readonly isUnreadable: boolean;
  /** No id can be written into its id cell. */
  readonly isClosed: boolean;
  readonly cells: Cells;
  /** The fingerprint of its cells. */
  readonly rowKey: string;
}

/** A known lead whose row the scan did not show, or shows with other values. */
export interface LostLead {
  readonly leadId: string;
  readonly base: Values;
  /** As the scan shows it, else as in the baseline. */
  readonly lead: Cells;
  /** The baseline, and what is held of its row. Null or absent: nothing is. */
  readonly row?: Cells | null;
  /** The scan shows the lead. */
  readonly isListed: boolean;
  /** Its row was there in the scan before. */
  readonly isFresh: boolean;
  /** Where its row stood last. */
  readonly place: number | null;
  /** The row that carries its id, and shows another name than the baseline. Absent: there is none. */
  readonly shown?: { readonly row: number; readonly rowKey: string };
}

/** Which rows are the ones that leads have lost. Rows by their number. */
export interface LostRows {
  /** Rows that are certainly a lead's: they are to get its id back. */
  readonly links: ReadonlyMap<number, string>;
  /** Rows that may be those of some leads, the likeliest first. */
  readonly mayBe: ReadonlyMap<number, readonly string[]>;
  /** Rows with an id that show what another lead had: ids and rows were moved against each other. */
  readonly moved: ReadonlyMap<number, readonly string[]>;
  /** Leads whose rows are not gone, or not certainly. */
  readonly leadIds: ReadonlySet<string>;
  /** A row with an unreadable id may be any lead's: of none can it be told that its row is gone. */
  readonly isAnyones: boolean;
}

/** Rows and leads of one name that are compared one by one; of more, each may be each other's. */
const mostCompared = 1_000;

/** What two records share that show the same, or have the same name. */
export function contentMarks(cells: Cells, fields: readonly FieldMapping[]): readonly string[] {
  return [`=${fingerprint(cells, fields)}`, ...nameMark(cells)];
}

/** What rows and leads are compared by, as short texts: all that they show, their name, their place. */
export function strayMarks({ rowKey, cells, row }: Stray): readonly string[] {
  return [`=${rowKey}`, ...nameMark(cells), `@${row}`];
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

/** What the row of a lead may have shown before anybody edited it today. */
function recordsOf({ base, lead, row }: LostLead): readonly Cells[] {
  return row ? [base, lead, row] : [base, lead];
}

/**
 * Finds the rows of leads that were lost: ids that were cleared, written over, filled down or moved by a cell. A row without
 * id that shows all that one lead shows, and no other does, is its row. One that has its name or shows most of it may be. Pure; takes no longer than the rows and leads are many.
 * `readable`: those of the fields that have a column.
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
  const told = new Set<number>();
  const gone = lost.filter(({ shown }) => shown === undefined);
  const keysOf = new Map(lost.map((lead) => [lead, contentKeys(lead, fields, readable)]));

  const byKey = groupBy(strays, ({ rowKey }) => [rowKey]);
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
    const [only] = leads;
    for (const { row, leadId, isClosed } of rows) {
      const isCertain =
        rows.length === 1 && leads.length === 1 && only !== undefined && rowsOf(only).length === 1;
      if (isCertain) told.add(row);
      if (isCertain && leadId === null && !isClosed && only.isListed && only.shown === undefined)
        links.set(row, only.leadId);
      // The same list for all rows alike: they may be many.
      else mayBe.set(row, ids);
    }
  }

  const offer = ({ row }: Stray, lead: LostLead): void => {
    mayBe.set(row, [...new Set([...(mayBe.get(row) ?? []), lead.leadId])]);
    leadIds.add(lead.leadId);
  };
  const freeRows = strays.filter(({ row }) => !links.has(row) && !mayBe.has(row));
  const freeLeads = gone.filter((lead) => lead.isFresh && !matched.has(lead));
  const byMark = groupBy(freeRows, (stray) => strayMarks(stray).slice(1));
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
  const shownKeys = groupBy(lost, ({ shown }) => (shown === undefined ? [] : [shown.rowKey]));
  for (const { leadId, base, shown } of lost) {
    if (shown === undefined) continue;
    const others = (owners.get(shown.rowKey) ?? []).filter((other) => other.leadId !== leadId);
    const key = contentKey(base, fields, readable);
    const isElsewhere = byKey.has(key) || (shownKeys.get(key) ?? []).some((other) => other.leadId !== leadId);
    if (others.length === 0 && !isElsewhere) continue;
    moved.set(
      shown.row,
      others.map((other) => other.leadId),
    );
    for (const other of others) leadIds.add(other.leadId);
  }
  const isAnyones = strays.some((stray) => stray.isUnreadable && !told.has(stray.row));
  return { links, mayBe, moved, leadIds, isAnyones };
}

/**
 * Whether a row may be the one that a lead lost in this very scan: it has its name, whatever else was edited; or it shows at
 * least half of what is filled in the lead or in it, which is two fields, or one where it stands in the lead's place.
 */
function isMuchAlike({ cells, row }: Stray, lost: LostLead, fields: readonly FieldMapping[]): boolean {
  const shown = fields.filter(({ field }) => field in cells);
  return recordsOf(lost).some((record) => {
    if (nameMark(cells).some((name) => nameMark(record).includes(name))) return true;
    const filled = shown.filter(
      ({ field }) => !sameCell(cells[field] ?? null, null) || !sameCell(record[field] ?? null, null),
    );
    const same = filled.filter(({ field }) => sameCell(cells[field] ?? null, record[field] ?? null));
    return same.length >= (row === lost.place ? 1 : 2) && same.length * 2 >= filled.length;
  });
}

function nameMark({ companyName = null }: Cells): readonly string[] {
  const name = isUnreadable(companyName) ? '' : folded(companyName);
  return name === '' ? [] : [`#${name}`];
}

/** What a row that nobody edited has for a key. */
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
  return fingerprint(Object.fromEntries(shown), fields);
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
