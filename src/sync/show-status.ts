import { sameCell } from '../core/lead/value.ts';
import { columnsOf, type FieldMapping } from '../core/lead/mapping.ts';
import type { RowStanding } from '../core/merge/row-standing.ts';
import { type ConflictFact, inStep, rowStatus } from '../core/merge/row-status.ts';
import { rowStandings } from '../store/row-facts.ts';
import type { Run } from '../store/runs.ts';
import type { RowChange } from '../ports/target.ts';
import type { StepContext } from './context.ts';
import { writeBatches } from './write-batches.ts';

/** An undo and a reviewed plan leave the texts to the next sync. */
export function showsStatus({ connection, runPolicy }: StepContext): boolean {
  return connection.target.statusColumn !== undefined && runPolicy.doesAll;
}

/**
 * Writes each row's state into its status cell, as the last write of a round. Only cells that show another text are
 * written, so nothing is recorded: the next run repairs what is missing.
 */
export async function showStatus(context: StepContext, run: Run): Promise<void> {
  if (!showsStatus(context)) return;
  await writeBatches(context, run, {
    batches: batchesOf(context, run),
    begin: async () => {},
    changes: async (changes) => changes,
    async commit(changes, outcomeOf) {
      const refused = changes.filter(({ key }) => outcomeOf(key).status !== 'done').length;
      if (refused > 0) context.log.info({ run: run.id, refused }, 'some status cells cannot be written');
    },
  });
}

async function* batchesOf(
  { pool, connection, target }: StepContext,
  run: Run,
): AsyncGenerator<readonly RowChange[]> {
  const headings = columnsOf(connection.fields);
  const changes = new Map<string, RowChange>();
  for await (const standing of rowStandings(pool, run)) {
    const change = statusChange(standing, headings, changes.size);
    if (change !== null) changes.set(change.key, change);
    if (changes.size < target.batchSize) continue;
    yield [...changes.values()];
    changes.clear();
  }
  if (changes.size > 0) yield [...changes.values()];
}

/** The status of a new row when it is written. */
export function newRowStatus(conflicts: readonly ConflictFact[], fields: readonly FieldMapping[]): string {
  const facts = {
    isCopy: false,
    conflicts,
    waiting: null,
    isListed: true,
    isOutside: false,
    deletedOn: null,
    shown: '',
  };
  return rowStatus(facts, columnsOf(fields)) ?? inStep;
}

/** Null: the row shows its status. The copies of a row are one change. */
function statusChange(
  standing: RowStanding,
  headings: ReadonlyMap<string, string>,
  number: number,
): RowChange | null {
  const { leadId, isCopy, cells, shown } = standing;
  const text = rowStatus(standing, headings);
  if (text === null || sameCell(shown, text)) return null;
  const place = leadId === null ? `row ${number}` : `${isCopy ? 'copies' : 'lead'} ${leadId.trim()}`;
  return { kind: 'status', key: place, leadId, copies: isCopy, expect: cells, shown, text };
}
