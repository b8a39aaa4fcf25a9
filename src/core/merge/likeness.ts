import { leadIdTime } from '../lead/lead-id.ts';
import {
  type Cell,
  type Cells,
  canonical,
  folded,
  isUnreadable,
  sameCell,
  type Values,
} from '../lead/value.ts';

/** A lead first seen in this run. */
export interface UnknownLead {
  readonly id: string;
  readonly cells: Cells;
  /** Epoch ms: when another connection of the service met it first. Absent or null: none did. */
  readonly knownSince?: number | null;
}

/** An `UnknownLead` with what repeated comparisons need. */
export interface NewLead extends UnknownLead {
  /** Epoch ms; null: the id has no time. */
  readonly madeAt: number | null;
  /** Index in id order. */
  readonly place: number;
  /** What its fields are compared by when spelling does not count; null: unreadable. */
  readonly folded: (field: string) => string | null;
  /** Already assigned to a create. */
  given: boolean;
  /** Offered to a person. */
  offered: boolean;
}

/** The content of one or more creates. */
export interface Sent {
  readonly content: Values;
  readonly filled: readonly (readonly [string, Cell])[];
}

/** Which leads may come from which content; each list in id order. */
export interface Matches<S extends Sent> {
  readonly leadsOf: ReadonlyMap<S, readonly NewLead[]>;
  /** Leads with the same possible content share a list. */
  readonly sentOf: ReadonlyMap<NewLead, readonly S[]>;
}

/** In id order. */
export function newLeads(unknown: readonly UnknownLead[]): readonly NewLead[] {
  const sorted = unknown.toSorted((a, b) => (a.id < b.id ? -1 : a.id > b.id ? 1 : 0));
  return sorted.map(({ id, cells, knownSince = null }, place) => {
    const known = new Map<string, string | null>();
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

/** A text that two cells share exactly when they mean the same. */
export function cellKey(cell: Cell): string {
  if (isUnreadable(cell)) return `?${cell.unreadable}`;
  const value = canonical(cell);
  return value === null ? '' : `=${value}`;
}

/** As `cellKey`, for several fields. */
export function cellsKey(fields: readonly string[], cells: Cells): string {
  return JSON.stringify(fields.map((field) => cellKey(cells[field] ?? null)));
}

/** Leads that show all that was sent, exactly. Linear: compares only records that share a key of the sent fields. */
export function exactMatches<S extends Sent>(sent: readonly S[], leads: readonly NewLead[]): Matches<S> {
  const fieldsOf = ({ content }: Sent): readonly string[] => Object.keys(content).toSorted();
  const leadsOf = new Map<S, readonly NewLead[]>();
  for (const alike of Map.groupBy(sent, (one) => JSON.stringify(fieldsOf(one))).values()) {
    const [first] = alike;
    const fields = first === undefined ? [] : fieldsOf(first);
    const byKey = Map.groupBy(leads, ({ cells }) => cellsKey(fields, cells));
    for (const one of alike) leadsOf.set(one, byKey.get(cellsKey(fields, one.content)) ?? []);
  }
  return { leadsOf, sentOf: inverse(leadsOf) };
}

/**
 * Leads that a service may have made of what was sent: the name is alike (without a name: every field), and at least
 * two thirds of the fields are. Text is alike when it differs in case or spaces or was truncated, an instant when it
 * lost its fraction of a second.
 */
export function roughMatches<S extends Sent>(sent: readonly S[], index: AlikeLeads): Matches<S> {
  const leadsOf = new Map<S, readonly NewLead[]>();
  for (const one of sent) {
    const isNamed = one.filled.some(([field]) => field === nameField);
    const near = isNamed ? index.namesakes(one) : index.alike(one, one.filled[0]?.[0] ?? nameField);
    leadsOf.set(one, thatShow(one, near, isNamed ? (one.filled.length * 2) / 3 : one.filled.length));
  }
  return { leadsOf, sentOf: inverse(leadsOf) };
}

/** Leads that show at least this many of the sent fields, in any spelling. */
function thatShow(sent: Sent, leads: readonly NewLead[], least: number): readonly NewLead[] {
  const fields = sent.filled.map(([field, cell]) => ({ field, whole: foldedCell(cell) }));
  return leads.filter(
    (lead) => fields.filter(({ field, whole }) => isAlike(whole, lead.folded(field))).length >= least,
  );
}

/** Finds leads in which a field is alike, by an index of each field. */
export class AlikeLeads {
  readonly #leads: readonly NewLead[];
  readonly #byField = new Map<
    string,
    { readonly byText: Map<string, NewLead[]>; readonly lengths: readonly number[] }
  >();

  constructor(leads: readonly NewLead[]) {
    this.#leads = leads;
  }

  /** Leads with a similar name, in id order. */
  namesakes(sent: Sent): readonly NewLead[] {
    return this.alike(sent, nameField);
  }

  /** In id order; none when the field was not sent. */
  alike({ content }: Sent, field: string): readonly NewLead[] {
    const whole = foldedCell(content[field] ?? null);
    if (whole === null) return [];
    const { byText, lengths } = this.#indexOf(field);
    const found = lengths
      .filter((length) => length === whole.length || (length >= shortestCut && length < whole.length))
      .flatMap((length) => byText.get(whole.slice(0, length)) ?? []);
    return found.toSorted((a, b) => a.place - b.place);
  }

  #indexOf(field: string) {
    const known = this.#byField.get(field);
    if (known !== undefined) return known;
    const byText = Map.groupBy(this.#leads, (lead) => lead.folded(field) ?? '');
    byText.delete('');
    const index = { byText, lengths: [...new Set([...byText.keys()].map((text) => text.length))] };
    this.#byField.set(field, index);
    return index;
  }
}

const nameField = 'companyName';

/** A truncated text is recognised from this length on; an instant to the second has 19. */
const shortestCut = 8;

function isAlike(whole: string | null, part: string | null): boolean {
  if (whole === null || part === null || part === '') return false;
  return whole === part || (part.length >= shortestCut && whole.startsWith(part));
}

function foldedCell(cell: Cell): string | null {
  return isUnreadable(cell) ? null : folded(cell);
}

function inverse<S extends Sent>(
  leadsOf: ReadonlyMap<S, readonly NewLead[]>,
): ReadonlyMap<NewLead, readonly S[]> {
  const places = new Map<NewLead, number[]>();
  const all = [...leadsOf.keys()];
  for (const [place, one] of all.entries())
    for (const lead of leadsOf.get(one) ?? []) push(places, lead, place);
  const lists = new Map<string, readonly S[]>();
  const sentOf = new Map<NewLead, readonly S[]>();
  for (const [lead, of] of places) {
    const key = of.join();
    let list = lists.get(key);
    if (list === undefined) lists.set(key, (list = of.flatMap((place) => all[place] ?? [])));
    sentOf.set(lead, list);
  }
  return sentOf;
}

function push<K, V>(lists: Map<K, V[]>, key: K, value: V): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [value]);
  else list.push(value);
}
