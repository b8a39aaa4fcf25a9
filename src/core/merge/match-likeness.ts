import { distance } from 'fastest-levenshtein';
import { type Cell, type Cells, isUnreadable } from '../lead/value.ts';
import { type NormalForm, normalForm, soundOf } from './normal-form.ts';
import { hashId } from '../lead/id-set.ts';
import type { Steps } from './match-lost-creates.ts';
import type { PlannedAction } from './action.ts';

/** What a record is recognised by: the fields of `matchBy` in order; the first is its name. Null: empty. */
export type MatchForms = readonly [name: NormalForm, ...others: (NormalForm | null)[]];

/** How one field of two records compares: the same normal form, another spelling of it, one typo, or empty on one side or both. */
type FieldLikeness = 'same' | 'alike' | 'typo' | 'differs' | 'one-empty' | 'empty';

export interface Likeness {
  /** Above 0 to 1; 0: they are two. */
  readonly score: number;
  readonly fields: readonly FieldLikeness[];
  /** The first field is the same in normal form. */
  readonly isNamesake: boolean;
  /** Every field is the same, or empty in both, and the legal forms do not contradict. */
  readonly isExact: boolean;
}

/** Null: the name is empty, so the record is compared with none. */
export function matchForms(cells: Cells, matchBy: readonly string[]): MatchForms | null {
  const [name = null, ...others] = matchBy.map((field) =>
    formOf(cells[field] ?? null, field === 'companyName'),
  );
  return name === null ? null : [name, ...others];
}

function formOf(cell: Cell, isCompany: boolean): NormalForm | null {
  if (cell === null || isUnreadable(cell)) return null;
  const form = normalForm(cell, isCompany);
  return form.key === '' ? null : form;
}

/** What the least like field and another legal form take of the score. */
const taken: Readonly<Record<FieldLikeness, number>> = {
  same: 0,
  empty: 0,
  alike: 0.02,
  'one-empty': 0.1,
  typo: 0.15,
  differs: 1,
};
const otherForm = 0.06;

/** How alike two records are: in no field another, and in one a typo where the rest says the same. Symmetric. */
export function likeness(a: MatchForms, b: MatchForms): Likeness {
  const [ourName, theirName, others] = [a[0], b[0], [...a.slice(1), ...b.slice(1)]];
  const fields = a.map((one, nth): FieldLikeness => {
    const other = b[nth] ?? null;
    if (one === null || other === null) return one === other ? 'empty' : 'one-empty';
    if (one.key === other.key) return 'same';
    const [ours, theirs] =
      nth === 0
        ? [namings(ourName, others).flatMap(sounds), namings(theirName, others).flatMap(sounds)]
        : [sounds(one.words), sounds(other.words)];
    if (ours.some((text) => theirs.includes(text)) || (nth > 0 && isPart(one, other))) return 'alike';
    return ours.some((text) => theirs.some((typed) => isTypo(text, typed))) ? 'typo' : 'differs';
  });
  const legalDiffers = ourName.legal !== '' && theirName.legal !== '' && ourName.legal !== theirName.legal;
  const rest = fields.filter((field) => field !== 'typo');
  const isTypoAlone =
    fields.length - rest.length === 1 &&
    rest.every((field) => field !== 'one-empty') &&
    rest.some((field) => field !== 'empty');
  const least = Math.max(...fields.map((field) => taken[field]));
  const isOne = !fields.includes('differs') && (rest.length === fields.length || isTypoAlone);
  return {
    score: isOne ? 1 - least - (legalDiffers ? otherForm : 0) : 0,
    fields,
    isNamesake: fields[0] === 'same',
    isExact: !legalDiffers && fields.every((field) => field === 'same' || field === 'empty'),
  };
}

/** Whether a field that both have differs in normal form. */
export function contradicts(a: MatchForms, b: MatchForms): boolean {
  return a.some((one, nth) => {
    const other = b[nth] ?? null;
    return one !== null && other !== null && one.key !== other.key;
  });
}

/** Words without spaces, roughly as they sound: as they are, and in whatever order. */
function sounds(words: readonly string[]): readonly string[] {
  return [words.join(''), [...new Set(words.map(soundOf))].toSorted().join('')].map(soundOf);
}

/** The words of a name, and those without what other fields say, such as the city at its end. */
function namings(
  { words }: NormalForm,
  others: readonly (NormalForm | null)[],
): readonly (readonly string[])[] {
  const said = new Set(others.flatMap((form) => form?.words ?? []));
  const own = words.filter((word) => !said.has(word));
  return own.length === 0 || own.length === words.length ? [words] : [words, own];
}

/** "Frankfurt" and "Frankfurt am Main". */
function isPart(a: NormalForm, b: NormalForm): boolean {
  return `${a.key} `.startsWith(`${b.key} `) || `${b.key} `.startsWith(`${a.key} `);
}

