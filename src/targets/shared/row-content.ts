import { batchesBySize } from '../../core/lead/text-size.ts';
import type { FieldType, Value } from '../../core/lead/value.ts';
import type { RowChange, RowOutcome, TargetRow } from '../../ports/target.ts';
import { type Columns, ownedColumns, shownStatus } from './columns.ts';
import type { PresentRow, RowDecisions, RowWrite } from './row-changes.ts';

/** Content of one row by column position; null empties a cell. */
export type RowContent = ReadonlyMap<number, { readonly value: Value; readonly type: FieldType }>;

/** What a write, or a new row, puts into the columns. A removed row is emptied in our columns. */
export function contentOf(
  { leadId = null, values = {}, status = null, unlink = null, remove = false }: Partial<RowWrite<unknown>>,
  columns: Columns,
): RowContent {
  const content = new Map<number, { value: Value; type: FieldType }>();
  const put = (index: number, value: Value, type: FieldType = 'text') => content.set(index, { value, type });
  if (remove) for (const index of ownedColumns(columns)) put(index, null);
  if (unlink !== null) put(columns.id, null);
  if (leadId !== null) put(columns.id, leadId);
  if (status !== null && columns.status !== null) put(columns.status, status);
  for (const [field, { index, type }] of columns.fields)
    if (field in values) put(index, values[field] ?? null, type);
  return content;
}

/** A present row as the target shows it, at its position (1-based). */
export function targetRow(
  { place: _, status, ...rest }: PresentRow<unknown>,
  row: number,
  columns: Columns,
): TargetRow {
  return { row, ...rest, status: shownStatus(columns, status) };
}

/** Adds the position of each new row to its outcome; `rowOf` maps the index among the added rows to it. */
export function withPlaces(
  { outcomes, appends }: Pick<RowDecisions<unknown>, 'outcomes' | 'appends'>,
  changes: readonly RowChange[],
  rowOf: (index: number) => number | undefined,
): readonly RowOutcome[] {
  const rows = new Map(appends.map(({ leadId }, index) => [leadId.trim(), rowOf(index)]));
  return outcomes.map((outcome, index) => {
    const row = rows.get(changes[index]?.leadId?.trim() ?? '');
    return outcome.status === 'done' && row !== undefined ? { ...outcome, row } : outcome;
  });
}

/** Why a text file or a cell cannot hold a text and give it back unchanged, as a sentence; null when it can. */
export function notStorable(text: string, longest: number): string | null {
  if (text.includes('\0'))
    return 'The text contains a NUL character, which spreadsheet programs cannot read.';
  if (!text.isWellFormed())
    return 'The text contains half a character (a lone surrogate), which UTF-8 cannot hold.';
  if (text.length <= longest) return null;
  return `The text has ${text.length} characters; a cell holds at most ${longest}.`;
}

const rowsAtOnce = 1_000;

export async function* rowBatches(rows: Iterable<TargetRow>): AsyncGenerator<readonly TargetRow[]> {
  yield* batchesBySize(rows, () => rowsAtOnce);
}
