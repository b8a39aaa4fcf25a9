import { distance } from 'fastest-levenshtein';

/** Equal but for case, `-` and `_`, few letters away, or a longer form of the same beginning. Undefined when nothing is close. */
export function nearestName(name: string, candidates: readonly string[]): string | undefined {
  const wanted = bare(name);
  const allowed = wanted.length < 4 ? 1 : wanted.length <= 8 ? 2 : 3;
  const [best] = candidates
    .map((candidate) => ({ candidate, away: distance(wanted, bare(candidate)) }))
    .toSorted((a, b) => a.away - b.away);
  if (best !== undefined && best.away <= allowed) return best.candidate;
  return wanted.length < 3 ? undefined : candidates.find((candidate) => bare(candidate).startsWith(wanted));
}

/** `; did you mean "x"?`, or nothing. */
export function didYouMean(name: string, candidates: readonly string[]): string {
  const nearest = nearestName(name, candidates);
  return nearest === undefined ? '' : `; did you mean "${nearest}"?`;
}

function bare(name: string): string {
  return name.toLowerCase().replaceAll(/[-_\s]/g, '');
}

/** A number for people: `5,000`. */
export function count(value: number): string {
  // The first use of a locale loads them all, which a command with small numbers can do without.
  return Number.isInteger(value) && Math.abs(value) < 1_000 ? String(value) : value.toLocaleString('en');
}

/** `1 lead`, `5,000 leads`. */
export function counted(value: number, one: string, several = `${one}s`): string {
  return `${count(value)} ${value === 1 ? one : several}`;
}