/** Fewer letters make another word of one that has a typo. */
const leastTyped = 5;

/** Whether texts that are not the same differ by one letter, or by two that changed places; never in a number. */
function isTypo(a: string, b: string): boolean {
  if (Math.min(a.length, b.length) < leastTyped || digitsOf(a) !== digitsOf(b)) return false;
  if (distance(a, b) === 1) return true;
  let at = 0;
  while (at < a.length && a[at] === b[at]) at += 1;
  return `${a.slice(0, at)}${a[at + 1]}${a[at]}${a.slice(at + 2)}` === b;
}

const digitsOf = (text: string): string => text.replaceAll(/\P{N}+/gu, ' ').trim();

/** A key shared by records that may be the same. `isWhole`: nearly proof, so no record that shares it is skipped. */
export interface BlockKey {
  readonly key: string;
  readonly isWhole: boolean;
}

/** The keys of a record: its name in each spelling, also with words of its other fields, and halves of it beside another field. */
export function blockKeys([name, ...rest]: MatchForms): readonly BlockKey[] {
  const others = rest.filter((form) => form !== null);
  const names = namings(name, others);
  const beside = others.flatMap(({ words }) => [words, words.slice(0, 1)]);
  const whole = names
    .flatMap((words) => [words, ...beside.map((more) => [...words, ...more])])
    .flatMap(sounds);
  const firsts = others.flatMap(({ words }) => words.slice(0, 1).map(soundOf));
  const halves = names
    .flatMap(sounds)
    .flatMap((text) => halvesOf(text).flatMap((half) => firsts.map((first) => `${half} ${first}`)));
  return [
    ...[...new Set(whole)].map((key) => ({ key, isWhole: true })),
    ...[...new Set(halves)].map((key) => ({ key, isWhole: false })),
  ];
}

/** Of two texts with one letter of difference, also one more or less, a beginning or an end is the same. */
function halvesOf(text: string): readonly string[] {
  const { length } = text;
  if (length < leastTyped) return [];
  const half = length >> 1;
  const [begins, ends] = [
    [half, (length - 1) >> 1],
    [half, (length + 1) >> 1],
  ];
  return [...begins.map((most) => `b${text.slice(0, most)}`), ...ends.map((most) => `e${text.slice(-most)}`)];
}

/** A key with more pairs of leads and rows than this is not compared: it distinguishes nothing. */
const mostPairs = 400;

/** A whole name says more. Of more than this each record is compared with two of the other side: they are no one's for certain. */
const mostWholePairs = 2_500;

/** An entry: 30 bits of a key, whether that is a whole name, and the record. Two keys of one hash are compared in vain. */
const [ofKey, ofRecord] = [2 ** 30, 2 ** 22];

type MatchSide = 'lead' | 'row';

/** Finds the records of two sides that are worth comparing. Keeps few bytes of each, since they may be all that there are. */
export class MatchBlocks {
  readonly #forms: Readonly<Record<MatchSide, string[]>> = { lead: [], row: [] };

  /** Returns the number of the record on its side. */
  add(side: MatchSide, forms: MatchForms): number {
    return this.#forms[side].push(JSON.stringify(forms)) - 1;
  }

