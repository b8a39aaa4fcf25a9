import { leadIdTime } from '../lead/lead.ts';
import { type Cell, type Cells, sameCell, type Values } from '../lead/value.ts';

/**
 * A create that was begun and is not finished. `leadId` null: in doubt, the reply never told whether or which lead was
 * made.
 */
export interface Intent {
  readonly id: number;
  readonly rowKey: string;
  /** All mapped cells of the row it was made of. */
  readonly row: Cells;
  /** What was sent. */
  readonly content: Values;
  readonly leadId: string | null;
  /** Epoch ms of the last attempt. */
  readonly attemptedAt: number;
  /** Complete scans that began after the attempt was certainly over and did not show the lead. */
  readonly scansWithoutIt: number;
}

export interface UnknownLead {
  readonly id: string;
  readonly cells: Cells;
}

/**
 * What became of an intent. `found`: this lead is ours. `again`: it was certainly not made, the row counts as new.
 * `wait`: no answer yet. `ambiguous`: several leads fit.
 */
export type Settlement =
  | { readonly kind: 'found'; readonly leadId: string }
  | { readonly kind: 'again' }
  | { readonly kind: 'wait' }
  | { readonly kind: 'ambiguous'; readonly candidates: readonly string[] };

/** How far the service's clock may be behind ours, in ms, when the age of a time-ordered id is compared. */
const clockMargin = 5 * 60_000;

/**
 * How long after the last attempt a service may still act on a request whose reply was lost, in ms. A scan that began
 * earlier than that proves nothing by not showing the lead.
 */
export const attemptOverAfter = 10_000;

/** A create is looked for in this many complete scans before it is made again: one scan may miss a lead that moved. */
const scansThatProve = 2;

/** The scan that is asked: whether it is complete, and when it began (epoch ms). */
export interface ScanProof {
  readonly complete: boolean;
  readonly startedAt: number;
}

/** Whether a scan that does not show the lead of this intent speaks against its existence. */
export function speaksAgainst(intent: Intent, scan: ScanProof): boolean {
  return scan.complete && scan.startedAt >= intent.attemptedAt + attemptOverAfter;
}

/**
 * Settles creates whose reply was lost (DESIGN 6) by the leads that a complete scan shows and that were not known
 * before. Pure. A lead fits when it is not older than the attempt (with a margin; ids of another kind than
 * time-ordered UUIDs never are) and shows what was sent. The fullest content is settled first: a lead that shows all
 * of it was not made of a part of it. No lead is given to one intent while it may be another's.
 */
export function settle(
  intents: readonly Intent[],
  unknown: readonly UnknownLead[],
  scan: ScanProof,
): ReadonlyMap<number, Settlement> {
  const settled = new Map<number, Settlement>();
  const taken = new Set<string>();
  const offered = new Set<string>();
  for (const intent of intents) {
    if (intent.leadId !== null) settled.set(intent.id, { kind: 'found', leadId: intent.leadId });
    if (intent.leadId !== null) taken.add(intent.leadId);
  }
  const inDoubt = intents.filter((intent) => intent.leadId === null);
  for (const intent of inDoubt.toSorted((a, b) => filled(b.content).length - filled(a.content).length)) {
    const candidates = unknown.filter((lead) => fits(lead, intent) && !taken.has(lead.id));
    const ids = candidates.map((lead) => lead.id).toSorted();
    const [first] = ids;
    if (first === undefined) {
      const proven = speaksAgainst(intent, scan) && intent.scansWithoutIt + 1 >= scansThatProve;
      settled.set(intent.id, proven ? { kind: 'again' } : { kind: 'wait' });
      continue;
    }
    const open = inDoubt.filter(
      (other) => !settled.has(other.id) && candidates.some((lead) => fits(lead, other)),
    );
    const alike = open.filter((other) => includes(other.content, intent.content));
    const different = open.some((other) => !includes(intent.content, other.content));
    if (ids.length > alike.length || different || ids.some((id) => offered.has(id))) {
      settled.set(intent.id, { kind: 'ambiguous', candidates: ids });
      for (const id of ids) offered.add(id);
    } else {
      settled.set(intent.id, { kind: 'found', leadId: first });
      taken.add(first);
    }
  }
  return settled;
}

function fits(lead: UnknownLead, intent: Intent): boolean {
  const madeAt = leadIdTime(lead.id);
  if (madeAt !== null && madeAt < intent.attemptedAt - clockMargin) return false;
  return Object.entries(intent.content).every(([field, value]) => sameCell(lead.cells[field] ?? null, value));
}

/** Whether a record shows all that is filled in `part`. */
function includes(whole: Cells, part: Cells): boolean {
  return filled(part).every(([field, cell]) => sameCell(whole[field] ?? null, cell));
}

function filled(cells: Cells): readonly [string, Cell][] {
  return Object.entries(cells).filter(([, cell]) => !sameCell(cell, null));
}

/** Rows that may be the one an intent was made of. `certain`: there is one, and it can be no other intent's. */
export interface IntentRows<Row> {
  readonly rows: readonly Row[];
  readonly certain: boolean;
}

/**
 * Finds the rows without id that unfinished creates were made of. First each intent gets a row that shows exactly what
 * it showed then. The others, whose row was edited or removed while the lead was being made, get those of the rows
 * left that share the most of their filled cells, and at least half of them.
 */
export function findIntentRows<Row extends { readonly rowKey: string; readonly cells: Cells }>(
  intents: readonly Intent[],
  rows: readonly Row[],
): ReadonlyMap<number, IntentRows<Row>> {
  const found = new Map<number, IntentRows<Row>>();
  const free = new Set(rows);
  for (const intent of intents) {
    const exact = rows.find((row) => free.has(row) && row.rowKey === intent.rowKey);
    if (exact === undefined) continue;
    free.delete(exact);
    found.set(intent.id, { rows: [exact], certain: true });
  }
  const edited = intents.filter((intent) => !found.has(intent.id));
  const claims = edited.map((intent) => ({ id: intent.id, rows: mostAlike(intent, [...free]) }));
  for (const claim of claims) {
    const rivals = claims.filter((other) => other.rows.some((row) => claim.rows.includes(row)));
    found.set(claim.id, { rows: claim.rows, certain: claim.rows.length === 1 && rivals.length === 1 });
  }
  return found;
}

function mostAlike<Row extends { readonly cells: Cells }>(
  intent: Intent,
  rows: readonly Row[],
): readonly Row[] {
  const cells = filled(intent.row);
  const shared = (row: Row): number =>
    cells.filter(([field, cell]) => sameCell(row.cells[field] ?? null, cell)).length;
  const most = Math.max(1, cells.length / 2, ...rows.map(shared));
  return rows.filter((row) => shared(row) === most);
}
