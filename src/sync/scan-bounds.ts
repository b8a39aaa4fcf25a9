import { LeadsyncError } from '../errors.ts';

/** What a side may show before it counts as one that never ends: a scan has to fit on the disk. */
export interface ScanBounds {
  /** Bytes that one side's records take while they are compared, counted roughly. */
  readonly bytes: number;
  /** Pages of one scan without a single new lead: a filter may leave many pages empty. */
  readonly barrenPages: number;
}

/** Room for some million leads of the fields of the API reference. */
export const usualScanBounds: ScanBounds = { bytes: 4 * 1024 ** 3, barrenPages: 10_000 };

/** `leads.endless` or `target.endless`, retry never: one more try would do the same again. */
export function endless(side: 'leads' | 'target', why: string): LeadsyncError {
  const who = side === 'leads' ? 'the service' : 'the target';
  return new LeadsyncError(
    `${side}.endless`,
    `${who} seems to have no end: ${why}. Reading was given up, and nothing was changed`,
    { help: 'See what it shows; a smaller table or leads.query makes less of it.' },
  );
}
