import { headingKey, type Words } from './mapping.ts';
import { nearestName } from './wording.ts';
import { type Cell, folded, isUnreadable, type Value } from './value.ts';

type Side = 'row' | 'lead';

/** What a cell of the table means in the service; without `words` what it says. */
export function rowWord(cell: Cell, words: Words | undefined): Cell {
  return understood(cell, words, 'row');
}

/** What the service says, as `words` spell it. */
export function leadWord(cell: Cell, words: Words | undefined): Cell {
  return understood(cell, words, 'lead');
}

/** What a cell of the table gets for a value of the service; undefined: the table has no word for it. */
export function writtenWord(value: Value, words: Words | undefined): Value | undefined {
  if (words === undefined || value === null || value === '') return value;
  return words.find(([, lead]) => lead === value)?.[0];
}

/** ` (nearest: "Angebot", which is "proposal")` for a word that nothing stands beside, or nothing. */
export function nearestWord(text: string, words: Words, side: Side): string {
  const [at, other] = side === 'row' ? ([0, 1] as const) : ([1, 0] as const);
  const nearest = nearestName(
    text,
    words.map((pair) => pair[at]),
  );
  const pair = words.find((one) => one[at] === nearest);
  return pair === undefined
    ? ''
    : ` (nearest: ${JSON.stringify(pair[at])}, which is ${JSON.stringify(pair[other])})`;
}

function understood(cell: Cell, words: Words | undefined, side: Side): Cell {
  if (words === undefined || cell === null || isUnreadable(cell)) return cell;
  const key = headingKey(cell);
  if (key === '') return null;
  return meanings(words, side).get(key) ?? { unreadable: cell, why: 'unmapped' };
}

const known: Readonly<Record<Side, WeakMap<Words, ReadonlyMap<string, string>>>> = {
  row: new WeakMap(),
  lead: new WeakMap(),
};

/** The service's word by the key of each word of a side. The table may show the service's own: leadsync wrote them before it was told. */
function meanings(words: Words, side: Side): ReadonlyMap<string, string> {
  let found = known[side].get(words);
  if (found === undefined) {
    const own = words.map(([, lead]) => [headingKey(lead), lead] as const);
    const tables = words.map(([row, lead]) => [headingKey(row), lead] as const);
    found = new Map(side === 'row' ? [...own, ...tables] : own);
    known[side].set(words, found);
  }
  return found;
}

/** What the two sides call the values of a field, where they hardly share a word. */
export interface OtherWords {
  readonly rows: readonly string[];
  readonly leads: readonly string[];
}

/**
 * The words of both sides when most of those in the rows are in no lead; null: they share enough, or one side has none.
 * Case and accents make no other word.
 */
export function otherWords(rows: readonly string[], leads: readonly string[]): OtherWords | null {
  const known = new Set(leads.map(folded));
  const words = distinct(rows);
  const strange = words.filter((word) => !known.has(folded(word)));
  if (known.size === 0 || strange.length === 0 || strange.length * 2 < words.length) return null;
  return { rows: strange, leads: distinct(leads) };
}

/**
 * Each word of the rows with the one of the leads that it may stand for, each of which is given once: the same but for case and
 * accents, else one a few letters away; null: nobody can tell.
 */
export function pairedWords(
  rows: readonly string[],
  leads: readonly string[],
): readonly (readonly [row: string, lead: string | null])[] {
  const open = new Set(distinct(leads));
  const found = new Map<string, string>();
  const words = distinct(rows);
  const same = (word: string) => [...open].find((lead) => folded(lead) === folded(word));
  for (const like of [same, (word: string) => nearestName(word, [...open])]) {
    for (const word of words) {
      const lead = found.has(word) ? undefined : like(word);
      if (lead === undefined) continue;
      found.set(word, lead);
      open.delete(lead);
    }
  }
  return words.map((word) => [word, found.get(word) ?? null]);
}

/** In their order, without empty ones; of several spellings the first. */
function distinct(words: readonly string[]): readonly string[] {
  const byFold = new Map<string, string>();
  for (const word of words) if (word !== '' && !byFold.has(folded(word))) byFold.set(folded(word), word);
  return [...byFold.values()];
}
