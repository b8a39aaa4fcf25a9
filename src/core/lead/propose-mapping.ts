import { headingKey } from './mapping.ts';
import { idWords, leadFields, type Words } from './lead-fields.ts';

/** A heading that seems to be meant. `isSure`: it says so in a known word, and no other heading does as well. */
interface Match {
  readonly heading: string;
  readonly isSure: boolean;
}

/** Headings that exactly one column has: no other can be mapped. */
export function singleHeadings(headings: readonly string[]): readonly string[] {
  const filled = headings.filter((heading) => heading.trim() !== '');
  const same = Map.groupBy(filled, headingKey);
  return filled.filter((heading) => same.get(headingKey(heading))?.length === 1);
}

/**
 * Proposes a heading for the id and for each field, none for two: of all pairs the likeliest first, then the one further left.
 * The map is in the order in which the fields were given.
 */
export function proposeMapping(
  headings: readonly string[],
  fields: readonly string[],
): { readonly id: Match | null; readonly fields: ReadonlyMap<string, Match | null> } {
  const single = singleHeadings(headings);
  const wanted = [wordsIn(idWords), ...fields.map(wordsOf)];
  const written = single.map(tokens);
  const ranks = wanted.map((words) => written.map((heading) => rankOf(heading, words)));
  const pairs = ranks.flatMap((of, row) => of.map((rank, column) => ({ row, column, rank })));
  const found = new Map<number, (typeof pairs)[number]>();
  const taken = new Set<number>();
  for (const pair of pairs.toSorted((one, other) => other.rank - one.rank)) {
    if (pair.rank === 0 || found.has(pair.row) || taken.has(pair.column)) continue;
    found.set(pair.row, pair);
    taken.add(pair.column);
  }
  const [id = null, ...others] = ranks.map((of, row): Match | null => {
    const { column = -1, rank = 0 } = found.get(row) ?? {};
    const heading = single[column];
    const isSure = rank >= sureRank && of.filter((one) => one === rank).length === 1;
    return heading === undefined ? null : { heading, isSure };
  });
  return { id, fields: new Map(fields.map((field, index) => [field, others[index] ?? null])) };
}

const usual = Object.keys(leadFields);

/** The number of known headings in a row: the row with most of them has the headings. */
export function countKnown(headings: readonly string[]): number {
  const { id, fields: found } = proposeMapping(headings, usual);
  return [id, ...found.values()].filter((match) => match !== null).length;
}

type Tokens = readonly string[];

/** Its own names, the words that mean nothing else, and those that may. */
const wordsIn = ({ sure, unsure }: Words, own: Tokens = []) =>
  [own, sure.split(/,\s+/), unsure.split(/,\s+/)].map((of) => of.map(tokens));

function wordsOf(field: string): readonly (readonly Tokens[])[] {
  const known = leadFields[field];
  return known === undefined ? [[tokens(field)]] : wordsIn(known, [field, known.column]);
}

/** 4: its own name; 3: a word for nothing else; 2: one that may mean something else; 1: one of these among others; 0: none. */
function rankOf(written: Tokens, words: readonly (readonly Tokens[])[]): number {
  if (written.length === 0) return 0;
  const at = words.findIndex((of) => of.some((word) => word.join('') === written.join('')));
  if (at >= 0) return 4 - at;
  return words.flat().some((word) => word.every((token) => written.includes(token))) ? 1 : 0;
}

const sureRank = 3;

/** `nextFollowUpAt`, `next_follow_up_at` and `Next follow-up at:` are the same words; so are `Nächster` and `Naechster`. */
function tokens(text: string): Tokens {
  return text
    .replaceAll(/(\p{Ll})(?=\p{Lu})/gu, '$1 ')
    .toLowerCase()
    .replaceAll('ß', 'ss')
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .replaceAll(/([aou])e/g, '$1')
    .split(/[^\p{L}\p{N}]+/u)
    .filter((token) => token !== '');
}
