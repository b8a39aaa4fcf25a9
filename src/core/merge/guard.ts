import { counted } from '../lead/wording.ts';
import type { ActionKind, PlannedAction } from './action.ts';
import { explainFirstLeads, type FirstLeads } from './first-leads.ts';
import type { MisreadCell } from './row-elsewhere.ts';
import type { MarkVerdict } from './judge-mark.ts';
import type { Shift } from './shifted-rows.ts';

/** A limit: `10` (rows) or `10%` (of the known pairs). */
export interface Limit {
  readonly amount: number;
  readonly percent: boolean;
}

/** The plan in numbers. */
export interface PlanCounts {
  /** Pairs with a baseline before this run. */
  readonly knownPairs: number;
  readonly leads: number;
  /** The service the baselines belong to, when this run reads another one. */
  readonly otherService: string | null;
  /** Null: the service has known leads. */
  readonly foreign: ForeignLeads | null;
  readonly byKind: Readonly<Partial<Record<ActionKind, number>>>;
  /** Known pairs whose row is gone and would be written again. */
  readonly rewritten: number;
  /** Null: the current place of this connection, or an earlier one. */
  readonly otherPlace: OtherPlace | null;
  readonly rows: number;
  /** By field: known pairs in which the plan changes it. */
  readonly byField: Readonly<Record<string, number>>;
  /** By field: leads in which it would be emptied, and pairs in which it has a value. */
  readonly emptied: Readonly<Record<string, { readonly emptied: number; readonly filled: number }>>;
  /** Known pairs whose row shows another record; see `ShuffledRows`. */
  readonly strangers: number;
  /** By field: rows whose values only changed places among each other. */
  readonly permuted: Readonly<Record<string, number>>;
  /** By field: rows that show what a row nearby had. */
  readonly shifted: Readonly<Record<string, Shift & { readonly column: string }>>;
  /** Unknown ids that appeared, at most as many as known pairs that lost their row in the same scan. */
  readonly idsUnknown: number;
  /** Of a first sync: the id column, the ids in it, how many of them no lead has, and the first one; null: no ids. */
  readonly firstIds: FirstIds | null;
  /** Cells that hold whole rows of the table. */
  readonly misread: readonly MisreadCell[];
  readonly mark: MarkVerdict;
  /** Of a first sync that would make leads of rows, and how many rows it holds for their likeness; null: any other. */
  readonly firstLeads: { readonly made: FirstLeads; readonly held: number } | null;
}

interface FirstIds {
  readonly column: string;
  readonly ids: number;
  readonly unknown: number;
  readonly row: number;
  readonly id: string;
}

/** What a list shows: of the known leads, and beside them. */
export interface ListedLeads {
  readonly known: number;
  readonly listed: number;
  readonly others: number;
}

/** A list that looks like that of another organization, and how many of the known leads are not there by their ids either. */
export interface ForeignLeads extends ListedLeads {
  readonly asked: number;
}

/** Whether a list may be that of another organization: it shows (nearly) none of the known leads, and others. */
export function looksForeign({ known, listed, others }: ListedLeads): boolean {
  return known >= fewIds && others > 0 && listed * 20 < known;
}

/** A place that this connection did not keep in step before. */
export interface OtherPlace {
  /** Display names: this place, and the one before. */
  readonly here: string;
  readonly before: string;
  /** For a place the other one seems to have moved to: pairs in step there, and rows that show the same here. */
  readonly known: number;
  readonly recognised: number;
  /** For a place never seen: rows that would become leads, and rows that differ from their leads. */
  readonly newLeads: number;
  readonly differing: number;
}

export interface Refusal {
  /** The value for `--allow` that overrides it. */
  readonly code: string;
  readonly message: string;
}

export const guardCodes = [
  'other-target',
  'misread',
  'first-leads',
  'target-gone',
  'older-state',
  'other-keeper',
  'other-service',
  'empty-scan',
  'max-deletes',
  'max-changes',
  'whole-field',
  'rows-shuffled',
  'ids-unknown',
] as const;
export type GuardCode = (typeof guardCodes)[number];

