/** What a field holds on either side. Absent, null and empty text are all `null` ("none"). */
export type Value = string | null;

/**
 * A value that is present but cannot be understood, such as "next Tuesday" in a date column. Never written anywhere.
 * `why` selects the message: a formula, an error value, a cell covered by a merge, a row with more cells than headings, a
 * time that the clocks skip, a record with too much text, or a word that the field's `words` lack; absent: a text.
 */
export interface Unreadable {
  readonly unreadable: string;
  readonly why?: 'formula' | 'error' | 'merged' | 'shifted' | 'skipped' | 'large' | 'unmapped';
}

export type Cell = Value | Unreadable;

/** Values by lead field name. */
export type Cells = Readonly<Record<string, Cell>>;
export type Values = Readonly<Record<string, Value>>;

export const fieldTypes = ['text', 'instant'] as const;
export type FieldType = (typeof fieldTypes)[number];

export function isUnreadable(cell: Cell | undefined): cell is Unreadable {
  return typeof cell === 'object' && cell !== null;
}

/** The cells that can be written. */
export function readable(cells: Cells): Values {
  const entries = Object.entries(cells).filter((entry): entry is [string, Value] => !isUnreadable(entry[1]));
  return Object.fromEntries(entries);
}

/** Fast path: text that is already canonical. */
const plain = /^[\n -~]*$/;

/** The form in which values are compared: NFC, line feeds, empty text as none. Instants are canonical when read. */
export function canonical(value: Value): Value {
  if (value === null || value === '') return null;
  if (plain.test(value)) return value;
  return value.normalize('NFC').replaceAll('\r\n', '\n').replaceAll('\r', '\n');
}

/** PostgreSQL stores neither NUL nor lone surrogates; spreadsheets cannot display them either. */
export function storable(text: string): string {
  if (plain.test(text)) return text;
  return text.toWellFormed().replaceAll('\0', '\uFFFD');
}

/** Whether two cells mean the same. Unreadable cells are the same when their text is. */
export function sameCell(a: Cell, b: Cell): boolean {
  if (isUnreadable(a) || isUnreadable(b)) {
    return isUnreadable(a) && isUnreadable(b) && a.unreadable === b.unreadable;
  }
  return a === b || canonical(a) === canonical(b);
}

/** Whether two cells differ at most in spelling: case, spaces, or fractions of a second. */
export function sameButSpelling(a: Cell, b: Cell): boolean {
  return sameCell(a, b) || (!isUnreadable(a) && !isUnreadable(b) && folded(a) === folded(b));
}

/** A text without what a service may change without meaning anything: case, double spaces, fractions of a second. */
export function folded(value: Value): string {
  const text = (value ?? '').normalize('NFKC').toLowerCase().replaceAll(/\s+/g, ' ').trim();
  return text.replace(/\.\d{3}z$/, '');
}

/** What a cell shows, readable or not. */
export function plainCell(cell: Cell): Value {
  return isUnreadable(cell) ? cell.unreadable : cell;
}

/** What each of them shows; undefined stays so. */
export function plainCells(
  cells: Readonly<Record<string, Cell | undefined>>,
): Readonly<Record<string, Value | undefined>> {
  return Object.fromEntries(
    Object.entries(cells).map(([name, cell]) => [name, cell === undefined ? undefined : plainCell(cell)]),
  );
}

/** A cell, for messages. */
export function showCell(cell: Cell): string {
  return cell === null ? '(empty)' : JSON.stringify(plainCell(cell));
}

export function withoutFields(values: Values, fields: ReadonlySet<string>): Values {
  if (fields.size === 0) return values;
  return Object.fromEntries(Object.entries(values).filter(([field]) => !fields.has(field)));
}

/** The canonical JSON text of a value: equal for equal values. */
export function canonicalJson(cell: Cell): string {
  return JSON.stringify(typeof cell === 'object' && cell !== null ? [cell.unreadable] : canonical(cell));
}
