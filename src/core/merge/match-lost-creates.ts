import {
  canonicalJson,
  type Cell,
  type Cells,
  folded,
  isUnreadable,
  sameButSpelling,
  sameCell,
  type Value,
  type Values,
} from '../lead/value.ts';
import { leadIdTime } from '../lead/lead-id.ts';

/** Long work that may pause wherever it yields. */
export type Steps<T> = Generator<void, T, void>;

/** An unfinished create. `leadId` null: in doubt; no reply said whether or which lead was created. */
export interface Intent {
  readonly id: number;
  readonly contentHash: string;
  /** All mapped cells of its row. */
  readonly row: Cells;
  readonly content: Values;
  readonly leadId: string | null;
  /** Finished, but its row lost the id: the row gets it again. */
  readonly lostItsRow: boolean;
  /** The service confirmed the create without naming the lead: look for it, never create again. */
  readonly answered: boolean;
  /** Epoch ms of the last attempt. */
  readonly attemptedAt: number;
  /** The summed weights of the scans that lacked the lead. */
  readonly scansWithoutIt: number;
}

/**
 * The result for an intent. `found`: this lead is its own. `again`: certainly not created, the row counts as new.
 * `wait`: not known yet. `ambiguous`: several leads fit. `unrecognised`: the service confirmed a create, but no new
 * lead resembles it.
 */
export type CreateMatch =
  | { readonly kind: 'found'; readonly leadId: string }
  | { readonly kind: 'again' }
  | { readonly kind: 'wait' }
  | { readonly kind: 'unrecognised' }
  | { readonly kind: 'ambiguous'; readonly candidates: readonly string[] };

/** How far the service's clock may lag behind ours when ids' times are compared, in ms. */
const clockMargin = 5 * 60_000;

/**
 * How long the service may still act on a request whose reply was lost, in ms. A scan that began earlier proves nothing
 * by lacking the lead.
 */
export const attemptOverAfter = 10_000;

/** The scan weight that proves a create did not happen: one scan may miss a lead that moved. */
const weightThatProves = 2;

/**
 * When a scan began (epoch ms), and what it proves by lacking a lead: 1 when complete, less when leads moved meanwhile
 * (`tornWeight`), 0 when filtered or empty.
 */
export interface ScanProof {
  readonly weight: number;
  readonly startedAt: number;
}

/**
 * The weight of a scan in which leads moved: it may have missed this lead as it missed others (`missed` of `known`). At
 * most a half; sufficient weight bounds the chance that all scans missed it to one in a million.
 */
export function tornWeight({ known, missed }: { readonly known: number; readonly missed: number }): number {
  const chance = (missed + 1) / (known + 2);
  return Math.min(0.5, -Math.log10(chance) / 3);
}

/** How much a scan without this intent's lead speaks against its existence. */
export function speaksAgainst(intent: Intent, scan: ScanProof): number {
  return isOver(intent, scan.startedAt) ? scan.weight : 0;
}

/** Whether, by then (epoch ms), the service acted on the last attempt or never will. */
export function isOver(intent: Intent, at: number): boolean {
  return at >= intent.attemptedAt + attemptOverAfter;
}

/** Creates that sent the same, and those of them that have no lead yet. */
interface Alike {
  readonly content: Values;
  readonly filled: readonly (readonly [string, Cell])[];
  readonly open: Set<Intent>;
}