/** Whether a run is stopped for a question alone, which a person may answer with yes: the first leads of a table. */
export function asksForLeads({
  status,
  problems,
}: {
  readonly status: string;
  readonly problems: readonly { readonly code: string }[];
}): boolean {
  const refused = problems.filter(({ code }) => code.startsWith('guard.'));
  return (
    status === 'stopped' && refused.length > 0 && refused.every(({ code }) => code === 'guard.first-leads')
  );
}

/** Below this many records a percentage means nothing: five leads may well all change in one day. */
const smallNumber = 10;

/** One or two ids are typing mistakes; from here on a quarter of a small table is not. */
const fewIds = 3;

/**
 * Checks the whole plan before anything is written (docs/architecture.md 6). Pure. Returns the refusals; an empty list
 * passes. `allow`: codes that a person overrode for this run.
 */
export function guard(
  counts: PlanCounts,
  limits: { readonly maxDeletes: Limit; readonly maxChanges: Limit },
  allow: readonly string[],
): readonly Refusal[] {
  const { knownPairs, byKind } = counts;
  const refusals: Refusal[] = [];
  const refuse = (isRefused: boolean, code: GuardCode, message: string): void => {
    if (isRefused && !allow.includes(code)) refusals.push({ code, message });
  };
  const elsewhere = counts.otherPlace === null ? null : describeOther(counts.otherPlace);
  if (elsewhere !== null) refuse(true, 'other-target', elsewhere);
  const [cell] = counts.misread;
  if (cell !== undefined) refuse(true, 'misread', explainMisread(cell, counts.misread.length));
  if (counts.firstLeads !== null) {
    const { made, held } = counts.firstLeads;
    refuse(true, 'first-leads', explainFirstLeads(made, held));
  }
  const { firstIds } = counts;
  if (knownPairs === 0 && firstIds !== null)
    refuse(
      firstIds.ids >= fewIds && firstIds.unknown === firstIds.ids,
      'ids-unknown',
      explainFirstIds(firstIds),
    );
  if (knownPairs === 0) return refusals;
  refuse(
    counts.rows === 0 && knownPairs >= fewIds,
    'target-gone',
    `the target has no rows, but ${knownPairs} were in step: nothing was written. Put the rows back, or allow this to write them again`,
  );
  if ('by' in counts.mark) refuse(true, counts.mark.kind, explainMark(counts.mark, knownPairs));
  refuse(
    counts.otherService !== null,
    'other-service',
    `the baselines of ${knownPairs} leads belong to ${counts.otherService}, but this run reads another service. Give it its own DATA_DIR and its own table, unless it is the same service at a new address`,
  );
  if (counts.otherService === null && counts.foreign !== null)
    refuse(true, 'other-service', explainForeign(counts.foreign));
  refuse(
    counts.leads === 0,
    'empty-scan',
    `the service returned no lead at all, but ${knownPairs} are known`,
  );
  const deletes = sum(byKind, ['delete-lead', 'remove-row', 'mark-row']);
  const maxDeletes = allowed(limits.maxDeletes, knownPairs, fewDeletes(knownPairs));
  refuse(
    deletes > maxDeletes,
    'max-deletes',
    `${deletes} of ${knownPairs} would be deleted or marked as deleted; the limit is ${maxDeletes}`,
  );
  const { rewritten } = counts;
  const changes = sum(byKind, ['update-row', 'update-lead', 'create-lead']) + rewritten;
  const maxChanges = allowed(limits.maxChanges, knownPairs, smallNumber);
  const missing =
    rewritten === 0
      ? ''
      : `; ${counted(rewritten, 'is a missing row', 'are missing rows')} that would be written again: is the table truncated or an older copy, or were ids removed?`;
  refuse(
    changes > maxChanges,
    'max-changes',
    `${counted(changes, 'change')} for ${counted(knownPairs, 'known pair')}; the limit is ${maxChanges}${missing}`,
  );
  for (const [field, changed] of Object.entries(counts.byField))
    refuse(
      changed >= knownPairs && knownPairs >= smallNumber,
      'whole-field',
      `every known pair would change in ${field}: was the column cleared or filled down?`,
    );
  for (const [field, { emptied, filled }] of Object.entries(counts.emptied))
    refuse(
      emptied >= filled && emptied >= smallNumber && (counts.byField[field] ?? 0) < knownPairs,
      'whole-field',
      `${field} would be emptied in all ${filled} leads that have a value: was the column cleared or recreated?`,
    );
  const { shifted } = counts;
  const isShifted = Object.keys(shifted).length > 0;
  refuse(isShifted, 'rows-shuffled', explainShifts(Object.values(shifted)));
  const areStrangers = !isShifted && counts.strangers >= smallNumber && counts.strangers * 20 >= knownPairs;
  refuse(
    areStrangers,
    'rows-shuffled',
    `${counts.strangers} rows changed in every column at once: was part of the table sorted, leaving ids beside the values of other leads? Undo the sorting in the table`,
  );
  for (const [field, rows] of Object.entries(counts.permuted))
    refuse(
      !areStrangers && !(field in shifted) && rows >= smallNumber,
      'rows-shuffled',
      `${rows} rows only exchanged their values in ${field} among each other: was part of the table sorted? Undo the sorting in the table`,
    );
  const { idsUnknown } = counts;
  refuse(
    (idsUnknown >= fewIds && idsUnknown * 4 >= knownPairs) ||
      (idsUnknown >= smallNumber && idsUnknown * 20 >= knownPairs),
    'ids-unknown',
    `${idsUnknown} rows have unknown ids, and as many of ${knownPairs} known rows disappeared since the last sync: was the id column changed? Put the ids back. A row with an empty id cell gets its id back if it shows what its lead shows`,
  );
  return refusals;
}

