import { type Cells, sameButSpelling, sameCell, type Values } from '../lead/value.ts';
import {
  cellsKey,
  exactMatches,
  filled,
  type Matches,
  Names,
  newLeads,
  type NewLead,
  roughMatches,
  type Sent,
  type UnknownLead,
} from './likeness.ts';
import { atOnce, type Steps } from './steps.ts';

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
 * The scan that is asked: when it began (epoch ms), and what it proves by not showing a lead: 1 when it is complete, less
 * when leads moved meanwhile (`tornWeight`), 0 when it was filtered or empty.
 */
export interface ScanProof {
  readonly weight: number;
  readonly startedAt: number;
}

/**
 * What a scan in which leads moved proves by not showing one: it may have missed that one as it missed others that are
 * known (of `known` leads). A half at most; when scans are weighty enough together, the chance that each of them missed
 * it is below one in a million.
 */
export function tornWeight({ known, missed }: { readonly known: number; readonly missed: number }): number {
  const chance = (missed + 1) / (known + 2);
  return Math.min(0.5, -Math.log10(chance) / 3);
}

/** How much a scan that does not show the lead of this intent speaks against its existence. */
export function speaksAgainst(intent: Intent, scan: ScanProof): number {
  return isOver(intent, scan.startedAt) ? scan.weight : 0;
}

/** Whether the service had acted on the last attempt by then (epoch ms), or never will. */
export function isOver(intent: Intent, at: number): boolean {
  return at >= intent.attemptedAt + attemptOverAfter;
}

/** Creates that sent the same, as far as they are not settled. */
interface Alike extends Sent {
  readonly open: Set<Intent>;
}

/** What became of intents, by their id. Thousands may have the same thousands of candidates: those that follow each other share a list. */
class Settlements extends Map<number, Settlement> {
  #candidates: readonly NewLead[] = [];
  #ids: readonly string[] = [];

