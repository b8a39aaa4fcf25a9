import { leadIdTime } from '../lead/lead-id.ts';
import {
  type Cell,
  type Cells,
  canonicalJson,
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
  /** What its fields are compared by when spelling does not count; empty: nothing that can be read. */
  readonly folded: (field: string) => string;
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
export function cellsKey(fields: readonly string[], cells: Cells): string {
  return fields.map((field) => canonicalJson(cells[field] ?? null)).join();
}

/** Leads that show all that was sent, exactly. Linear: compares only records that share a key of the sent fields. */
export function exactMatches<S extends Sent>(sent: readonly S[], leads: readonly NewLead[]): Matches<S> {
  const leadsOf = new Map<S, readonly NewLead[]>();
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
export function roughMatches<S extends Sent>(sent: readonly S[], index: AlikeLeads): Matches<S> {
  const leadsOf = new Map<S, readonly NewLead[]>();
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

function inverse<S extends Sent>(
  leadsOf: ReadonlyMap<S, readonly NewLead[]>,
): ReadonlyMap<NewLead, readonly S[]> {
  const places = new Map<NewLead, number[]>();
  const all = [...leadsOf.keys()];
  for (const [place, leads] of [...leadsOf.values()].entries())
    for (const lead of leads) push(places, lead, place);
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