function explainFirstIds({ column, ids, row, id }: FirstIds): string {
  return `none of the ${ids} ids in the column ${JSON.stringify(column)} is an id of the service (row ${row} has ${JSON.stringify(id)}): are they numbers of your own? Nothing was changed. Leave them as they are, and name another heading for the ids (idColumn): an empty column with that heading, which the sync fills`;
}

/** Why a list is taken for that of another organization. */
export function explainForeign({ known, listed, others, asked }: ForeignLeads): string {
  const shown = listed === 0 ? 'none' : `only ${listed}`;
  return `the service lists ${shown} of ${counted(known, 'known lead')}, but ${counted(others, 'other')}, and it has none of ${asked} known ones that were asked for by id: is the key that of another organization? Put the right key back. If the service was emptied and filled anew, allow it: the others get rows, and the known leads count as missing from the list`;
}

function explainShifts(shifts: readonly PlanCounts['shifted'][string][]): string {
  const told = shifts.map(({ column, first, last, by, changed }) => {
    const far = Math.abs(by) === 1 ? '' : `${Math.abs(by)} `;
    const beside = `the row ${far}${by > 0 ? 'below' : 'above'} had`;
    return `in the column ${JSON.stringify(column)}, ${changed} of the rows ${first} to ${last} show what ${beside}`;
  });
  return `values moved against their ids: ${told.join('; ')}. Were cells deleted or inserted there? Undo that in the table, so that each value is beside its id again`;
}

/** This many rows that match their baselines prove that a place is the same. */
const enoughRecognised = 20;

function explainMisread({ place, leadIds, bare }: MisreadCell, cells: number): string {
  const shown = leadIds.slice(0, 3).join(', ');
  const more = leadIds.length > 3 ? ` and ${leadIds.length - 3} more` : '';
  const whose = leadIds.length > 0 ? `${counted(leadIds.length, 'row')} (${shown}${more})` : '';
  const what = [whose, bare ? 'rows without an id' : ''].filter((text) => text !== '').join(' and ');
  const others = cells > 1 ? ` (the same in ${counted(cells - 1, 'other place')})` : '';
  return `${place}${others}: a cell holds ${what} of this table. Was a quotation mark typed at the beginning of a cell, which joins all lines up to the next one, or were rows pasted into a cell? These rows are not gone. Take the quotation marks out (in a text editor), or put the rows back, and sync again`;
}

/** Null: no objection. */
function describeOther({ here, before, known, recognised, newLeads, differing }: OtherPlace): string | null {
  const take = `To sync ${here} as a new table, allow it`;
  if (known > 0) {
    if (recognised >= Math.min(enoughRecognised, known * 0.8)) return null;
    return `${before} is gone, and ${here} does not look like it: only ${recognised} of ${known} rows match. ${take}`;
  }
  if (newLeads + differing === 0) return null;
  return `${here} is not ${before}, which this connection synced so far: ${newLeads} of its rows would become leads, ${differing} differ from their leads. ${take}. Otherwise change the target back`;
}

