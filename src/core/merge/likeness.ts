import { leadIdTime } from '../lead/lead.ts';
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
  return sorted.map(({ id, cells }, place) => {
    const known = new Map<string, string | null>();
    return {
      id,
      cells,
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

/** Leads that show all that was sent, exactly. */
export function exactMatches<S extends Sent>(sent: readonly S[], leads: readonly NewLead[]): Matches<S> {
  const fieldsOf = ({ content }: Sent): readonly string[] => Object.keys(content).toSorted();
  return byFields(
    sent,
    leads,
    fieldsOf,
    ({ content }, fields) => cellsKey(fields, content),
    ({ cells }, fields) => cellsKey(fields, cells),
    (_, near) => near,
  );
}

/**
 * Leads that a service may have made of what was sent: the name is alike (without a name: every field), and at least
 * two thirds of the fields are. Text is alike when it differs in case or spaces or was truncated, an instant when it
 * lost its fraction of a second.
 */
export function roughMatches<S extends Sent>(
  sent: readonly S[],
  leads: readonly NewLead[],
  names: Names,
): Matches<S> {
  const isNamed = ({ filled: fields }: Sent): boolean => fields.some(([field]) => field === nameField);
  const nameless = byFields(
    sent.filter((one) => !isNamed(one)),
    leads,
    (one) => one.filled.map(([field]) => field).toSorted(),
    ({ content }, fields) => beginnings(fields, (field) => foldedCell(content[field] ?? null)),
    (lead, fields) => beginnings(fields, lead.folded),
    (one, near) => thatShow(one, near, one.filled.length),
  );
  const leadsOf = new Map(nameless.leadsOf);
  for (const one of sent) {
    if (!isNamed(one)) continue;
    leadsOf.set(one, thatShow(one, names.alike(one), (one.filled.length * 2) / 3));
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

/** An index of leads by similar names. */
export class Names {
  readonly #leads = new Map<string, NewLead[]>();
  readonly #lengths: readonly number[];

  constructor(leads: readonly NewLead[]) {
    for (const lead of leads) {
      const name = lead.folded(nameField);
      if (name !== null && name !== '') push(this.#leads, name, lead);
    }
    this.#lengths = [...new Set([...this.#leads.keys()].map((name) => name.length))];
  }

  /** In id order. */
  alike({ content }: Sent): readonly NewLead[] {
    const whole = foldedCell(content[nameField] ?? null);
    if (whole === null) return [];
    const found = this.#lengths
      .filter((length) => length === whole.length || (length >= shortestCut && length < whole.length))
      .flatMap((length) => this.#leads.get(whole.slice(0, length)) ?? []);
    return found.toSorted((a, b) => a.place - b.place);
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

/** A prefix shared by all texts that are alike. */
function beginnings(fields: readonly string[], text: (field: string) => string | null): string {
  return JSON.stringify(fields.map((field) => text(field)?.slice(0, shortestCut) ?? null));
}

/** Compares only candidates that share a key of the sent fields. */
function byFields<S extends Sent>(
  sent: readonly S[],
  leads: readonly NewLead[],
  fieldsOf: (one: S) => readonly string[],
  sentKey: (one: S, fields: readonly string[]) => string,
  leadKey: (lead: NewLead, fields: readonly string[]) => string,
  choose: (one: S, near: readonly NewLead[]) => readonly NewLead[],
): Matches<S> {
  const sets = Map.groupBy(sent, (one) => JSON.stringify(fieldsOf(one)));
  const leadsOf = new Map<S, readonly NewLead[]>();
  for (const alike of sets.values()) {
    const [first] = alike;
    if (first === undefined) continue;
    const fields = fieldsOf(first);
    const byKey = Map.groupBy(leads, (lead) => leadKey(lead, fields));
    for (const one of alike) leadsOf.set(one, choose(one, byKey.get(sentKey(one, fields)) ?? []));
  }
  return { leadsOf, sentOf: inverse(leadsOf) };
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
