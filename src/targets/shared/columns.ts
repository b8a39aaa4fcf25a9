import { distance } from 'fastest-levenshtein';
import { LeadsyncError } from '../../lib/errors.ts';
import { counted } from '../../core/lead/wording.ts';
import { type FieldMapping, headingKey, type Headings, type Words } from '../../core/lead/mapping.ts';
import type { FieldType, Value } from '../../core/lead/value.ts';
import type { MissingColumn } from '../../ports/target.ts';

export interface ColumnMapping {
  readonly fields: readonly FieldMapping[];
  readonly idColumn: string;
  readonly statusColumn?: string;
  readonly pauseColumn?: string;
}

interface FieldColumn {
  readonly index: number;
  readonly type: FieldType;
  readonly words?: Words | undefined;
}

/** Positions are 0-based. */
export interface Columns {
  readonly id: number;
  /** Null: no status column, or two. */
  readonly status: number | null;
  /** A person's own, which is never written. Null: not configured. */
  readonly pause: number | null;
  /** By lead field; only columns found exactly once. */
  readonly fields: ReadonlyMap<string, FieldColumn>;
  readonly missing: readonly MissingColumn[];
  /** As configured. */
  readonly headings: Headings;
}

/**
 * Finds the mapped columns by heading, in any order: NFC and trimmed, exact matches first, then by `headingKey`. A field
 * whose column is missing or duplicated is listed in `missing` and left alone. `free`: the cell for the heading of the id
 * column, null: headings are no cells; `where` begins the message when no heading is known. @throws LeadsyncError `target.header-missing` when no heading is known, `target.id-column-missing`
 * when the id column is missing or duplicated, `target.pause-column-missing` likewise.
 */
export function locateColumns(
  headings: readonly string[],
  mapping: ColumnMapping,
  name: string,
  free: string | null = null,
  where = 'The first row',
): Columns {
  const positions = findAll(headings, headingsOf(mapping));
  if ([...positions.values()].every((found) => found.length === 0))
    throw headerMissing(headings, mapping, `${where} of ${name}`);

  const [id, secondId] = positions.get(mapping.idColumn) ?? [];
  if (id === undefined || secondId !== undefined)
    throw idColumnMissing(headings, id !== undefined, mapping, name, free);

  const fields = new Map<string, FieldColumn>();
  const missing: MissingColumn[] = [];
  for (const { field, column, type, words } of mapping.fields) {
    const [index, second] = positions.get(column) ?? [];
    const isDoubled = second !== undefined;
    if (index === undefined || isDoubled)
      missing.push({
        field,
        message: missingMessage({ field, column, type }, isDoubled, nearest(headings, column, mapping), name),
        isDoubled,
      });
    else fields.set(field, { index, type, words });
  }
  const [status = null, secondStatus] = positions.get(mapping.statusColumn ?? '') ?? [];
  const [pause = null, secondPause] = positions.get(mapping.pauseColumn ?? '') ?? [];
  if (mapping.pauseColumn !== undefined && (pause === null || secondPause !== undefined))
    throw pauseColumnMissing(headings, pause !== null, mapping, name);
  return {
    id,
    pause,
    status: secondStatus === undefined ? status : null,
    fields,
    missing,
    headings: mapping.fields,
  };
}

/** The positions of the id, the status and the mapped fields. */
export function ownedColumns({ id, status, fields }: Columns): ReadonlySet<number> {
  const indexes = [...fields.values()].map(({ index }) => index);
  return new Set([id, ...indexes, ...(status === null ? [] : [status])]);
}

/** With that of the pauses: all that is read. */
export function readColumns(columns: Columns): ReadonlySet<number> {
  return new Set([...ownedColumns(columns), ...(columns.pause === null ? [] : [columns.pause])]);
}

/** `TargetRow.status`: empty text for an empty cell, null without a single status column. */
export function shownStatus(columns: Columns, status: Value): string | null {
  return columns.status === null ? null : (status ?? '');
}

/** Headings of a new target, in mapping order. */
export function headingsOf({ idColumn, fields, statusColumn, pauseColumn }: ColumnMapping): string[] {
  return [idColumn, ...fields.map((field) => field.column), statusColumn ?? [], pauseColumn ?? []].flat();
}

/** The position of the last one that is not blank; -1: none. */
export function lastHeading(headings: readonly string[]): number {
  return headings.findLastIndex((heading) => heading.trim() !== '');
}

/** Rows searched for headings: titles and notes may come first. */
export const headingRows = 20;

/** The index of the row that has the headings: the id column, else another mapped one, else the first that is not empty. */
export function headingsAmong(rows: readonly (readonly string[])[], mapping: ColumnMapping): number {
  const ranks = rows.map((texts) => headingRank(texts, mapping));
  const isFilled = (texts: readonly string[]): boolean => texts.some((text) => text.trim() !== '');
  const found = [ranks.indexOf(2), ranks.indexOf(1), rows.findIndex(isFilled)];
  return found.find((at) => at >= 0) ?? 0;
}

/** How well a row serves as headings: 2 with the id column, 1 with another mapped heading, else 0. */
export function headingRank(texts: readonly string[], mapping: ColumnMapping): 0 | 1 | 2 {
  const shown = new Set(texts.map(headingKey));
  const has = (heading: string) => heading !== '' && shown.has(headingKey(heading));
  if (has(mapping.idColumn)) return 2;
  return mapping.fields.some((field) => has(field.column)) ? 1 : 0;
}

