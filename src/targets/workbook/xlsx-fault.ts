import { LeadsyncError } from '../../errors.ts';

/** Makes the error for what is wrong with a workbook: a sentence that goes on after the file's name, and what helps. */
export type XlsxFault = (what: string, help?: string, cause?: unknown) => LeadsyncError;

const saveAgain =
  'Open it in Excel or LibreOffice and save it as "Excel workbook (.xlsx)"; or take back an older version.';

/** Faults of one workbook: `target.unreadable`, never repeated without a change by a person. */
export function xlsxFaults(name: string): XlsxFault {
  return (what, help = saveAgain, cause) =>
    new LeadsyncError('target.unreadable', `${name} ${what}. Nothing was written.`, { help, cause });
}
