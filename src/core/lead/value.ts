/** What a field holds on either side. Absent, null and empty text are all `null` ("none"). */
export type Value = string | null;

/**
 * A value that is there but cannot be understood, such as "next Tuesday" in a date column. Never written anywhere. `why`,
 * for the message: a formula, an error that a formula or an import left, a cell that a merge covers, or one of a row with
 * more cells than there are headings; absent: a text.
 */
export interface Unreadable {
  readonly unreadable: string;
  readonly why?: 'formula' | 'error' | 'merged' | 'shifted';
}

export type Cell = Value | Unreadable;

/** Values by lead field name. */
export type Cells = Readonly<Record<string, Cell>>;
export type Values = Readonly<Record<string, Value>>;

export type FieldType = 'text' | 'instant';

export function isUnreadable(cell: Cell | undefined): cell is Unreadable {
  return typeof cell === 'object' && cell !== null;
}

/** Text that is in its canonical form as it is, as nearly all is. */
const plain = /^[\n -~]*$/;

/**
 * The form in which two values are compared: text in NFC with `\n` line ends, empty text as none. Instants are
 * already in one form when they are read (see instant.ts), so they compare as text.
 */
export function canonical(value: Value): Value {
  if (value === null || value === '') return null;
  if (plain.test(value)) return value;
  return value.normalize('NFC').replaceAll('\r\n', '\n').replaceAll('\r', '\n');
}

/** PostgreSQL stores neither NUL nor half a surrogate pair; a spreadsheet could not show them either. */
export function storable(text: string): string {
  if (plain.test(text)) return text;
  return text.toWellFormed().replaceAll('\0', '\uFFFD');
}

/** Whether two cells mean the same. Two unreadable cells are the same when their text is. */
export function sameCell(a: Cell, b: Cell): boolean {
  if (isUnreadable(a) || isUnreadable(b)) {
    return isUnreadable(a) && isUnreadable(b) && a.unreadable === b.unreadable;
  }
  return a === b || canonical(a) === canonical(b);
}

/** Whether two cells differ at most in spelling: case, spaces, or the fraction of a second. */
export function sameButSpelling(a: Cell, b: Cell): boolean {
  return sameCell(a, b) || (!isUnreadable(a) && !isUnreadable(b) && folded(a) === folded(b));
}

/** A text without case, double spaces and fractions of a second: what a service may change without meaning anything. */
export function folded(value: Value): string {
  const text = (value ?? '').normalize('NFKC').toLowerCase().replaceAll(/\s+/g, ' ').trim();
  return text.replace(/\.\d{3}z$/, '');
}

/** What a cell shows, whether it can be read or not. */
export function plainCell(cell: Cell): Value {
  return isUnreadable(cell) ? cell.unreadable : cell;
}

/** A cell as a person should see it in a message. */
export function showCell(cell: Cell): string {
  return cell === null ? '(empty)' : JSON.stringify(plainCell(cell));
}