/** All positions of each heading. An exact match is not given to another heading. */
function findAll(headings: readonly string[], wanted: readonly string[]): Map<string, readonly number[]> {
  const found = new Map<string, readonly number[]>();
  const taken = new Set<number>();
  for (const keyOf of [normalized, headingKey]) {
    const keys = headings.map(keyOf);
    for (const heading of wanted) {
      if ((found.get(heading)?.length ?? 0) > 0) continue;
      const positions = [...keys.keys()].filter((at) => keys[at] === keyOf(heading) && !taken.has(at));
      for (const position of positions) taken.add(position);
      found.set(heading, positions);
    }
  }
  return found;
}

function normalized(heading: string): string {
  return heading.normalize('NFC').trim();
}

/**
 * The heading that none is configured for and that may be meant; null: none is like it. `most`: the part of the letters that
 * may differ; the whole heading within another one counts as less than half.
 */
function nearest(
  headings: readonly string[],
  wanted: string,
  mapping: ColumnMapping,
  most = 0.5,
): string | null {
  const known = new Set(headingsOf(mapping).map(headingKey));
  const key = headingKey(wanted);
  const likely = headings.flatMap((heading) => {
    const other = headingKey(heading);
    if (other === '' || known.has(other)) return [];
    const isPart = Math.min(key.length, other.length) > 2 && (other.includes(key) || key.includes(other));
    const differs = distance(key, other) / Math.max(key.length, other.length);
    return (isPart && most >= 0.5) || differs <= most
      ? [{ heading: heading.replaceAll(/\s+/g, ' ').trim(), differs }]
      : [];
  });
  return likely.toSorted((a, b) => a.differs - b.differs)[0]?.heading ?? null;
}

/** Does not repeat the first row's content: it may be personal data. */
function headerMissing(headings: readonly string[], mapping: ColumnMapping, where: string): LeadsyncError {
  const filled = headings.filter((heading) => normalized(heading) !== '').length;
  if (filled === 0) return missingHeader(`${where} is empty.`, mapping);
  const none = filled === 1 ? 'which is not a mapped heading' : 'none of them a mapped heading';
  const near = headingsOf(mapping).flatMap((heading) => {
    const found = nearest(headings, heading, mapping, 0.34);
    return found === null ? [] : `${JSON.stringify(found)} for ${JSON.stringify(heading)}`;
  });
  const like = near.length === 0 ? '' : ` Nearly: ${near.join(', ')}.`;
  return missingHeader(`${where} has ${counted(filled, 'filled cell')}, ${none}.${like}`, mapping);
}

/** `target.header-missing`; `what`: one sentence. */
export function missingHeader(what: string, { idColumn, fields }: ColumnMapping): LeadsyncError {
  const headings = [idColumn, ...fields.map(({ column }) => column)].join(', ');
  return new LeadsyncError('target.header-missing', `${what} Nothing was changed.`, {
    help: `Put the headings into the first row: ${headings}.`,
  });
}

function idColumnMissing(
  headings: readonly string[],
  isDoubled: boolean,
  mapping: ColumnMapping,
  name: string,
  free: string | null,
): LeadsyncError {
  const column = JSON.stringify(mapping.idColumn);
  const near = nearest(headings, mapping.idColumn, mapping);
  const add =
    free === null
      ? `Add the column ${column}`
      : `Where there were none, write ${column} into ${free}, else back above the ids`;
  const line = near === null ? 'idColumn' : `idColumn: ${JSON.stringify(near)}`;
  const [what, help] = isDoubled
    ? ['two columns', 'Rename one of them.']
    : ['no column', `${add}; or name the column of the ids in leadsync.yaml, under target: ${line}`];
  const message = `${name} has ${what} headed ${column}. Nothing was changed.`;
  return new LeadsyncError('target.id-column-missing', message, { help });
}

/** Without it rows that are to be left alone would be written. */
function pauseColumnMissing(
  headings: readonly string[],
  isDoubled: boolean,
  mapping: ColumnMapping,
  name: string,
): LeadsyncError {
  const column = mapping.pauseColumn ?? '';
  const near = nearest(headings, column, mapping);
  const meant = near === null ? '' : ` (pauseColumn: ${JSON.stringify(near)}?)`;
  const [what, help] = isDoubled
    ? ['two columns', 'Rename one of them.']
    : ['no column', `Put the heading back above the pauses, or name it in leadsync.yaml${meant}.`];
  const message = `${name} has ${what} headed ${JSON.stringify(column)}, which says what rows are paused. Nothing was changed.`;
  return new LeadsyncError('target.pause-column-missing', message, { help });
}

function missingMessage(
  { field, column, type }: Pick<FieldMapping, 'field' | 'column' | 'type'>,
  isDoubled: boolean,
  near: string | null,
  name: string,
): string {
  const [what, until] = isDoubled
    ? ['more than one column', 'one of them is renamed']
    : ['no column', 'the column is back'];
  const message = `${name} has ${what} headed ${JSON.stringify(column)}; the field is left out until ${until}.`;
  if (near === null || isDoubled) return message;
  const line = `${field}: { column: ${JSON.stringify(near)}${type === 'text' ? '' : `, type: ${type}`} }`;
  return `${message} The nearest heading is ${JSON.stringify(near)}: if that is meant, put this line into leadsync.yaml, under fields: ${line}`;
}

/** Positions are 0-based. */
export interface NewColumn {
  readonly heading: string;
  readonly index: number;
}

/** After the last heading, in columns without any content: people write beside tables without headings. */
export function placeNewColumns(
  headings: readonly string[],
  isUsed: (index: number) => boolean,
  { fields }: ColumnMapping,
  wanted: ReadonlySet<string>,
): readonly NewColumn[] {
  const shown = new Set(headings.map(headingKey));
  const missing = fields.filter(({ field, column }) => wanted.has(field) && !shown.has(headingKey(column)));
  let index = lastHeading(headings);
  return missing.map(({ column }) => {
    do index++;
    while (isUsed(index));
    return { heading: column, index };
  });
}
