import { counted } from '../lead/wording.ts';
import type { FieldMapping } from '../lead/mapping.ts';
import { type Cells, plainCell } from '../lead/value.ts';
import { normalForm } from './normal-form.ts';

/** A row of which a lead would be made. */
interface NewRow {
  readonly row: number;
  readonly name: string;
}

/** What is unusual about new rows. */
type Oddity = keyof typeof oddities;

/** An unusual row; `first`: of a twin, the row above with the same company. */
interface OddRow extends NewRow {
  readonly first?: number;
}

/** The rows of which a first sync would make leads. */
export interface FirstLeads {
  readonly count: number;
  /** At most three of each; no row is in both. */
  readonly first: readonly NewRow[];
  readonly last: readonly NewRow[];
  readonly odd: Readonly<
    Partial<Record<Oddity, { readonly count: number; readonly rows: readonly OddRow[] }>>
  >;
}

const shown = 3;

/** Twins are looked for among this many companies: a list of more is not typed by a person. */
const mostNames = 100_000;

/** Looks at the rows of which a first sync would make leads, in the order of the table. Bounded memory. */
export class FirstLeadsTally {
  readonly #hasCity: boolean;
  readonly #names = new Names();
  #count = 0;
  #first: readonly NewRow[] = [];
  #last: readonly NewRow[] = [];
  #odd: FirstLeads['odd'] = {};

  constructor(fields: readonly Pick<FieldMapping, 'field'>[]) {
    this.#hasCity = fields.some(({ field }) => field === 'city');
  }

  see(row: number, cells: Cells): void {
    const one = { row, name: plainCell(cells['companyName'] ?? null) ?? '' };
    this.#count += 1;
    if (this.#first.length < shown) this.#first = [...this.#first, one];
    else this.#last = [...this.#last, one].slice(-shown);
    if (this.#hasCity && (cells['city'] ?? null) === null) this.#note('noCity', one);
    if (isNumber(one.name)) this.#note('number', one);
    else if (isTotal(one.name)) this.#note('total', one);
    const first = this.#names.see(row, cells);
    if (first !== null) this.#note('twin', { ...one, first });
  }

  /** Null: no lead would be made. */
  found(): FirstLeads | null {
    if (this.#count === 0) return null;
    return { count: this.#count, first: this.#first, last: this.#last, odd: this.#odd };
  }

  #note(what: Oddity, row: OddRow): void {
    const { count, rows } = this.#odd[what] ?? { count: 0, rows: [] };
    this.#odd = {
      ...this.#odd,
      [what]: { count: count + 1, rows: rows.length < shown ? [...rows, row] : rows },
    };
  }
}

/** The companies of a list by name and city. An empty city is that of any company of the name. */
export class Names {
  readonly #rows = new Map<string, Map<string, number>>();
  #size = 0;

  /** The row above that shows the same company; null: none. */
  see(row: number, { companyName = null, city = null }: Cells): number | null {
    const { key, legal } = normalForm(plainCell(companyName) ?? '', true);
    if (key === '') return null;
    const name = `${key} ${legal}`;
    const there = normalForm(plainCell(city) ?? '', false).key;
    const cities = this.#rows.get(name);
    const [any] = cities?.values() ?? [];
    const first = (there === '' ? any : (cities?.get(there) ?? cities?.get(''))) ?? null;
    if (cities?.has(there) !== true && this.#size < mostNames) {
      this.#rows.set(name, (cities ?? new Map<string, number>()).set(there, row));
      this.#size += 1;
    }
    return first;
  }
}

/** Digits, dates, amounts: no letter. */
const isNumber = (name: string): boolean => name !== '' && !/\p{L}/u.test(name);

/** A sigma before a letter begins a Greek name. */
const totals =
  /^(?:[#*]|[∑Σ](?!\p{L})|(?:(?:grand |sub-?)?totals?|(?:zwischen|gesamt)?summe|gesamt|insgesamt|sum|totale|suma|totaal|source|quelle|note|notiz|hinweis|stand)\s*(?:$|[:=(]|\p{N}))/iu;

/** What stands below lists rather than in them: totals, sources, notes. */
const isTotal = (name: string): boolean => totals.test(name.trim());

/** In the order in which they are told: what is no company first. */
const oddities = {
  total: (rows: string, count: number) =>
    `${counted(count, 'row looks', 'rows look')} like a total or a note, not a company: ${rows}`,
  number: (rows: string, count: number) =>
    `${counted(count, 'name is', 'names are')} a number or date: ${rows}`,
  twin: (rows: string, count: number) =>
    `${counted(count, 'company stands', 'companies stand')} in the list twice: ${rows}`,
  noCity: (rows: string, count: number) => `${counted(count, 'row has', 'rows have')} no city: ${rows}`,
};

/**
 * Why a first sync asks, a line each. `held`: rows beside these of which no lead is made before somebody has decided, since
 * each looks like a lead that is there, or like another row.
 */
export function explainFirstLeads({ count, first, last, odd }: FirstLeads, held: number): string {
  const gap = count > first.length + last.length ? ['…'] : [];
  const names = [...first.map(nameRow), ...gap, ...last.map(nameRow)];
  const lines = Object.entries(oddities).flatMap(([what, tell]) => {
    const found = odd[what as Oddity];
    if (found === undefined) return [];
    const others = found.count - found.rows.length;
    const more = others > 0 ? `, and ${others} more` : '';
    return [tell(found.rows.map(nameRow).join(', ') + more, found.count)];
  });
  return [
    `this first sync would make ${counted(count, 'lead')} in the service of ${counted(count, 'row')} of the table: ${names.join(', ')}`,
    ...lines,
    ...(held > 0
      ? [
          `${counted(held, 'more row is', 'more rows are')} held, because a lead or another row looks the same (leadsync plan lists them)`,
        ]
      : []),
    'Take out of the table what is no lead; nothing was made so far',
  ].join('.\n    ');
}

const longest = 40;

function nameRow({ row, name, first }: OddRow): string {
  const cut = name.length > longest ? `${name.slice(0, longest).toWellFormed()}…` : name;
  return `${JSON.stringify(cut)} (row ${row}${first === undefined ? '' : `, as row ${first}`})`;
}
