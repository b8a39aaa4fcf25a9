import { idKey, isLeadId, isUuid } from './lead-id.ts';

/** An id, or a whole record, that stands in a cell of the table that is not its own row's id cell. */
export interface Aside {
  /** By `idKey`; empty: a record without an id. */
  readonly leadId: string;
  /**
   * `note`: somewhere in a text. `record`: where a record has its id, in a line of several cells, if it is the id of a
   * lead at all. `table`: certainly, for every line is as wide as the table.
   */
  readonly kind: 'note' | 'record' | 'table';
  /** Where it stands, for messages: `lines 5 to 8`, `F7`. */
  readonly place: string;
}

/** What a table knows of its records. */
export interface RecordShape {
  /** The number of headings. */
  readonly width: number;
  /** The position of the id column. */
  readonly id: number;
}

type Found = Omit<Aside, 'place'>;

const uuids = /(?<![0-9a-f-])[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}(?![0-9a-f-])/gi;

const lineEnd = /\r\n|\r|\n/;

/** Whether a cell is worth `asidesIn`: most are not. */
export function mayShowOthers(text: string): boolean {
  if (text.includes('\t')) return true;
  if (text.length < uuidLength) return false;
  for (let at = text.indexOf('-'); at >= 0; at = text.indexOf('-', at + 1))
    if (text[at + 5] === '-' && text[at + 10] === '-' && text[at + 15] === '-') return true;
  return false;
}

const uuidLength = 36;

/** UUIDs in a text, each once, without the row's own. Other ids are too much like ordinary words and numbers. */
function notesIn(text: string, own: string | null): readonly Found[] {
  const ids = new Set(text.match(uuids)?.map((id) => id.toLowerCase()));
  if (own !== null) ids.delete(idKey(own));
  return [...ids].map((leadId) => ({ leadId, kind: 'note' }));
}

/**
 * Records of a table in lines of text: all lines of a record of a CSV file, as they stand in the file, or those of one
 * cell. `own`: the id of the row in which they stand; null: it has none; undefined: they stand in one cell of it.
 * The commas of prose have a blank after them, all of them: such lines are none.
 */
export function recordsIn(
  lines: readonly string[],
  delimiter: string,
  { width, id }: RecordShape,
  own: string | null | undefined,
): readonly Found[] {
  const cut = lines.map((line) => line.split(delimiter));
  const isTable = cut.every((cells) => cells.length === width);
  const found: Found[] = [];
  const hasContent = (cells: readonly string[]): boolean => cells.some((cell) => /[^\s"]/.test(cell));
  // The row itself is one of them, unless a text of several lines cuts its line, or that is blank: then a quotation mark there
  // joined the rows below to it.
  const [first = []] = cut;
  const isCounted = first.length === width || first.length <= id;
  let bare = own === null && isCounted && hasContent(first) ? -1 : 0;
  for (const cells of cut) {
    const shown = cells[id] ?? '';
    const others = cells.slice(1);
    if (others.every((cell) => /^ \S/.test(cell))) continue;
    // A quotation mark beside an id belongs to a text that ends or begins with it.
    const key = idKey(isTable ? shown.replaceAll('"', '') : shown);
    if (isLeadId(key) && !key.includes('"') && key !== own)
      found.push({ leadId: key, kind: isTable && isUuid(key) ? 'table' : 'record' });
    if (key === '' && cells.length === width && hasContent(cells)) bare += 1;
  }
  return bare > 0 ? [...found, { leadId: '', kind: 'table' }] : found;
}

/**
 * What one cell of a row shows of other rows: ids in its text, and rows that were pasted into it, with tabs between their cells.
 * `own`: the id of its row.
 */
export function asidesIn(text: string, shape: RecordShape, own: string | null): readonly Found[] {
  if (text.length === uuidLength && text === own) return [];
  const notes = notesIn(text, own);
  if (!text.includes('\t')) return notes;
  const records = recordsIn(text.split(lineEnd), '\t', shape, undefined);
  return [...notes, ...records.filter(({ leadId }) => leadId !== own)];
}
