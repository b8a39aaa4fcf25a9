import { nearestName } from './nearest-name.ts';
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
