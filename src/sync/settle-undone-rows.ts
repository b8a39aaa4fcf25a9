import type pg from 'pg';
import { fingerprint } from '../core/lead/fingerprint.ts';
import type { Cells } from '../core/lead/value.ts';
import { undoneMessages } from '../core/merge/hold-message.ts';
import { reopenedBases } from '../core/merge/put-back.ts';
import { type Action, writtenCells } from '../store/actions.ts';
import { scannedLeadCells } from '../store/differences.ts';
import { hold, type NewHeld } from '../store/held.ts';
import { abandonIntentsOf } from '../store/intents.ts';
import { forgetPairs, clearBaselines, restoreBase } from '../store/pairs.ts';
import type { Run } from '../store/runs.ts';
import { keepUndone } from '../store/undone.ts';
import type { StepContext } from './context.ts';
import { isMatched, takenApart } from './matched-rows.ts';

/**
 * What an undo puts back is an edit like any other, but for what the run had decided: that is open again. A row that was
 * taken away was never there; one whose lead was taken away never had it.
 */
export async function settleUndoneRows(
  context: StepContext,
  db: pg.PoolClient,
  run: Run,
  undoOf: number,
  done: readonly Action[],
): Promise<void> {
  const { connection } = run;
  const leadIds = (kind: Action['kind']): readonly string[] =>
    done.flatMap((action) => (action.kind === kind && action.leadId !== null ? [action.leadId] : []));
  for (const { kind, leadId, changes } of done) {
    if (kind === 'update-row' && leadId !== null)
      await restoreBase(db, connection, leadId, reopenedBases(changes));
  }
  // Held in the name of the run that is put back: this one has done what it was asked for.
  await takenApart(context, db, run, done.filter(isMatched));
  const taken = await takenAway(context, db, run, done);
  await hold(db, { id: undoOf, connection, round: 0 }, taken);
  await keepUndone(
    db,
    connection,
    taken.map(({ leadId, rowKey, cells }) => ({ leadId: leadId ?? '', rowKey, cells })),
  );
  await clearBaselines(db, connection, leadIds('remove-row'));
  await forgetPairs(db, connection, leadIds('unlink'));
  await abandonIntentsOf(db, connection, leadIds('unlink'));
}

/** What the next sync would make again of what an undo has left: held until that shows something else. */
async function takenAway(
  { connection: { fields } }: StepContext,
  db: pg.PoolClient,
  run: Run,
  done: readonly Action[],
): Promise<readonly (NewHeld & { readonly rowKey: string; readonly cells: Cells })[]> {
  const taken = done.filter((one) => ['unlink', 'remove-row'].includes(one.kind) && !isMatched(one));
  const leads = await scannedLeadCells(
    db,
    run.id,
    taken.flatMap(({ kind, leadId }) => (kind === 'remove-row' && leadId !== null ? [leadId] : [])),
  );
  return taken.flatMap(({ kind, leadId, row, expect, changes }) => {
    const isRow = kind === 'unlink';
    const code = isRow ? 'row.undone' : 'lead.undone';
    const cells = isRow ? { ...expect, ...writtenCells(changes) } : leads.get(leadId ?? '');
    if (cells === undefined) return [];
    const place = isRow ? { leadId: null, row } : { leadId, row: null };
    const rowKey = fingerprint(cells, fields);
    const message = undoneMessages[code];
    return [{ ...place, rowKey, code, message, cells }];
  });
}
