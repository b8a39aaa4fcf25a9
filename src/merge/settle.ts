import { leadIdTime } from '../lead/lead.ts';
import {
  type Cell,
  type Cells,
  folded,
  isUnreadable,
  sameButSpelling,
  sameCell,
  type Values,
} from '../lead/value.ts';

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
  /** It was finished, but its row does not carry the id any more: the row is to get it again. */
  readonly lostItsRow: boolean;
  /** The service said that it made the lead, but not which one it is: it is looked for and never made again. */
  readonly answered: boolean;
  /** Epoch ms of the last attempt. */
  readonly attemptedAt: number;
  /** The weights of the scans that speak against the lead's existence, added up. */
  readonly scansWithoutIt: number;
}

export interface UnknownLead {
  readonly id: string;
  readonly cells: Cells;
}

/**
 * What became of an intent. `found`: this lead is ours. `again`: it was certainly not made, the row counts as new.
 * `wait`: no answer yet. `ambiguous`: several leads fit. `unrecognised`: the service said that it made a lead, but none
 * of the new ones looks like it.
 */
export type Settlement =
  | { readonly kind: 'found'; readonly leadId: string }
  | { readonly kind: 'again' }
  | { readonly kind: 'wait' }
  | { readonly kind: 'unrecognised' }
  | { readonly kind: 'ambiguous'; readonly candidates: readonly string[] };

/** How far the service's clock may be behind ours, in ms, when the age of a time-ordered id is compared. */
const clockMargin = 5 * 60_000;

/**
 * How long after the last attempt a service may still act on a request whose reply was lost, in ms. A scan that began
 * earlier than that proves nothing by not showing the lead.
 */
export const attemptOverAfter = 10_000;

/** A create is looked for in scans of this weight before it is made again: one scan may miss a lead that moved. */
const weightThatProves = 2;

/**
 * The scan that is asked: when it began (epoch ms), and what it proves by not showing a lead: 1 when it is complete, a
 * half when leads moved meanwhile, 0 when it was filtered or empty.
 */
export interface ScanProof {
  readonly weight: number;
  readonly startedAt: number;
}

/** How much a scan that does not show the lead of this intent speaks against its existence. */
export function speaksAgainst(intent: Intent, scan: ScanProof): number {
  return isOver(intent, scan.startedAt) ? scan.weight : 0;
}

/** Whether the service had acted on the last attempt by then (epoch ms), or never will. */
export function isOver(intent: Intent, at: number): boolean {
  return at >= intent.attemptedAt + attemptOverAfter;
}

type Matches = (lead: UnknownLead, intent: Intent) => boolean;

/**
 * Settles creates whose reply was lost (DESIGN 6) by the leads that a scan shows and that were not known before. Pure.
 * A lead fits when it is not older than the attempt (with a margin; ids of another kind than time-ordered UUIDs never
 * are) and shows what was sent; when none does, one that resembles it will do, since a service may store a value
 * otherwise than it was sent. A new lead that does neither is for a person to
 * look at when it has the same name, or when the service said that it made one. The fullest content is settled first: a lead that shows all of it was not made of a part
 * of it. Of creates that are alike, those come first of which the service said that it made a lead: the others may not
 * have happened. No lead is given to one intent while it may be another's.
 */
export function settle(
  intents: readonly Intent[],
  unknown: readonly UnknownLead[],
  scan: ScanProof,
): ReadonlyMap<number, Settlement> {
  const settled = new Map<number, Settlement>();
  for (const intent of intents) {
    if (intent.leadId !== null) settled.set(intent.id, { kind: 'found', leadId: intent.leadId });
  }
  const fullestFirst = intents.toSorted(
    (a, b) => filled(b.content).length - filled(a.content).length || Number(b.answered) - Number(a.answered),
  );
  const offered = new Set<string>();
  assign(fullestFirst, unknown, fits, settled, offered);
  assign(fullestFirst, unknown, resembles, settled, offered);
  for (const intent of fullestFirst) {
    if (settled.has(intent.id)) continue;
    const namesakes = unknown.filter(
      (lead) =>
        isYoung(lead, intent) &&
        (isNamesake(lead, intent) || (intent.answered && isOfThatTime(lead, intent))) &&
        !isGiven(lead, settled),
    );
    if (namesakes.length > 0) {
      settled.set(intent.id, { kind: 'ambiguous', candidates: namesakes.map((lead) => lead.id).toSorted() });
      continue;
    }
    const weight = speaksAgainst(intent, scan);
    const proven = weight > 0 && intent.scansWithoutIt + weight >= weightThatProves;
    settled.set(intent.id, { kind: proven ? (intent.answered ? 'unrecognised' : 'again') : 'wait' });
  }
  return settled;
}

