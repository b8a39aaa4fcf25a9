import { sameCell } from '../core/lead/value.ts';
import type { FieldMapping } from '../core/lead/mapping.ts';
import { type ConflictFact, inStep, rowStatus } from '../core/merge/row-status.ts';
import { type RowStanding, rowStandings } from '../store/row-facts.ts';
import type { Run } from '../store/runs.ts';
import type { RowChange } from '../ports/target.ts';
import type { StepContext } from './context.ts';
import { writeBatches } from './write-batches.ts';

/**
 * Tells people in the status column how each row stands now: the last thing that a round writes. Only cells that do not
 * show it yet are written, so it can be begun again, and nothing is recorded: the next run repairs what was missed. An
 * undo, and a reviewed plan, which touches nothing but its lines, leave the texts to the next sync.
 */
export async function showStatus(context: StepContext, run: Run): Promise<void> {
  if (context.connection.target.statusColumn === undefined || !context.runPolicy.doesAll) return;
  await writeBatches(context, run, {
    batches: batchesOf(context, run),
    begin: async () => {},
    changes: async (changes) => changes,
    async commit(changes, outcomeOf) {
      const refused = changes.filter(({ key }) => outcomeOf(key).status !== 'done').length;
      if (refused > 0) context.log.info({ run: run.id, refused }, 'status cells that cannot be written to');
    },
  });
}

async function* batchesOf(
  { pool, connection, target }: StepContext,
  run: Run,
): AsyncGenerator<readonly RowChange[]> {
  const headings = headingsOf(connection.fields);
  const changes = new Map<string, RowChange>();
  for await (const standing of rowStandings(pool, run, inStep)) {
    const change = statusChange(standing, headings, changes.size);
    if (change !== null) changes.set(change.key, change);
    if (changes.size < target.batchSize) continue;
    yield [...changes.values()];
    changes.clear();
  }
  if (changes.size > 0) yield [...changes.values()];
}

/** What the status column of a new row says when it is written. */
export function newRowStatus(held: readonly ConflictFact[], fields: readonly FieldMapping[]): string {
  const facts = { isCopy: false, held, waiting: null, isListed: true, deletedOn: null, shown: '' };
  return rowStatus(facts, headingsOf(fields)) ?? inStep;
}

/** Null when the row shows it already. The copies of a row are one change. */
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

function headingsOf(fields: readonly FieldMapping[]): ReadonlyMap<string, string> {
  return new Map(fields.map(({ field, column }) => [field, column]));
}
