import { distance } from 'fastest-levenshtein';
import type { Cell, Cells } from '../lead/value.ts';
import { isUnreadable } from '../lead/value.ts';
import { type NormalForm, normalForm, skeletonOf, soundOf } from './normal-form.ts';

/** What a record is recognised by: the fields of `matchBy` in order; the first is its name. Null: empty. */
export type MatchForms = readonly (NormalForm | null)[];

/** How telling a word is in a field: near 1 when rare, near 0 when all records have it. */
export type Rarity = (field: number, word: string) => number;

/** How one field of two records compares in normal form. */
type FieldLikeness = 'same' | 'alike' | 'differs' | 'empty';

export interface Likeness {
  /** 0 to 1. */
  readonly score: number;
  readonly fields: readonly FieldLikeness[];
  /** The first field is the same in normal form. */
  readonly isNamesake: boolean;
  /** Every field is the same, or empty in both, and the legal forms do not contradict. */
  readonly isExact: boolean;
}

/** From here on two records may be the same. */
export const leastScore = 0.8;

/** Null: the name is empty, so the record is compared with none. */
export function matchForms(cells: Cells, matchBy: readonly string[]): MatchForms | null {
  const forms = matchBy.map((field) => formOf(cells[field] ?? null, field === 'companyName'));
  return (forms[0] ?? null) === null ? null : forms;
}

function formOf(cell: Cell, isCompany: boolean): NormalForm | null {
  if (cell === null || isUnreadable(cell)) return null;
  const form = normalForm(cell, isCompany);
  return form.key === '' ? null : form;
}

/** How alike two records are. Symmetric. */
export function likeness(a: MatchForms, b: MatchForms, rarity: Rarity): Likeness {
  /** By field; null: empty on one side. */
  const alike = a.map((one, nth) => {
    const other = b[nth] ?? null;
    if (one === null || other === null) return null;
    const rarityOf = (word: string): number => rarity(nth, word);
    return nth === 0 ? nameLikeness(a, b, rarityOf) : formLikeness(one, other, rarityOf);
  });
  const fields = alike.map((value, nth): FieldLikeness => {
    if (value === null) return 'empty';
    if (a[nth]?.key === b[nth]?.key) return 'same';
    return value >= leastAlike ? 'alike' : 'differs';
  });
  const [named = 0, ...others] = alike.map((value) => value ?? 0);
  const agreed = others.reduce((sum, value) => sum + (value >= leastScore ? value : 0), 0);
  const against = alike.slice(1).filter((value) => value !== null && value < leastScore).length;
  const [legal = '', otherLegal = ''] = [a[0]?.legal, b[0]?.legal];
  const legalDiffers = legal !== '' && otherLegal !== '' && legal !== otherLegal;
  const whole =
    others.length === 0 ? named : named * (1 - confirming) + (agreed / others.length) * confirming;
  const score = Math.max(0, whole - against * contradicting - (legalDiffers ? otherForm : 0));
  const isExact =
    !legalDiffers &&
    fields.every((field, nth) => field === 'same' || (nth > 0 && a[nth] === null && b[nth] === null));
  return { score: Math.min(1, score), fields, isNamesake: fields[0] === 'same', isExact };
}

/** From here on a field counts as alike. */
const leastAlike = 0.7;

/** Weights: a field that confirms the name, one that contradicts it, another legal form. */
const confirming = 0.1;
const contradicting = 0.2;
const otherForm = 0.06;

/** Whether a field that both have differs in normal form. */
export function contradicts(a: MatchForms, b: MatchForms): boolean {
  return a.some((one, nth) => {
    const other = b[nth] ?? null;
    return one !== null && other !== null && one.key !== other.key;
  });
}

/** Compares names as they are, and without words that their other fields repeat, such as a city at the end. */
function nameLikeness(a: MatchForms, b: MatchForms, rarity: (word: string) => number): number {
  const said = new Set([...a.slice(1), ...b.slice(1)].flatMap((form) => form?.words ?? []));
  const [one, other] = [a[0]?.words ?? [], b[0]?.words ?? []];
  const [ownOne, ownOther] = [without(one, said), without(other, said)];
  const whole = textLikeness(one, other, rarity);
  if (ownOne.length === one.length && ownOther.length === other.length) return whole;
  return Math.max(whole, textLikeness(ownOne, ownOther, rarity) - 0.02);
}

/** Keeps a text that would otherwise be empty. */
function without(words: readonly string[], said: ReadonlySet<string>): readonly string[] {
  const own = words.filter((word) => !said.has(word));
  return own.length === 0 ? words : own;
}

