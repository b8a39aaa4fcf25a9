import { distance } from 'fastest-levenshtein';
import { headingKey } from '../core/lead/heading-line.ts';
import { defaultFields } from '../core/lead/mapping.ts';
import { bestAssignment } from './best-assignment.ts';
import { fieldWords, idWords, type Words } from './synonyms.ts';

/** A heading that seems to be meant for a field. */
interface Match {
  readonly heading: string;
  /** Nothing else is nearly as likely, on either side. */
  readonly isSure: boolean;
}

/** What the headings of a table seem to mean. No heading is the match of two. */
export interface Proposal {
  /** The column of the ids. */
  readonly id: Match | null;
  /** By lead field, in the order in which the fields were given. */
  readonly fields: ReadonlyMap<string, Match | null>;
  /** Headings that more than one column has: none of them can be mapped. */
  readonly doubled: readonly string[];
}

/** From here on two candidates are apart (scores are 0 to 1). */
const clearLead = 0.08;
const scoreOf = { own: 1, sure: 0.9, unsure: 0.6, least: 0.45 } as const;

/**
 * Proposes a heading for each field and for the id: the best assignment as a whole.
 * @param headings as shown; empty ones count for nothing
 * @param fields names of lead fields
 */
export function proposeMapping(headings: readonly string[], fields: readonly string[]): Proposal {
  const shown = headings.filter((heading) => heading.trim() !== '');
  const same = Map.groupBy(shown, headingKey);
  const doubled = [...same.values()].flatMap((all) => (all.length > 1 ? all.slice(0, 1) : []));
  const single = [...same.values()].flatMap((all) => (all.length === 1 ? all : []));
  const wanted = [idWords, ...fields.map(wordsOf)];
  // Of two that are equally likely, the one further left.
  const scores = wanted.map((words) =>
    single.map((heading, column) => likeness(heading, words) * (1 - column * 1e-9)),
  );
  const chosen = bestAssignment(scores);
  const [id = null, ...others] = chosen.map((column, row): Match | null => {
    const heading = column === null ? undefined : single[column];
    if (heading === undefined || column === null) return null;
    const score = scores[row]?.[column] ?? 0;
    const rivals = [
      ...(scores[row] ?? []).filter((_, other) => other !== column),
      ...scores.flatMap((of, other) => (other === row ? [] : (of[column] ?? 0))),
    ];
    return {
      heading,
      isSure: score > scoreOf.sure - clearLead && score - Math.max(0, ...rivals) >= clearLead,
    };
  });
  return { id, fields: new Map(fields.map((field, index) => [field, others[index] ?? null])), doubled };
}

/** The number of known headings in a row: the row with most of them has the headings. */
export function countKnown(headings: readonly string[], fields: readonly string[]): number {
  const { id, fields: found } = proposeMapping(headings, fields);
  return [id, ...found.values()].filter((match) => match !== null).length;
}

interface FieldWords extends Words {
  /** The field's own name, and its usual heading. */
  readonly own: readonly string[];
}

function wordsOf(field: string): FieldWords {
  const usual = defaultFields.find((mapping) => mapping.field === field)?.column;
  const own = [field, ...(usual === undefined ? [] : [usual])];
  return { ...(fieldWords[field] ?? { sure: [], unsure: [] }), own };
}

/** How likely a heading means what these words mean: 0 (not at all) to 1. */
function likeness(heading: string, words: Words & Partial<FieldWords>): number {
  const written = tokens(heading);
  const score = (of: readonly string[], weight: number): number =>
    Math.max(0, ...of.map((word) => weight * closeness(written, tokens(word))));
  const best = Math.max(
    score(words.own ?? [], scoreOf.own),
    score(words.sure, scoreOf.sure),
    score(words.unsure, scoreOf.unsure),
  );
  return best >= scoreOf.least ? best : 0;
}

/** 1: the same words; less for other letters or further words. */
function closeness(written: readonly string[], word: readonly string[]): number {
  const [one, other] = [written.join(''), word.join('')];
  if (one === '' || other === '') return 0;
  if (one === other) return 1;
  // Short words differ by a letter from words with another meaning.
  const shortest = Math.min(one.length, other.length);
  const [slips, allowed] = [distance(one, other), shortest < 5 ? 0 : shortest < 7 ? 1 : 2];
  const misspelled = slips <= allowed ? 0.9 - slips / 10 : 0;
  const isWithin = word.every((token) => written.includes(token));
  return Math.max(misspelled, isWithin ? 0.6 + 0.2 * (other.length / one.length) : 0);
}

/** `nextFollowUpAt`, `next_follow_up_at` and `Next follow-up at:` are the same words; so are `Nächster` and `Naechster`. */
function tokens(text: string): readonly string[] {
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
