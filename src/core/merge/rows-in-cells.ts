import type { Aside } from '../lead/aside.ts';
import type { LiveScan } from './live-scan.ts';

/** An id without a row of its own, or a record without an id, that stands in another cell. */
export interface RowInCell extends Aside {
  /** A row of it was in step once. */
  readonly hadRow: boolean;
}

/**
 * What the table shows in other cells and in no row: ids of pairs and of leads of the scan, and, where a text is a table in
 * itself, all ids.
 */
export function rowsInCells(scan: LiveScan): readonly RowInCell[] {
  const found = new Map<string, RowInCell>();
  for (const aside of scan.asides) {
    const leadId = scan.spelled(aside.leadId);
    if (leadId !== '' && !isInNoRow(scan, leadId, aside.kind)) continue;
    const hadRow = scan.base.wasInStep(scan.base.find(leadId));
    found.set(JSON.stringify([aside.place, leadId, aside.kind]), { ...aside, leadId, hadRow });
  }
  return [...found].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, one]) => one);
}

function isInNoRow(scan: LiveScan, leadId: string, kind: Aside['kind']): boolean {
  if (scan.isPair(leadId)) return scan.missed(leadId).row && scan.merged(leadId) === null;
  return !scan.hasRow(leadId) && (kind === 'table' || scan.hasLead(leadId));
}