function textLikeness(a: readonly string[], b: readonly string[], rarity: (word: string) => number): number {
  const [one, other] = [a.join(''), b.join('')];
  return one === other ? 1 : Math.max(wholeLikeness(one, other), wordsLikeness(a, b, rarity));
}

function formLikeness(a: NormalForm, b: NormalForm, rarity: (word: string) => number): number {
  if (a.key === b.key) return 1;
  // "Frankfurt" matches "Frankfurt am Main".
  const [few, many] = a.words.length < b.words.length ? [a, b] : [b, a];
  const isPart = few.words[0] === many.words[0] && few.words.every((word) => many.words.includes(word));
  return Math.max(textLikeness(a.words, b.words, rarity), isPart ? 0.9 : 0);
}

/** For texts that may be spaced differently. */
function wholeLikeness(a: string, b: string): number {
  if (digitsOf(a) !== digitsOf(b)) return 0;
  const most = Math.max(a.length, b.length);
  const ratio = 1 - edits(soundOf(a), soundOf(b)) / most;
  return ratio >= 0.85 ? ratio - 0.03 : 0;
}

/** Shared words in any order, weighted by rarity. */
function wordsLikeness(a: readonly string[], b: readonly string[], rarity: (word: string) => number): number {
  const left = [...b];
  let [shared, all] = [0, 0];
  for (const word of [...a, ...b]) all += rarity(word);
  const pairs = a
    .flatMap((one) => b.map((other) => ({ one, other, alike: wordLikeness(one, other) })))
    .filter(({ alike }) => alike > 0)
    .toSorted((x, y) => y.alike - x.alike || compare(x.one, y.one) || compare(x.other, y.other));
  const open = [...a];
  for (const { one, other, alike } of pairs) {
    const [here, there] = [open.indexOf(one), left.indexOf(other)];
    if (here < 0 || there < 0) continue;
    open.splice(here, 1);
    left.splice(there, 1);
    shared += alike * (rarity(one) + rarity(other));
  }
  return all === 0 ? 0 : shared / all;
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** 0: not spellings of one word. A different number is a different word. */
function wordLikeness(a: string, b: string): number {
  if (a === b) return 1;
  if (/\p{N}/u.test(a + b)) return 0;
  const [one, other] = [soundOf(a), soundOf(b)];
  if (one === other) return 0.97;
  const most = Math.max(one.length, other.length);
  if (Math.min(one.length, other.length) < 4) return 0;
  const ratio = 1 - edits(one, other) / most;
  return ratio >= 0.75 ? ratio : 0;
}

/** A transposition counts as one edit. */
function edits(a: string, b: string): number {
  const found = distance(a, b);
  if (found !== 2 || a.length !== b.length) return found;
  let at = 0;
  while (a[at] === b[at]) at += 1;
  return a[at] === b[at + 1] && a[at + 1] === b[at] && a.slice(at + 2) === b.slice(at + 2) ? 1 : 2;
}

const digitsOf = (text: string): string => text.replaceAll(/\P{N}+/gu, ' ').trim();

/** How many of a record's rarest words are block keys. */
const wordsThatLead = 2;

/** A key shared by records that may be the same. `isWhole`: nearly proof, so no record that shares it is skipped. */
export interface BlockKey {
  readonly key: string;
  readonly isWhole: boolean;
}

/** The keys of a record: its whole name, its rarest words, its beginning and consonants beside another field. */
export function blockKeys(forms: MatchForms, rarity: Rarity): readonly BlockKey[] {
  const [name = null, ...others] = forms;
  if (name === null) return [];
  const said = new Set(others.flatMap((form) => form?.words ?? []));
  const own = without(name.words, said);
  const joined = own.join('');
  const whole = name.words.join('');
  const beside = others.flatMap((form, nth) =>
    form === null ? [] : [`${nth}:${soundOf(form.words[0] ?? '')}`],
  );
  const rarest = [...new Set(own)].toSorted((a, b) => rarity(0, b) - rarity(0, a) || compare(a, b));
  const part = [...rarest.slice(0, wordsThatLead).map((word) => `w${soundOf(word)}`), `s${skeletonOf(own)}`];
  const onlyBeside = [`b${soundOf(joined).slice(0, 4)}`, `e${soundOf(joined).slice(-5)}`];
  return [
    { key: `n${whole}`, isWhole: true },
    ...(joined === whole ? [] : [{ key: `n${joined}`, isWhole: true }]),
    ...beside.map((one) => ({ key: `n${joined} ${one}`, isWhole: true })),
    ...part.map((key) => ({ key, isWhole: false })),
    ...[...part, ...onlyBeside].flatMap((key) =>
      beside.map((one) => ({ key: `${key} ${one}`, isWhole: false })),
    ),
  ];
}
