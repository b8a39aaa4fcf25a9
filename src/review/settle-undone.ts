import type pg from 'pg';
import type { ConnectionConfig } from '../config/config.ts';
import { hashContent } from '../core/lead/content-hash.ts';
import type { Cells } from '../core/lead/value.ts';
import { undoneMessages } from '../core/merge/hold-message.ts';
import { putsBack } from '../core/merge/put-back.ts';
import { type Action, writtenCells } from '../store/actions.ts';
import { scannedLeadCells } from '../store/differences.ts';
import { recordConflicts, type NewConflict } from '../store/conflicts.ts';
import { abandonIntentsOf } from '../store/intents.ts';
import { storeMatches } from '../store/matches.ts';
import type { Run } from '../store/runs.ts';
import { keepUndone } from '../store/undone.ts';

/**
 * What is remembered, beside the baselines, of actions of an undo that were carried out; of others nothing is. What the
 * next sync would make again of what is left is held until that shows something else.
 */
export async function settleUndone(
  db: pg.PoolClient,
  { fields, sync }: ConnectionConfig,
  run: Run,
  actions: readonly Action[],
): Promise<void> {
  const { id, undoOf, connection } = run;
  const done = actions.filter(putsBack);
  if (undoOf === null || done.length === 0) return;
  const leadIds = (kinds: readonly Action['kind'][]): readonly string[] =>
    done.flatMap(({ kind, leadId }) => (kinds.includes(kind) && leadId !== null ? [leadId] : []));
  const leads = await scannedLeadCells(db, id, leadIds(['remove-row', 'unlink']));
  const parted = done.flatMap(({ kind, reason, leadId, row, expect, changes }) => {
    if (kind !== 'unlink' || reason !== 'unmatched') return [];
    const cells = { ...expect, ...writtenCells(changes) };
    const marked = fields.filter(({ field }) => sync.matchBy.includes(field));
    const marks = {
      leadMark: null,
      rowMark: hashContent(cells, marked),
      contentHash: hashContent(cells, fields),
    };
    const lead = leads.get(leadId ?? '') ?? {};
    const why = 'an undo took them apart';
    return [{ leadId: leadId ?? '', row, cells, ...marks, lead, score: 1, why, state: 'undone' as const }];
  });
  // They are proposed from now on, not linked.
  if (parted.length > 0) await storeMatches(db, connection, parted, true);
  const taken = done.flatMap(({ kind, reason, leadId, row, expect, changes }) => {
    const isRow = kind === 'unlink';
    if (reason === 'unmatched' || (!isRow && kind !== 'remove-row')) return [];
    const code = isRow ? 'row.undone' : 'lead.undone';
    const cells: Cells | undefined = isRow
      ? { ...expect, ...writtenCells(changes) }
      : leads.get(leadId ?? '');
    if (cells === undefined) return [];
    const place: Pick<NewConflict, 'leadId' | 'row'> = isRow ? { leadId: null, row } : { leadId, row: null };
    return [
      { ...place, contentHash: hashContent(cells, fields), code, message: undoneMessages[code], cells },
    ];
  });
  // Held in the name of the run that is put back: this one has done what it was asked for.
  await recordConflicts(db, { id: undoOf, connection, round: 0 }, taken);
  const records = taken.map(({ leadId, contentHash, cells }) => ({
    leadId: leadId ?? '',
    contentHash,
    cells,
  }));
  if (records.length > 0) await keepUndone(db, connection, records);
  await abandonIntentsOf(db, connection, leadIds(['unlink', 'delete-lead']));
}
