import { LeadsyncError } from '../../errors.ts';

/** The service has refused a request: as it is, it can never be done. */
export function isRefused(error: unknown): boolean {
  return error instanceof LeadsyncError && error.code === 'target.refused';
}

export function changed(name: string, cause?: unknown): LeadsyncError {
  return new LeadsyncError(
    'target.changed',
    `Somebody moved rows, columns or the whole tab of ${name} while it was read. Nothing was written.`,
    { retry: 'now', cause },
  );
}

/** `what`: that there is no room for; `refused`: what the service said. */
export function fullFault(name: string, what: string, refused: LeadsyncError): LeadsyncError {
  return new LeadsyncError(
    'target.full',
    `${name} has no room for ${what}; nothing of that was written. ${refused.message}`,
    {
      help: 'Delete empty rows and columns (empty cells count), in the other tabs too, or move old rows to another spreadsheet.',
      cause: refused,
    },
  );
}

export function trashedFault(name: string): LeadsyncError {
  return new LeadsyncError('target.trashed', `${name} lies in the trash. Nothing was read or written.`, {
    help: 'Take it out of the trash in Google Drive, or set the id of another spreadsheet.',
  });
}

/** `original`: the spreadsheet that the records of the tab name. */
export function copiedFault(name: string, original: string): LeadsyncError {
  return new LeadsyncError(
    'target.copied',
    `${name} is a copy of a spreadsheet that leadsync keeps (${original}). Nothing was read or written.`,
    { help: 'If the copy is to be kept from now on: leadsync check --fix. Else set the id of the original.' },
  );
}

export function renamedFault(name: string, tab: string, title: string): LeadsyncError {
  const now = JSON.stringify(title);
  return new LeadsyncError(
    'target.tab-renamed',
    `${name} has no tab ${JSON.stringify(tab)} any more; what was in it is in the tab ${now}. Nothing was read or written.`,
    { help: `Rename it back, or set ${now} as the tab in the configuration.` },
  );
}
