/**
 * The name that was probably meant: equal but for case, `-` and `_`, few letters away, or a longer form of the same
 * beginning. Undefined when nothing is close.
 */
export function nearestName(name: string, candidates: readonly string[]): string | undefined {
  const wanted = bare(name);
  const allowed = wanted.length <= 4 ? 1 : wanted.length <= 8 ? 2 : 3;
  const ranked = candidates
    .map((candidate) => ({ candidate, away: distance(wanted, bare(candidate)) }))
    .toSorted((a, b) => a.away - b.away);
  const best = ranked[0];
  if (best !== undefined && best.away <= allowed) return best.candidate;
  return wanted.length < 3 ? undefined : candidates.find((candidate) => bare(candidate).startsWith(wanted));
}

/** ` Did you mean "x"?`, or nothing. */
export function didYouMean(name: string, candidates: readonly string[]): string {
  const nearest = nearestName(name, candidates);
  return nearest === undefined ? '' : `; did you mean "${nearest}"?`;
}

function bare(name: string): string {
  return name.toLowerCase().replaceAll(/[-_\s]/g, '');
}

/** Letters to insert, leave out, replace or swap with the next one (optimal string alignment). */
function distance(a: string, b: string): number {
  let before: readonly number[] = [];
  let previous: readonly number[] = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 0; i < a.length; i += 1) {
    const current = [i + 1];
    for (let j = 0; j < b.length; j += 1) {
      const replaced = (previous[j] ?? 0) + (a[i] === b[j] ? 0 : 1);
      const swapped =
        i > 0 && j > 0 && a[i] === b[j - 1] && a[i - 1] === b[j] ? (before[j - 1] ?? 0) + 1 : replaced;
      current.push(Math.min(replaced, swapped, (previous[j + 1] ?? 0) + 1, (current[j] ?? 0) + 1));
    }
    before = previous;
    previous = current;
  }
  return previous.at(-1) ?? 0;
}
