import { LeadsyncError } from '../errors.ts';

/** The most that a side may show before it counts as endless: a scan has to fit on the disk. */
export interface ScanBounds {
  /** Bytes of one side's staged records, roughly. */
  readonly bytes: number;
  /** Pages of one scan without a new lead: a filter may leave many pages empty. */
  readonly barrenPages: number;
}

/** Room for some million leads with the fields of the API reference. */
export const usualScanBounds: ScanBounds = { bytes: 4 * 1024 ** 3, barrenPages: 10_000 };

/** `leads.endless` or `target.endless`; retry never: another attempt would end the same way. */
export function endless(side: 'leads' | 'target', why: string): LeadsyncError {
  const who = side === 'leads' ? 'the service' : 'the target';
  return new LeadsyncError(
    `${side}.endless`,
    `${who} seems to have no end: ${why}. Reading was stopped, and nothing was changed`,
    { help: 'Look at what it shows; a smaller table, or leads.query, reduces it.' },
  );
}
