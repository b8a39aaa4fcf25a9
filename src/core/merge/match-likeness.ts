import { distance } from 'fastest-levenshtein';
import type { Cell, Cells } from '../lead/value.ts';
import { isUnreadable } from '../lead/value.ts';
import { type NormalForm, normalForm, soundOf } from './normal-form.ts';

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
