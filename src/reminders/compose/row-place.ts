import { basename } from 'node:path';
import { isSharingLink } from '../../config/addresses.ts';
import type { ConnectionConfig } from '../../config/config.ts';
import { oneLine } from './shown-text.ts';

export interface RowPlace {
  readonly target: string;
  readonly url?: string;
  readonly number: number | null;
  /** A database's table. */
  readonly isTable?: true;
}

const maxTarget = 200;

/** `row`: in HubSpot the record id. */
export function rowPlace(target: ConnectionConfig['target'], row: number | null): RowPlace {
  switch (target.type) {
    case 'workbook':
      return isSharingLink(target.path)
        ? { target: 'Excel', url: target.path, number: row }
        : { target: basename(target.path), number: row };
    case 'google-sheets':
      return {
        target: target.tab,
        url: `https://docs.google.com/spreadsheets/d/${target.spreadsheetId}/edit`,
        number: row,
      };
    case 'hubspot': {
      if (target.portal === undefined || row === null) return { target: 'HubSpot', number: null };
      const url = `https://app.hubspot.com/contacts/${target.portal}/record/0-2/${row}`;
      return { target: 'HubSpot', url, number: null };
    }
    case 'postgres-table':
      return { target: target.table, number: null, isTable: true };
    default:
      return target satisfies never;
  }
}

export function rowView({ target, url, number, isTable }: RowPlace) {
  return { target: oneLine(target, maxTarget), url: url ?? '', number, isTable: isTable ?? false };
}
