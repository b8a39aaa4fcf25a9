import type { TableMark } from '../lead/table-mark.ts';

/** A stored mark: the run and the baselines' place it belongs to. */
export interface KnownMark {
  readonly connection: string;
  readonly runId: number;
  readonly nonce: string;
  readonly written: boolean;
}

/**
 * What a mark says of the table. `current`: as the last run left it, or unknown. `earlier`: as it was after `runId`,
 * without later writes. `older-state`: this very state wrote it, but does not remember. `other-keeper`: another state
 * wrote it. `other-target`: it belongs to another table of ours.
 */
export type MarkVerdict =
  | { readonly kind: 'current' }
  | { readonly kind: 'earlier'; readonly runId: number }
  | { readonly kind: 'older-state' | 'other-keeper' | 'other-target'; readonly by: string }
  | { readonly kind: 'older-state'; readonly by: string; readonly backedUpAt: Date };

/** What the store knows of a mark that was found (by `nonceOf`, in any table). */
export interface KnownMarks {
  readonly keeper: string;
  readonly found: KnownMark | null;
  /** The last confirmed run of the connection, and the oldest that is stored. */
  readonly lastWritten: number | null;
  readonly oldest: number | null;
  /** The time of the backup that this state was restored from, until a person's decision; null: not restored. */
  readonly backedUpAt: Date | null;
}

/** The key under which a mark is stored. */
export function nonceOf({ nonce, keeper }: TableMark): string {
  return nonce ?? keeper;
}

/**
 * Judges a mark (docs/which-is-which.md), and whether the state itself was restored, which a mark may not show: not every
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
  const { found, keeper } = known;
  const [lastWritten, oldest] = [known.lastWritten ?? 0, known.oldest ?? 0];
  if (mark === null) return { kind: 'current' };
  const { generation } = mark;
  if (generation === undefined) {
    const isAccepted = found !== null && found.runId >= lastWritten;
    if (mark.keeper === keeper || isAccepted) return { kind: 'current' };
    return { kind: 'other-keeper', by: mark.connection };
  }
  if (found !== null) {
    if (found.connection !== connection) return { kind: 'other-target', by: found.connection };
    return found.runId < lastWritten ? { kind: 'earlier', runId: found.runId } : { kind: 'current' };
  }
  if (mark.keeper !== keeper) return { kind: 'other-keeper', by: mark.connection };
  // From a run that is no longer stored.
  if (generation < oldest) return { kind: 'earlier', runId: generation };
  return { kind: 'older-state', by: mark.connection };
}