/** Results by intent id. Intents processed in a row share one candidate list: thousands may have the same thousands. */
class CreateMatches extends Map<number, CreateMatch> {
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

/**
 * Settles creates whose reply was lost (docs/architecture.md 6), by leads that a scan shows and that were unknown
 * before. Pure.
 *
 * A lead fits when it shows what was sent and is not older than the attempt (with a margin; only time-ordered UUIDs
 * tell); if none does, one that resembles it fits, since a service may store values in its own spelling. A person
 * decides about new leads that only share the name, or when the service confirmed a create that no lead resembles.
 *
 * The fullest content goes first: a lead that shows all of it was not created from a part of it. Of equal creates,
 * confirmed ones go first: the others may not have happened. No lead goes to one intent while it may be another's.
 * Yields between two intents.
 */
export function* matchLostCreates(
  intents: readonly Intent[],
  unknown: readonly UnknownLead[],
  scan: ScanProof,
): Steps<ReadonlyMap<number, CreateMatch>> {
  const matches = new CreateMatches();
  const known = new Set<string>();
  for (const { id, leadId } of intents) {
    if (leadId === null) continue;
    matches.set(id, { kind: 'found', leadId });
    known.add(leadId);
  }
  const leads = newLeads(unknown.filter(({ id }) => !known.has(id)));
  const index = new AlikeLeads(leads);
  yield;
  const open = together(intents.filter(({ id }) => !matches.has(id)));
  yield* assign(open, exactMatches([...new Set(open.values())], leads), matches);
  const left = together(intents.filter(({ id }) => !matches.has(id)));
  yield* assign(left, roughMatches([...new Set(left.values())], index), matches);
  const free = leads.filter((lead) => !lead.given);
  for (const [intent, alike] of left) {
    if (matches.has(intent.id)) continue;
    yield;
    const namesakes = index.alike(alike, nameField).filter((lead) => !lead.given);
    const named = new Set(namesakes);
    const candidates = (intent.answered ? free : namesakes).filter(
      (lead) => isYoung(lead, intent) && (isOfThatTime(lead, intent) || named.has(lead)),
    );
    if (candidates.length > 0) {
      matches.offer(intent, candidates);
      continue;
    }
    const weight = speaksAgainst(intent, scan);
    const proven = weight > 0 && intent.scansWithoutIt + weight >= weightThatProves;
    matches.set(intent.id, { kind: proven ? (intent.answered ? 'unrecognised' : 'again') : 'wait' });
  }
  return matches;
}

/** Each intent with those that sent the same, itself included; the fullest first, confirmed ones before others. */
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

/** Gives each intent the lead that only it matches; the rest goes to a person. */
function* assign(
  intents: ReadonlyMap<Intent, Alike>,
  { leadsOf, sentOf }: Matches,
  matches: CreateMatches,
): Steps<void> {
  for (const [intent, sent] of intents) {
    const candidates = (leadsOf.get(sent) ?? []).filter((lead) => !lead.given && isYoung(lead, intent));
    const [first] = candidates;
    if (first === undefined) continue;
    yield;
    const { alike, different } = rivalsFor(candidates, intent, sentOf);
    if (candidates.length > alike || different || candidates.some((lead) => lead.offered)) {
      matches.offer(intent, candidates);
      for (const lead of candidates) lead.offered = true;
    } else {
      matches.set(intent.id, { kind: 'found', leadId: first.id });
      first.given = true;
    }
    sent.open.delete(intent);
  }
}

/**
 * Rivals for these candidates: how many intents sent the same or more (`alike`, including itself), and whether any sent
 * something else.
 */
function rivalsFor(
  candidates: readonly NewLead[],
  { content }: Intent,
  sentOf: Matches['sentOf'],
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

/** Whether a lead existed when the service answered the attempt; true for ids without a time. */
function isOfThatTime({ madeAt }: NewLead, intent: Intent): boolean {
  return madeAt === null || madeAt <= intent.attemptedAt + attemptOverAfter + clockMargin;
}

function isYoung({ madeAt, knownSince = null }: NewLead, { attemptedAt }: Intent): boolean {
  const wasKnown = knownSince !== null && knownSince < attemptedAt;
  return !wasKnown && (madeAt === null || madeAt >= attemptedAt - clockMargin);
}

/** The sent content that the created lead shows, in any spelling. */
export function agreedContent(intent: Intent, lead: Cells): Values {
  return contentThat(intent, (value, field) => sameButSpelling(value, lead[field] ?? null));
}

/** The sent content without fields that the created lead left empty. */
export function shownContent(intent: Intent, lead: Cells): Values {
  return contentThat(intent, (value, field) => sameCell(value, null) || !sameCell(lead[field] ?? null, null));
}

function contentThat({ content }: Intent, keep: (value: Value, field: string) => boolean): Values {
  return Object.fromEntries(Object.entries(content).filter(([field, value]) => keep(value, field)));
}

/** Whether a record shows all filled cells of `part`. */
function includes(whole: Cells, part: Cells): boolean {
  return filled(part).every(([field, cell]) => sameCell(whole[field] ?? null, cell));
}

/** A lead first seen in this run. */
export interface UnknownLead {
  readonly id: string;
  readonly cells: Cells;
  /** Epoch ms: when another connection of the service met it first. Absent or null: none did. */
  readonly knownSince?: number | null;
}

/** An `UnknownLead` with what repeated comparisons need. */
interface NewLead extends UnknownLead {
  /** Epoch ms; null: the id has no time. */
  readonly madeAt: number | null;
  /** Index in id order. */
  readonly place: number;
  /** What its fields are compared by when spelling does not count; empty: nothing that can be read. */
  readonly folded: (field: string) => string;
  /** Already assigned to a create. */
  given: boolean;
  /** Offered to a person. */
  offered: boolean;
}

/** Which leads may come from which content; each list in id order. */
interface Matches {
  readonly leadsOf: ReadonlyMap<Alike, readonly NewLead[]>;
  /** Leads with the same possible content share a list. */
  readonly sentOf: ReadonlyMap<NewLead, readonly Alike[]>;
}

/** In id order. */
function newLeads(unknown: readonly UnknownLead[]): readonly NewLead[] {
  const sorted = unknown.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  return sorted.map(({ id, cells, knownSince = null }, place) => {
    const known = new Map<string, string>();
    return {
      id,
      cells,
      knownSince,
      place,
      madeAt: leadIdTime(id),
      given: false,
      offered: false,
      folded(field) {
        let text = known.get(field);
        if (text === undefined) known.set(field, (text = foldedCell(cells[field] ?? null)));
        return text;
      },
    };
  });
}

/** The fields that are not empty. */
export function filled(cells: Cells): readonly (readonly [string, Cell])[] {
  return Object.entries(cells).filter(([, cell]) => !sameCell(cell, null));
}

/** A text that two records share exactly when these fields mean the same. */
function cellsKey(fields: readonly string[], cells: Cells): string {
  return fields.map((field) => canonicalJson(cells[field] ?? null)).join();
}

/** Leads that show all that was sent, exactly. Linear: compares only records that share a key of the sent fields. */
function exactMatches(sent: readonly Alike[], leads: readonly NewLead[]): Matches {
  const leadsOf = new Map<Alike, readonly NewLead[]>();
  const byFields = new Map<string, ReadonlyMap<string, readonly NewLead[]>>();
  for (const one of sent) {
    const fields = Object.keys(one.content).toSorted();
    const name = JSON.stringify(fields);
    const byKey = byFields.get(name) ?? Map.groupBy(leads, ({ cells }) => cellsKey(fields, cells));
    byFields.set(name, byKey);
    const found = byKey.get(cellsKey(fields, one.content));
    if (found !== undefined) leadsOf.set(one, found);
  }
  return { leadsOf, sentOf: inverse(leadsOf) };
}

/**
 * Leads that a service may have made of what was sent: the name is alike (without a name: every field), and at least
 * two thirds of the fields are. Text is alike when it differs in case or spaces or was truncated, an instant when it
 * lost its fraction of a second.
 */
function roughMatches(sent: readonly Alike[], index: AlikeLeads): Matches {
  const leadsOf = new Map<Alike, readonly NewLead[]>();
  for (const one of sent) {
    const fields = one.filled.map(([field]) => field);
    const isNamed = fields.includes(nameField);
    const [by = nameField] = isNamed ? [nameField] : fields;
    leadsOf.set(
      one,
      thatShow(one, index.alike(one, by), isNamed ? (one.filled.length * 2) / 3 : one.filled.length),
    );
  }
  return { leadsOf, sentOf: inverse(leadsOf) };
}

/** Leads that show at least this many of the sent fields, in any spelling. */
function thatShow(sent: Alike, leads: readonly NewLead[], least: number): readonly NewLead[] {
  const fields = sent.filled.map(([field, cell]) => ({ field, whole: foldedCell(cell) }));
  return leads.filter(
    (lead) => fields.filter(({ field, whole }) => isAlike(whole, lead.folded(field))).length >= least,
  );
}

/** Finds leads in which a field is alike, by an index of each field. */
class AlikeLeads {
  readonly #leads: readonly NewLead[];
  readonly #byField = new Map<
    string,
    { readonly byText: Map<string, NewLead[]>; readonly lengths: readonly number[] }
  >();

  constructor(leads: readonly NewLead[]) {
    this.#leads = leads;
  }

  /** In id order; none when the field was not sent. */
  alike({ content }: Alike, field: string): readonly NewLead[] {
    const whole = foldedCell(content[field] ?? null);
    const { byText, lengths } = this.#indexOf(field);
    const found = lengths
      .filter((length) => length <= whole.length && isAlike(whole, whole.slice(0, length)))
      .flatMap((length) => byText.get(whole.slice(0, length)) ?? []);
    return found.toSorted((a, b) => a.place - b.place);
  }

  #indexOf(field: string) {
    const known = this.#byField.get(field);
    if (known !== undefined) return known;
    const byText = Map.groupBy(this.#leads, (lead) => lead.folded(field));
    byText.delete('');
    const index = { byText, lengths: [...new Set([...byText.keys()].map((text) => text.length))] };
    this.#byField.set(field, index);
    return index;
  }
}

const nameField = 'companyName';

/** A truncated text is recognised from this length on; an instant to the second has 19. */
const shortestCut = 8;

function isAlike(whole: string, part: string): boolean {
  return whole === part || (part.length >= shortestCut && whole.startsWith(part));
}

function foldedCell(cell: Cell): string {
  return folded(isUnreadable(cell) ? null : cell);
}

function inverse(leadsOf: ReadonlyMap<Alike, readonly NewLead[]>): ReadonlyMap<NewLead, readonly Alike[]> {
  const places = new Map<NewLead, number[]>();
  const all = [...leadsOf.keys()];
  for (const [place, leads] of [...leadsOf.values()].entries())
    for (const lead of leads) {
      const of = places.get(lead);
      if (of === undefined) places.set(lead, [place]);
      else of.push(place);
    }
  const lists = new Map<string, readonly Alike[]>();
  const sentOf = new Map<NewLead, readonly Alike[]>();
  for (const [lead, of] of places) {
    const key = of.join();
    let list = lists.get(key);
    if (list === undefined) lists.set(key, (list = of.flatMap((place) => all[place] ?? [])));
    sentOf.set(lead, list);
  }
  return sentOf;
}
