import { readableFingerprint } from '../lead/content-hash.ts';
import type { Values } from '../lead/value.ts';
import type { HeldField, Sight } from './difference.ts';
import type { LiveScan } from './live-scan.ts';

/** What is stored of a pair beside what a scan compares. */
export interface PairFacts {
  readonly base: Values | null;
  readonly leadAbsences: number;
  readonly rowAbsences: number;
  readonly isCounted: boolean;
  readonly absentSince: number | null;
  readonly deletionDone: boolean;
}

/** What a scan shows of a lead id. `facts`: of a pair. */
export function sightOf(
  scan: LiveScan,
  leadId: string,
  facts: PairFacts | undefined,
  held: readonly HeldField[],
): Sight {
  const isPaused = scan.isPaused(leadId);
  const [lead, row] = [isPaused ? null : scan.lead(leadId), scan.row(leadId)];
  const isSame = isEqual(scan, lead, row);
  return {
    leadId,
    isKnown: facts !== undefined,
    base: facts?.base ?? null,
    isSame,
    lead: isSame ? null : lead,
    row: isSame ? null : (row?.cells ?? null),
    rowNumber: placeOf(scan, leadId),
    missed: scan.missed(leadId),
    leadAbsences: facts?.leadAbsences ?? 0,
    rowAbsences: facts?.rowAbsences ?? 0,
    isCounted: facts?.isCounted ?? false,
    absentSince: facts?.absentSince ?? null,
    deletionDone: facts?.deletionDone ?? false,
    merged: scan.merged(leadId),
    asked: scan.asked(leadId),
    held,
    isCopied: scan.rows.isCopied(leadId),
    ...(isPaused && { isPaused }),
  };
}

/** Where the row of a lead is, or was last; null: nowhere. */
export function placeOf(scan: LiveScan, leadId: string): number | null {
  return scan.row(leadId)?.row ?? scan.base.row(scan.base.find(leadId));
}

/** Whether both sides show something that is not the baseline, and the same. */
export function isEqual(
  { base }: LiveScan,
  lead: ReturnType<LiveScan['lead']>,
  row: ReturnType<LiveScan['row']>,
): boolean {
  if (lead === null || row === null || row.hash === null) return false;
  return readableFingerprint(lead, base.fields) === row.hash;
}
