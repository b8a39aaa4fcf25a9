import { folded } from './value.ts';

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

/** In their order, without empty ones; of several spellings the first. */
function distinct(words: readonly string[]): readonly string[] {
  const byFold = new Map<string, string>();
  for (const word of words) if (word !== '' && !byFold.has(folded(word))) byFold.set(folded(word), word);
  return [...byFold.values()];
}