  offer(intent: Intent, candidates: readonly NewLead[]): void {
    const before = this.#candidates;
    if (before.length !== candidates.length || candidates.some((lead, index) => lead !== before[index])) {
      this.#candidates = candidates;
      this.#ids = candidates.map(({ id }) => id);
    }
    this.set(intent.id, { kind: 'ambiguous', candidates: this.#ids });
  }
}

/** As `settleInSteps`, at one go. */
export function settle(
  intents: readonly Intent[],
  unknown: readonly UnknownLead[],
  scan: ScanProof,
): ReadonlyMap<number, Settlement> {
  return atOnce(settleInSteps(intents, unknown, scan));
}

/**
 * Settles creates whose reply was lost (docs/architecture.md 6) by the leads that a scan shows and that were not known before. Pure.
 * A lead fits when it is not older than the attempt (with a margin; ids of another kind than time-ordered UUIDs never
 * are) and shows what was sent; when none does, one that resembles it will do, since a service may store a value
 * otherwise than it was sent. A new lead that does neither is for a person to
 * look at when it has the same name, or when the service said that it made one. The fullest content is settled first: a lead that shows all of it was not made of a part
 * of it. Of creates that are alike, those come first of which the service said that it made a lead: the others may not
 * have happened. No lead is given to one intent while it may be another's. Yields between two intents: thousands take a while.
 */
export function* settleInSteps(
  intents: readonly Intent[],
  unknown: readonly UnknownLead[],
  scan: ScanProof,
): Steps<ReadonlyMap<number, Settlement>> {
  const settled = new Settlements();
  const known = new Set<string>();
  for (const { id, leadId } of intents) {
    if (leadId === null) continue;
    settled.set(id, { kind: 'found', leadId });
    known.add(leadId);
  }
  const leads = newLeads(unknown.filter(({ id }) => !known.has(id)));
  const names = new Names(leads);
  yield;
  const open = together(intents.filter(({ id }) => !settled.has(id)));
  yield* assign(open, exactMatches([...new Set(open.values())], leads), settled);
  const left = together(intents.filter(({ id }) => !settled.has(id)));
  yield* assign(left, roughMatches([...new Set(left.values())], leads, names), settled);
  const free = leads.filter((lead) => !lead.given);
  for (const [intent, alike] of left) {
    if (settled.has(intent.id)) continue;
    yield;
    const namesakes = names.alike(alike).filter((lead) => !lead.given);
    const named = new Set(namesakes);
    const candidates = (intent.answered ? free : namesakes).filter(
      (lead) => isYoung(lead, intent) && (isOfThatTime(lead, intent) || named.has(lead)),
    );
    if (candidates.length > 0) {
      settled.offer(intent, candidates);
      continue;
    }
    const weight = speaksAgainst(intent, scan);
    const proven = weight > 0 && intent.scansWithoutIt + weight >= weightThatProves;
    settled.set(intent.id, { kind: proven ? (intent.answered ? 'unrecognised' : 'again') : 'wait' });
  }
  return settled;
}

/** Each intent with those that sent the same, itself included; the fullest first, those that were answered before others. */
function together(intents: readonly Intent[]): ReadonlyMap<Intent, Alike> {
  const alike = new Map<string, Alike>();
  const known = intents.map((intent): [Intent, Alike] => {
    const { content } = intent;
    const fields = Object.keys(content).toSorted();
    const key = JSON.stringify([fields, cellsKey(fields, content)]);
    const one = alike.get(key) ?? { content, filled: filled(content), open: new Set() };
    alike.set(key, one);
    one.open.add(intent);
    return [intent, one];
  });
  return new Map(
    known.toSorted(
      ([a, { filled: inA }], [b, { filled: inB }]) =>
        inB.length - inA.length || Number(b.answered) - Number(a.answered),
    ),
  );
}

/** Gives each intent the lead that matches it alone; where several do, they are offered to a person. */
function* assign(
  intents: ReadonlyMap<Intent, Alike>,
  { leadsOf, sentOf }: Matches<Alike>,
  settled: Settlements,
): Steps<void> {
  for (const [intent, sent] of intents) {
    const candidates = (leadsOf.get(sent) ?? []).filter((lead) => !lead.given && isYoung(lead, intent));
    const [first] = candidates;
    if (first === undefined) continue;
    yield;
    const { alike, different } = rivalsFor(candidates, intent, sentOf);
    if (candidates.length > alike || different || candidates.some((lead) => lead.offered)) {
      settled.offer(intent, candidates);
      for (const lead of candidates) lead.offered = true;
    } else {
      settled.set(intent.id, { kind: 'found', leadId: first.id });
      first.given = true;
    }
    sent.open.delete(intent);
  }
}

/**
 * Who else may have made these candidates: how many sent the same or more (`alike`, the intent itself among them), and
 * whether any sent something else.
 */
function rivalsFor(
  candidates: readonly NewLead[],
  { content }: Intent,
  sentOf: Matches<Alike>['sentOf'],
): { readonly alike: number; readonly different: boolean } {
  const latest = new Map<Alike, number>();
  for (const [list, leads] of Map.groupBy(candidates, (lead) => sentOf.get(lead) ?? [])) {
    let madeAt = Number.NEGATIVE_INFINITY;
    for (const lead of leads) madeAt = Math.max(madeAt, lead.madeAt ?? Number.POSITIVE_INFINITY);
    for (const sent of list) latest.set(sent, Math.max(madeAt, latest.get(sent) ?? madeAt));
  }
  let [alike, different] = [0, false];
  for (const [sent, madeAt] of latest) {
    let rivals = 0;
    for (const { attemptedAt } of sent.open) if (madeAt >= attemptedAt - clockMargin) rivals += 1;
    if (rivals === 0) continue;
    if (includes(sent.content, content)) alike += rivals;
    different ||= !includes(content, sent.content);
  }
  return { alike, different };
}

/** Whether a lead was made by the time that the service had answered the attempt; one without a time in its id may be. */
function isOfThatTime({ madeAt }: NewLead, intent: Intent): boolean {
  return madeAt === null || madeAt <= intent.attemptedAt + attemptOverAfter + clockMargin;
}

function isYoung({ madeAt }: NewLead, intent: Intent): boolean {
  return madeAt === null || madeAt >= intent.attemptedAt - clockMargin;
}

/** What of the sent content the lead that was made of it shows, though perhaps in the service's own spelling. */
export function agreedContent(intent: Intent, lead: Cells): Values {
  const entries = Object.entries(intent.content).filter(([field, value]) =>
    sameButSpelling(value, lead[field] ?? null),
  );
  return Object.fromEntries(entries);
}

/** What was sent, but for what the lead that was made of it shows nothing of. */
export function shownContent(intent: Intent, lead: Cells): Values {
  const entries = Object.entries(intent.content).filter(
    ([field, value]) => sameCell(value, null) || !sameCell(lead[field] ?? null, null),
  );
  return Object.fromEntries(entries);
}

/** Whether a record shows all that is filled in `part`. */
function includes(whole: Cells, part: Cells): boolean {
  return filled(part).every(([field, cell]) => sameCell(whole[field] ?? null, cell));
}
