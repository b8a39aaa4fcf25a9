import type { Scratch } from './scratch.ts';

/** One thing to be found out about the real service. */
export interface Check {
  readonly title: string;
  /** Returns what was seen, for people. Throws Differs, Skipped, or whatever went wrong. */
  readonly run: (scratch: Scratch) => Promise<string>;
}

/** It is not as leadsync and its stand-in take it to be; the message says what Google answered. */
export class Differs extends Error {}

/** It could not be found out; the message says what is missing. */
export class Skipped extends Error {}

/** Throws Differs with both values unless they are the same as JSON. */
export function same(what: string, seen: unknown, expected: unknown): void {
  const [one, other] = [JSON.stringify(seen) ?? 'nothing', JSON.stringify(expected) ?? 'nothing'];
  if (one !== other) throw new Differs(`${what}: ${shortened(one)}, expected ${shortened(other)}`);
}

export function shortened(text: string): string {
  return text.length > 300 ? `${text.slice(0, 300)}… (${text.length} characters)` : text;
}