  forms(side: MatchSide, nth: number): MatchForms {
    return JSON.parse(this.#forms[side][nth] ?? '[]') as MatchForms;
  }

  /** Each pair once, in their order. */
  *pairs(): Steps<Iterable<{ readonly lead: number; readonly row: number }>> {
    const entries: number[] = [];
    for (const side of ['lead', 'row'] as const)
      for (const nth of this.#forms[side].keys()) {
        yield;
        for (const { key, isWhole } of blockKeys(this.forms(side, nth)))
          entries.push(
            ((hashId(key) % ofKey) * 2 + Number(isWhole)) * ofRecord + nth * 2 + Number(side === 'row'),
          );
      }
    const sorted = Float64Array.from(entries).toSorted();
    const rows = this.#forms.row.length;
    const pairs: number[] = [];
    for (let from = 0, to = 0; from < sorted.length; from = to) {
      yield;
      const key = Math.floor((sorted[from] ?? 0) / ofRecord);
      const block = { lead: new Set<number>(), row: new Set<number>() };
      for (; to < sorted.length && Math.floor((sorted[to] ?? 0) / ofRecord) === key; to++) {
        const record = (sorted[to] ?? 0) % ofRecord;
        block[record % 2 === 0 ? 'lead' : 'row'].add(Math.floor(record / 2));
      }
      for (const [lead, row] of inBlock([...block.lead], [...block.row], key % 2 === 1))
        pairs.push(lead * rows + row);
    }
    return distinct(Float64Array.from(pairs).toSorted(), rows);
  }
}

function* distinct(
  pairs: Float64Array,
  rows: number,
): Generator<{ readonly lead: number; readonly row: number }> {
  let before = -1;
  for (const pair of pairs) {
    if (pair !== before) yield { lead: Math.floor(pair / rows), row: pair % rows };
    before = pair;
  }
}

/** The pairs of records that share a key. */
function* inBlock(
  leads: readonly number[],
  rows: readonly number[],
  isWhole: boolean,
): Generator<readonly [lead: number, row: number]> {
  const isFew = leads.length * rows.length <= (isWhole ? mostWholePairs : mostPairs);
  if (!isFew && !isWhole) return;
  const turns = isFew ? 1 : Math.min(leads.length, rows.length);
  for (const [nth, lead] of leads.entries())
    for (const next of isFew ? [0] : [nth, nth + 1])
      for (let other = next % turns; other < rows.length; other += turns) yield [lead, rows[other] ?? 0];
}

/** What becomes of new rows and new leads that may be the same. */
export interface MatchedRecords {
  /** The rows that get the id of a lead, by the lead; `message`: the evidence. */
  readonly rowOf: ReadonlyMap<
    string,
    { readonly row: number; readonly cells: Cells; readonly message: string }
  >;
  readonly linkedRows: ReadonlySet<number>;
  /** Rows that a person took apart from a lead that gets another row. */
  readonly rejectedRows: ReadonlySet<number>;
  /** The conflict of leads and rows that get no counterpart; null: it is the lead's. */
  readonly heldLeads: ReadonlyMap<string, PlannedAction>;
  readonly heldRows: ReadonlyMap<number, PlannedAction | null>;
}

export const noMatches: MatchedRecords = {
  rowOf: new Map(),
  linkedRows: new Set(),
  rejectedRows: new Set(),
  heldLeads: new Map(),
  heldRows: new Map(),
};

/** A lead and a row that may be the same, by their indexes. */
export interface Candidate {
  readonly lead: number;
  readonly row: number;
  readonly score: number;
  /** Same name, and nothing contradicts it. */
  readonly isNamesake: boolean;
  /** Equal in every field of `matchBy`. */
  readonly isExact: boolean;
  /** A person decided that they are the same. */
  readonly isAccepted: boolean;
}

export interface Choice<C extends Candidate> {
  /** To link now: accepted by a person, or exact. Each lead and row is in at most one. */
  readonly links: readonly C[];
  /** Each other's best, by a clear margin. */
  readonly proposed: readonly C[];
  /** The remaining candidates of unlinked leads and rows. */
  readonly ambiguous: readonly C[];
}

/** The lead that the best must have over the second. */
const margin = 0.05;

/**
 * Chooses among the candidates, independent of their order. `linksExact`: links exact ones without asking when neither
 * side has another candidate of that name. Pure.
 */
export function chooseMatches<C extends Candidate>(candidates: readonly C[], linksExact: boolean): Choice<C> {
  const sorted = candidates.toSorted((a, b) => a.lead - b.lead || a.row - b.row);
  const links: C[] = [];
  const [leads, rows] = [new Set<number>(), new Set<number>()];
  const isFree = ({ lead, row }: C): boolean => !leads.has(lead) && !rows.has(row);
  const link = (one: C): void => {
    if (!isFree(one)) return;
    links.push(one);
    leads.add(one.lead);
    rows.add(one.row);
  };
  for (const one of sorted) if (one.isAccepted) link(one);
  if (linksExact) {
    const [ofLead, ofRow] = [countBy(sorted, 'lead'), countBy(sorted, 'row')];
    const isOnly = ({ lead, row }: C): boolean => ofLead.get(lead) === 1 && ofRow.get(row) === 1;
    for (const one of sorted) if (one.isExact && isOnly(one)) link(one);
  }
  const open = sorted.filter(isFree);
  const [ofLead, ofRow] = [clearBests(open, 'lead'), clearBests(open, 'row')];
  const isBest = (one: C): boolean => ofLead.has(one) && ofRow.has(one);
  const proposed = open.filter(isBest);
  return { links, proposed, ambiguous: open.filter((one) => !isBest(one)) };
}

/** How many namesakes each has. */
function countBy(candidates: readonly Candidate[], side: 'lead' | 'row'): ReadonlyMap<number, number> {
  const counts = new Map<number, number>();
  for (const one of candidates) if (one.isNamesake) counts.set(one[side], (counts.get(one[side]) ?? 0) + 1);
  return counts;
}

/** The best of each lead or row, unless another one is nearly as good. */
function clearBests<C extends Candidate>(candidates: readonly C[], side: 'lead' | 'row'): ReadonlySet<C> {
  const groups = [...Map.groupBy(candidates, (one) => one[side]).values()];
  const bests = groups.flatMap((rivals) => {
    const best = rivals.reduce((most, { score }) => Math.max(most, score), 0);
    const near = rivals.filter(({ score }) => best - score <= margin);
    return near.length === 1 ? near : [];
  });
  return new Set(bests);
}
