import { leadIdTime } from '../lead/lead.ts';
import { type Cells, sameCell, type Values } from '../lead/value.ts';

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
 * time-ordered UUIDs always are) and shows what was sent.
 */
export function settle(
  intents: readonly Intent[],
  unknown: readonly UnknownLead[],
  scan: ScanProof,
): ReadonlyMap<number, Settlement> {
  const settled = new Map<number, Settlement>();
  const taken = new Set<string>();
  for (const intent of intents) {
    if (intent.leadId !== null) settled.set(intent.id, { kind: 'found', leadId: intent.leadId });
    if (intent.leadId !== null) taken.add(intent.leadId);
  }
  const inDoubt = intents.filter((intent) => intent.leadId === null);
  for (const intent of inDoubt) {
    const candidates = unknown.filter((lead) => fits(lead, intent) && !taken.has(lead.id)).map((lead) => lead.id);
    const rivals = inDoubt.filter((other) => !settled.has(other.id) && sameContent(other.content, intent.content));
    const [first] = candidates.toSorted();
    if (first === undefined) {
      const proven = speaksAgainst(intent, scan) && intent.scansWithoutIt + 1 >= scansThatProve;
      settled.set(intent.id, proven ? { kind: 'again' } : { kind: 'wait' });
    } else if (candidates.length > rivals.length) {
      settled.set(intent.id, { kind: 'ambiguous', candidates });
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

function sameContent(a: Values, b: Values): boolean {
  const fields = new Set([...Object.keys(a), ...Object.keys(b)]);
  return [...fields].every((field) => sameCell(a[field] ?? null, b[field] ?? null));
}

/**
 * Which rows without id an intent may belong to: the one that shows exactly what it showed then; else those that still
 * share at least half of its filled cells (somebody edited it while the lead was being made). `rows` are those that no
 * other intent has taken.
 */
export function findIntentRows<Row extends { readonly rowKey: string; readonly cells: Cells }>(
  intent: Intent,
  rows: readonly Row[],
): readonly Row[] {
  const exact = rows.find((row) => row.rowKey === intent.rowKey);
  if (exact) return [exact];
  const filled = Object.entries(intent.row).filter(([, cell]) => !sameCell(cell, null));
  return rows.filter((row) => {
    const shared = filled.filter(([field, cell]) => sameCell(row.cells[field] ?? null, cell));
    return shared.length > 0 && shared.length * 2 >= filled.length;
  });
}
