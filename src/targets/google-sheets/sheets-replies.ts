import type { sheets_v4 } from '@googleapis/sheets';
import { z } from 'zod';
import type { Author } from '../../core/lead/author.ts';
import { visibleText } from '../../lib/visible-text.ts';
import { GoogleFault } from './google-fault.ts';

/** An unformatted cell. "" and null: empty. */
export type SheetCell = string | number | boolean | null;

const text = z.string().nullable().exactOptional();
const whole = z.number().int().nullable().exactOptional();
const truth = z.boolean().nullable().exactOptional();
const list = <T extends z.ZodType>(item: T) => z.array(item).exactOptional();

const range = z.looseObject({
  startRowIndex: whole,
  endRowIndex: whole,
  startColumnIndex: whole,
  endColumnIndex: whole,
});
const metadata = list(z.looseObject({ metadataId: whole, metadataKey: text, metadataValue: text }));
const numberFormat = z.looseObject({ type: text }).exactOptional();
const effectiveFormat = z.looseObject({ numberFormat }).exactOptional();
const cell = z.looseObject({ formattedValue: text, effectiveFormat });
const data = z.looseObject({
  startRow: whole,
  rowData: list(z.looseObject({ values: list(cell) })),
  columnMetadata: list(z.looseObject({ developerMetadata: metadata })),
});
const protectedRange = z.looseObject({
  range: range.exactOptional(),
  warningOnly: truth,
  requestingUserCanEdit: truth,
  unprotectedRanges: list(range),
});
const basicFilter = z.looseObject({ range: range.exactOptional(), tableId: text }).exactOptional();
const table = z.looseObject({
  tableId: text,
  range: range.exactOptional(),
  rowsProperties: z.looseObject({}).exactOptional(),
});
const gridProperties = z.looseObject({ rowCount: whole, columnCount: whole }).exactOptional();
const sheet = z.looseObject({
  properties: z.looseObject({ sheetId: whole, title: text, gridProperties }).exactOptional(),
  data: list(data),
  merges: list(range),
  developerMetadata: metadata,
  protectedRanges: list(protectedRange),
  basicFilter,
  tables: list(table),
});

/** The parts of a description that are used; others pass through. */
const spreadsheetSchema = z.looseObject({
  properties: z.looseObject({ timeZone: text, locale: text }).exactOptional(),
  sheets: list(sheet),
});

/** Throws `target.unavailable` (now) for a proxy's page or half a reply. */
export function parseSpreadsheet(data: unknown): sheets_v4.Schema$Spreadsheet {
  const parsed = spreadsheetSchema.safeParse(data);
  if (!parsed.success) throw senseless();
  return parsed.data;
}

/** One grid per requested range, ragged; throws as above. */
export function parseValueRanges(data: unknown, count: number): SheetCell[][][] {
  const parsed = z
    .object({ valueRanges: z.array(z.object({ values: z.unknown().optional() })) })
    .safeParse(data);
  if (!parsed.success || parsed.data.valueRanges.length !== count) throw senseless();
  return parsed.data.valueRanges.map(({ values = [] }) => {
    if (!isGrid(values)) throw senseless();
    return values;
  });
}

/** Throws as above when a write's reply is not Google's: its effect is then unknown. */
export function checkWriteReply(data: unknown): void {
  if (!z.looseObject({}).safeParse(data).success) throw senseless();
}

/** Null: unknown. */
export interface FileState {
  readonly trashed: boolean | null;
  readonly canEdit: boolean | null;
  readonly author: Author | null;
}

export const unknownState: FileState = { trashed: null, canEdit: null, author: null };

export function parseFileState(data: unknown): FileState {
  const trashed = z.object({ trashed: z.boolean() }).safeParse(data).data?.trashed ?? null;
  const capabilities = z.object({ capabilities: z.object({ canEdit: z.boolean() }) }).safeParse(data);
  return { trashed, canEdit: capabilities.data?.capabilities.canEdit ?? null, author: lastAuthor(data) };
}

const lastChange = z.object({
  modifiedTime: z.iso.datetime().nullish().catch(null),
  lastModifyingUser: z.object({
    me: z.boolean().nullish(),
    displayName: z.string().nullish(),
    emailAddress: z.string().nullish(),
  }),
});

function lastAuthor(data: unknown): Author | null {
  const { data: last } = lastChange.safeParse(data);
  if (last === undefined || last.lastModifyingUser.me === true) return null;
  const { displayName, emailAddress } = last.lastModifyingUser;
  const by = visibleText(displayName || emailAddress || '', 100);
  return by === '' ? null : { of: 'file', place: 'Google Drive', by, at: last.modifiedTime ?? null };
}

/** By hand, without copying: a tab has a million cells. */
function isGrid(values: unknown): values is SheetCell[][] {
  return Array.isArray(values) && values.every((row) => Array.isArray(row) && row.every(isCell));
}

function isCell(value: unknown): value is SheetCell {
  return (
    value === null || typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
  );
}

/** A reply that lacks what Google's has; now. */
export function senseless(): GoogleFault {
  return new GoogleFault('target.unavailable', 'The reply did not come from Google Sheets', {
    retry: 'now',
    status: 200,
    help: 'If this persists, check for a proxy or sign-in page between this machine and Google.',
  });
}
