import type { TableMark } from '../lead/table-mark.ts';
import type { Doubt } from './older-copy.ts';

/** A mark that is remembered: by which run, and under which key of baselines. */
export interface KnownMark {
  readonly connection: string;
  readonly runId: number;
  readonly nonce: string;
  readonly written: boolean;
}

/**
 * What a mark tells of the table. `current`: as the last run left it, or nothing. `earlier`: as it was after `runId`, of
 * which nothing that was written since is in it. `older-state`: written by this very state, which does not know of it.
 * `other-keeper`: by another one. `other-target`: what was written into another table of ours.
 */
export type MarkVerdict =
  | { readonly kind: 'current' }
  | { readonly kind: 'earlier'; readonly runId: number }
  | { readonly kind: 'older-state' | 'other-keeper' | 'other-target'; readonly by: string }
  | { readonly kind: 'older-state'; readonly by: string; readonly backedUpAt: Date };

/** What an earlier mark says for an older copy, beside the values; null: the mark tells of none. */
export function doubtOf(verdict: MarkVerdict): Doubt | null {
  if (verdict.kind !== 'earlier') return null;
  return { reason: `it bears the mark of run ${verdict.runId}`, run: verdict.runId };
}

/** What is remembered of a mark that was found: `nonceOf` it, in whichever table. */
export interface KnownMarks {
  readonly keeper: string;
  readonly found: KnownMark | null;
  /** The last of the connection that is known to have arrived, and the oldest that is remembered. */
  readonly lastWritten: number | null;
  readonly oldest: number | null;
  /** When the backup was made that the state came out of, since which nobody has decided on it; null: it did not. */
  readonly backedUpAt: Date | null;
}

/** By what a mark is remembered. */
export function nonceOf({ nonce, keeper }: TableMark): string {
  return nonce ?? keeper;
}

/**
 * Decides what a mark means (docs/identity.md), and whether the state is an older one, of which a mark can be silent: not every
 * sync writes one. Pure.
 */
export function judgeMark(mark: TableMark | null, connection: string, known: KnownMarks): MarkVerdict {
  const verdict = judgeMarkAlone(mark, connection, known);
  const { backedUpAt } = known;
  if (backedUpAt === null || verdict.kind === 'other-keeper' || verdict.kind === 'other-target')
    return verdict;
  return { kind: 'older-state', by: connection, backedUpAt };
}

function judgeMarkAlone(mark: TableMark | null, connection: string, known: KnownMarks): MarkVerdict {
  const { found, lastWritten, oldest, keeper } = known;
  if (mark === null) return { kind: 'current' };
  const { generation } = mark;
  if (generation === undefined) {
    const isAccepted = found !== null && found.runId >= (lastWritten ?? 0);
    if (mark.keeper === keeper || isAccepted) return { kind: 'current' };
    return { kind: 'other-keeper', by: mark.connection };
  }
  if (found !== null) {
    if (found.connection !== connection) return { kind: 'other-target', by: found.connection };
    const isEarlier = lastWritten !== null && found.runId < lastWritten;
    return isEarlier ? { kind: 'earlier', runId: found.runId } : { kind: 'current' };
  }
  if (mark.keeper !== keeper) return { kind: 'other-keeper', by: mark.connection };
  // Of a run that is not remembered any more.
  if (oldest !== null && generation < oldest) return { kind: 'earlier', runId: generation };
  return { kind: 'older-state', by: mark.connection };
}
