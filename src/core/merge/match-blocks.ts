import { hashId } from '../lead/id-set.ts';
import { blockKeys, type MatchForms } from './match-likeness.ts';
import type { Steps } from './match-lost-creates.ts';

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
