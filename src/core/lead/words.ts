import { headingKey } from './heading-line.ts';
import type { Words } from './mapping.ts';
import { nearestName } from './nearest-name.ts';
import { type Cell, isUnreadable, type Value } from './value.ts';

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