function explainMark(verdict: Extract<MarkVerdict, { readonly by: string }>, known: number): string {
  const { kind, by } = verdict;
  const allowed = `Once allowed, the ${known} known pairs are compared without baselines, and differences are held`;
  if ('backedUpAt' in verdict)
    return `the state was restored from a backup of ${verdict.backedUpAt.toISOString()} and lacks every baseline since: what looks like an edit may be an older value. ${allowed}`;
  switch (kind) {
    case 'older-state':
      return `a newer or another copy of this state wrote the table (its mark is unknown here): was the state restored from a backup, or does a copy, perhaps for tests, sync the same table? Give the copy its own table and its own database. ${allowed}`;
    case 'other-keeper':
      return `another leadsync wrote to this table since the last sync (its connection: ${by}): two that sync one table undo each other's work. Stop the other one, or give one of them another table. ${allowed}`;
    default:
      return `the table is a copy of one that the connection ${by} writes elsewhere. Put the right table back, or set the right target. ${allowed}`;
  }
}

/** A number is taken as typed; a percentage always lets `few` pass. */
function allowed(limit: Limit, known: number, few: number): number {
  return limit.percent ? Math.max(few, Math.floor((known * limit.amount) / 100)) : limit.amount;
}

/** Deletes that always pass: one or two a day are ordinary in a small team. */
function fewDeletes(known: number): number {
  return Math.min(smallNumber, Math.max(1, Math.floor(known / 4)));
}

function sum(byKind: PlanCounts['byKind'], kinds: readonly ActionKind[]): number {
  return kinds.reduce((total, kind) => total + (byKind[kind] ?? 0), 0);
}

/** The reasons to write a row again. */
const goneRow: ReadonlySet<string> = new Set(['row-deleted', 'row-deleted-but-lead-edited']);

/** Counts what the guard looks at in the actions of a plan, without those that are left out of it. */
export class GuardTally {
  readonly #actions = new Map<
    string,
    { readonly kind: ActionKind; readonly reason: string; count: number }
  >();
  /** By field: pairs with a baseline in it that the plan changes, and leads in which it empties it. */
  readonly byField: Record<string, number> = {};
  readonly emptied: Record<string, number> = {};

  see({ kind, reason, changes }: Pick<PlannedAction, 'kind' | 'reason' | 'changes'>): void {
    this.add(kind, reason, 1);
    if (kind !== 'update-row' && kind !== 'update-lead') return;
    for (const [field, { to, base, rule }] of Object.entries(changes)) {
      if (base === undefined) continue;
      if (rule !== 'older-copy') countIn(this.byField, field, 1);
      if (kind === 'update-lead' && (to === null || to === '')) countIn(this.emptied, field, 1);
    }
  }

  add(kind: ActionKind, reason: string, count: number): void {
    if (count === 0) return;
    const key = `${kind} ${reason}`;
    const of = this.#actions.get(key) ?? { kind, reason, count: 0 };
    of.count += count;
    this.#actions.set(key, of);
  }

  /** `isBroughtForward`: a person chose to bring an older copy forward. `unknown`: rows whose id no lead has. */
  counts(isBroughtForward: boolean): Pick<PlanCounts, 'byKind' | 'rewritten'> & { readonly unknown: number } {
    const byKind: Record<string, number> = {};
    let [rewritten, unknown] = [0, 0];
    for (const { kind, reason, count } of this.#actions.values()) {
      if (reason === 'row.orphan' || reason === 'lead.unasked') unknown += count;
      // An update that only fills empty cells, such as a new column, overwrites nothing.
      if (kind === 'update-row' && reason === 'fills-empty') continue;
      if (isBroughtForward && (reason === 'older-copy' || goneRow.has(reason))) continue;
      countIn(byKind, kind, count);
      if (kind === 'create-row' && goneRow.has(reason)) rewritten += count;
    }
    return { byKind, rewritten, unknown };
  }
}

function countIn(counts: Record<string, number>, key: string, count: number): void {
  counts[key] = (counts[key] ?? 0) + count;
}
