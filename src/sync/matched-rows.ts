import type pg from 'pg';
import { type Cells, isUnreadable, sameCell, type Value, type Values } from '../core/lead/value.ts';
import { type Action, writtenCells } from '../store/actions.ts';
import { scannedLeadCells } from '../store/differences.ts';
import { valuesWritten } from '../store/history.ts';
import type { Run } from '../store/runs.ts';

/** By lead, what a matched lead and the row that was just linked to it agree on. */
export async function basesOfMatched(
  db: pg.PoolClient,
  run: Run,
  done: readonly Action[],
): Promise<ReadonlyMap<string, Values>> {
  const links = done.filter(({ kind, reason }) => kind === 'link' && reason === 'matched');
  if (links.length === 0) return new Map();
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
      // A value that the service made of the row's value is nobody's edit.
      return [id, { ...Object.fromEntries(agreed), ...written.get(id) }] as const;
    }),
  );
}
