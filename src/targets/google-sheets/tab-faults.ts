import { LeadsyncError } from '../../lib/errors.ts';

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

export function trashedFault(name: string): LeadsyncError {
  return new LeadsyncError('target.trashed', `${name} is in the trash. Nothing was read or written.`, {
    help: 'Take it out of the trash in Google Drive, or set the id of another spreadsheet.',
  });
}

/** `original`: the spreadsheet that the tab's records name. */
export function copiedFault(name: string, original: string): LeadsyncError {
  return new LeadsyncError(
    'target.copied',
    `${name} is a copy of a spreadsheet that leadsync syncs (${original}). Nothing was read or written.`,
    { help: 'To sync the copy from now on, run leadsync check --fix. Otherwise set the id of the original.' },
  );
}

export function renamedFault(name: string, tab: string, title: string): LeadsyncError {
  const now = JSON.stringify(title);
  return new LeadsyncError(
    'target.tab-renamed',
    `${name} has no tab ${JSON.stringify(tab)} any more; its content is in the tab ${now}. Nothing was read or written.`,
    { help: `Rename it back, or set ${now} as the tab in the configuration.` },
  );
}