/** Gives each unsettled intent the lead that matches it alone; where several do, they are offered to a person. */
function assign(
  intents: readonly Intent[],
  unknown: readonly UnknownLead[],
  matches: Matches,
  settled: Map<number, Settlement>,
  offered: Set<string>,
): void {
  const taken = new Set([...settled.values()].flatMap((one) => (one.kind === 'found' ? [one.leadId] : [])));
  for (const intent of intents) {
    if (settled.has(intent.id)) continue;
    const candidates = unknown.filter(
      (lead) => !taken.has(lead.id) && isYoung(lead, intent) && matches(lead, intent),
    );
    const ids = candidates.map((lead) => lead.id).toSorted();
    const [first] = ids;
    if (first === undefined) continue;
    const open = intents.filter(
      (other) =>
        !settled.has(other.id) && candidates.some((lead) => isYoung(lead, other) && matches(lead, other)),
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
}

/** Whether a lead was made by the time that the service had answered the attempt; one without a time in its id may be. */
function isOfThatTime(lead: UnknownLead, intent: Intent): boolean {
  const madeAt = leadIdTime(lead.id);
  return madeAt === null || madeAt <= intent.attemptedAt + attemptOverAfter + clockMargin;
}

function isYoung(lead: UnknownLead, intent: Intent): boolean {
  const madeAt = leadIdTime(lead.id);
  return madeAt === null || madeAt >= intent.attemptedAt - clockMargin;
}

function fits(lead: UnknownLead, intent: Intent): boolean {
  return Object.entries(intent.content).every(([field, value]) => sameCell(lead.cells[field] ?? null, value));
}

/**
 * Whether a service may have made this lead of what was sent: the name is alike (for leads without one: every field),
 * and so are at least two thirds of the fields. Text is alike that differs in case or spaces or was cut off; an instant that
 * lost its fraction of a second is.
 */
function resembles(lead: UnknownLead, intent: Intent): boolean {
  const sent = filled(intent.content);
  const alike = sent.filter(([field, cell]) => isAlike(cell, lead.cells[field] ?? null));
  const named = sent.some(([field]) => field === 'companyName');
  return named
    ? alike.length * 3 >= sent.length * 2 && isNamesake(lead, intent)
    : alike.length === sent.length;
}

function isGiven(lead: UnknownLead, settled: ReadonlyMap<number, Settlement>): boolean {
  return [...settled.values()].some((one) => one.kind === 'found' && one.leadId === lead.id);
}

function isNamesake(lead: UnknownLead, intent: Intent): boolean {
  return isAlike(intent.content.companyName ?? null, lead.cells.companyName ?? null);
}

function isAlike(sent: Cell, stored: Cell): boolean {
  if (isUnreadable(sent) || isUnreadable(stored)) return false;
  const [whole, part] = [folded(sent), folded(stored)];
  return part !== '' && (whole === part || (part.length >= shortestCut && whole.startsWith(part)));
}

/** A text that was cut off is recognised when so many characters are left; an instant to the second has 19. */
const shortestCut = 8;

/** What of the sent content the lead that was made of it shows, though perhaps in the service's own spelling. */
export function agreedContent(intent: Intent, lead: Cells): Values {
  const entries = Object.entries(intent.content).filter(([field, value]) =>
    sameButSpelling(value, lead[field] ?? null),
  );
  return Object.fromEntries(entries);
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
