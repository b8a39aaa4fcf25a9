import type pg from 'pg';
import { fingerprint } from '../core/lead/fingerprint.ts';
import { type Cells, isUnreadable, sameCell, type Value, type Values } from '../core/lead/value.ts';
import { type Action, writtenCells } from '../store/actions.ts';
import { scannedLeadCells } from '../store/differences.ts';
import { valuesWritten } from '../store/history.ts';
import { storeMatches } from '../store/matches.ts';
import type { Run } from '../store/runs.ts';
import type { StepContext } from './context.ts';

/** Whether a link joins a row and a lead that were two, or an unlink takes such apart. */
export function isMatched({ kind, reason }: Pick<Action, 'kind' | 'reason'>): boolean {
  return (kind === 'link' && reason === 'matched') || (kind === 'unlink' && reason === 'unmatched');
}

/** What leads and the rows that were just linked to them agree on, by the lead. */
export async function basesOfMatched(
  db: pg.PoolClient,
  run: Run,
  links: readonly Action[],
): Promise<ReadonlyMap<string, Values>> {
  if (links.length === 0 || run.undoOf !== null) return new Map();
  const leadIds = links.flatMap(({ leadId }) => leadId ?? []);
  const scanned = await scannedLeadCells(db, run.id, leadIds);
  const written = await valuesWritten(db, run, leadIds, 'lead');
  return new Map(
    links.map(({ leadId, expect, changes }) => {
      const id = leadId ?? '';
      const [lead, row]: [Cells, Cells] = [scanned.get(id) ?? {}, { ...expect, ...writtenCells(changes) }];
      const agreed = Object.entries(lead).filter(
        (entry): entry is [string, Value] =>
          !isUnreadable(entry[1]) && entry[0] in row && sameCell(entry[1], row[entry[0]] ?? null),
      );
      // What the lead made of the row's value is nobody's edit.
      return [id, { ...Object.fromEntries(agreed), ...written.get(id) }] as const;
    }),
  );
}

/** Remembers what an undo has taken apart: it is proposed from now on, not linked. */
export async function takenApart(
  { connection }: StepContext,
  db: pg.PoolClient,
  run: Run,
  unlinks: readonly Action[],
): Promise<void> {
  if (unlinks.length === 0) return;
  const { fields, sync } = connection;
  const marked = fields.filter(({ field }) => sync.matchBy.includes(field));
  const leads = await scannedLeadCells(
    db,
    run.id,
    unlinks.flatMap(({ leadId }) => leadId ?? []),
  );
  const lines = unlinks.map(({ leadId, row, expect, changes }) => {
    const cells = { ...expect, ...writtenCells(changes) };
    const marks = { leadMark: null, rowMark: fingerprint(cells, marked) };
    const shown = { leadId: leadId ?? '', row, rowKey: fingerprint(cells, fields), cells, ...marks };
    return {
      ...shown,
      lead: leads.get(leadId ?? '') ?? {},
      score: 1,
      why: 'an undo took them apart',
      state: 'undone' as const,
    };
  });
  await storeMatches(db, run.connection, lines, true);
}
