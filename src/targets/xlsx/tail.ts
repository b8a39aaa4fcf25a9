import { mostRows, readRange } from './cell-reference.ts';
import type { SheetCell, SheetRow } from './rows.ts';
import { columnLetters } from '../shared/cell-name.ts';
import { ownedColumns } from '../shared/columns.ts';
import { type CellRange, contains } from '../shared/table-range.ts';
import { type Splice, splice } from '../file/splice.ts';
import { textBehind, type XlsxSheet } from './sheet.ts';
import { attribute, attributePlace, escapeXml } from './xml.ts';

/** Where a new row goes: into an empty existing one (`place`), or as a new element before byte `at`. */
interface FreeRow {
  readonly row: number;
  readonly place: SheetRow | null;
  readonly at: number;
}

export class FreeRows {
  readonly #wanted: number;
  #last = 0;
  #rows: number[] = [];
  #starts: number[] = [];
  #empty = new Map<number, SheetRow>();

  constructor(wanted: number) {
    this.#wanted = wanted;
  }

  get last(): number {
    return this.#last;
  }

  /** A row with data: free rows above it do not count. */
  restart(row: number): void {
    this.#last = row;
    if (this.#rows.length === 0) return;
    this.#rows = [];
    this.#starts = [];
    this.#empty = new Map();
  }

  see(row: SheetRow, empty: boolean): void {
    this.#rows.push(row.row);
    this.#starts.push(row.start);
    if (empty && this.#empty.size < this.#wanted) this.#empty.set(row.row, row);
  }

  /** The first ones below the data. `isBlocked`: whether an empty row may not be used; `end`: byte at which rows end. */
  *take(isBlocked: (row: number) => boolean, end: number): Generator<FreeRow> {
    let next = 0;
    for (let row = this.#last + 1; row <= mostRows; row++) {
      while (next < this.#rows.length && (this.#rows[next] ?? 0) < row) next++;
      const known = this.#rows[next] === row;
      const place = this.#empty.get(row) ?? null;
      if ((known && place === null) || isBlocked(row)) continue;
      yield { row, place, at: this.#starts[next] ?? end };
    }
  }
}

const references = /(?<![!\w])\$?[A-Z]{1,3}\$?(\d{1,7})\b/g;
/** Raw, in a formula: a text, the name of a sheet, of a column of a table, or of a function. */
const words = /(?:"[^"]*"|&quot;.*?&quot;|'[^']*'|&apos;.*?&apos;|\[[^\]]*\]|[\w.]+[(!])/s.source;
/** A range of cells, or one cell, of the same sheet; or words, which may look like one. */
const places = new RegExp(
  `${words}|(?<![!\\w$:])(\\$?[A-Z]{1,3}\\$?)(\\d{1,7})(?::(\\$?[A-Z]{1,3}\\$?)(\\d{1,7}))?\\b`,
  'gs',
);

/** More rows stay where they are. */
const longestTail = 1_000;

/** What a row below the table is: sums of it, a note, anything else that people typed, or free for a new row. */
export type TailKind = 'sums' | 'note' | 'other' | 'free';

/** Where the rows below the table go: `shift` rows further down, from `first` on. */
export interface MovedTail {
  readonly first: number;
  readonly shift: number;
  readonly rows: readonly SheetRow[];
}

/** Sums and notes below the table, which new rows push down, as an inserted row does. What anything refers to, or is attached to, stays. */
export class Tail {
  readonly #stays: (row: SheetRow, kind: TailKind) => void;
  readonly #named: readonly string[];
  #rows: { readonly row: SheetRow; readonly kind: TailKind }[] = [];
  #isLong = false;
  /** The rows further down to which formulas above the tail refer; those to which the tail's own do. */
  readonly #referred = new Set<number>();
  #own: number[] = [];

  /** `stays`: takes each row of a tail that does not move, in order. */
  constructor(sheetName: string, stays: (row: SheetRow, kind: TailKind) => void) {
    this.#stays = stays;
    this.#named = ownNames(sheetName);
  }

  /** A row of the table: what stood above it is no tail. */
  clear(row: SheetRow): void {
    for (const one of this.#own) this.#referred.add(one);
    this.#heed(row);
    [this.#rows, this.#own, this.#isLong] = [[], [], false];
  }

  see(row: SheetRow, kind: TailKind): void {
    if (this.#isLong || (kind === 'free' && this.#rows.length === 0)) {
      this.#heed(row);
      return this.#stays(row, kind);
    }
    this.#rows.push({ row, kind });
    this.#own.push(...referredBelow(row, this.#named));
    if (this.#rows.length <= longestTail) return;
    this.#isLong = true;
    this.#stay();
  }

  /** After all rows. `last`: of the table; `count`: of new rows; `written`: rows that are changed. Null: nothing moves. */
  async moved(
    sheet: XlsxSheet,
    last: number,
    count: number,
    written: ReadonlySet<number>,
  ): Promise<MovedTail | null> {
    const rows = this.#rows.map(({ row }) => row);
    const [first = 0, end = 0] = [rows[0]?.row, rows.at(-1)?.row];
    const isNear = first - last <= count + 1 || this.#rows.some(({ kind }) => kind === 'sums');
    const mayMove =
      rows.length > 0 &&
      count > 0 &&
      isNear &&
      end + count <= mostRows &&
      ![...this.#referred].some((row) => row >= first) &&
      !rows.some(
        ({ row, cells }) => written.has(row) || cells.some((cell) => !canFollow(cell, this.#named)),
      ) &&
      isWithinTable(rows, sheet) &&
      !attached(sheet).some((range) => range.bottom >= first && range.top <= end) &&
      !(await isNamed(sheet.book, first, end)) &&
      !(await isRuled(sheet.book, this.#named, first, end));
    if (mayMove) return { first, shift: count, rows };
    this.#stay();
    return null;
  }

  #heed(row: SheetRow): void {
    for (const one of referredBelow(row, this.#named)) this.#referred.add(one);
  }

  #stay(): void {
    for (const { row, kind } of this.#rows) this.#stays(row, kind);
    this.#rows = [];
  }
}

/** How formulas name their own sheet, raw. */
function ownNames(sheetName: string): readonly string[] {
  const quoted = `'${sheetName.replaceAll("'", "''")}'!`;
  return [quoted, `${sheetName}!`].map((name) => Buffer.from(escapeXml(name), 'utf8').toString('latin1'));
}

/** Whether a formula keeps its meaning further down: it has a text of its own, in which the sheet is not named. */
function canFollow({ formula }: SheetCell, named: readonly string[]): boolean {
  return formula === null || (formula !== '' && !named.some((name) => formula.includes(name)));
}

function referredBelow({ row, cells }: SheetRow, named: readonly string[]): number[] {
  return cells.flatMap(({ formula }) =>
    formula === null ? [] : rowsReferred(formula, named).filter((found) => found > row),
  );
}

/** The rows of this sheet to which a formula refers. */
function rowsReferred(formula: string, named: readonly string[]): number[] {
  const local = named.reduce((text, name) => text.replaceAll(name, ''), formula);
  return Array.from(local.matchAll(references), ([, found]) => Number(found));
}

/** Whether all that people typed into the rows is below headings that adjoin ours: something beside the table would be torn apart. */
function isWithinTable(rows: readonly SheetRow[], { header, columns }: XlsxSheet): boolean {
  const owned = [...ownedColumns(columns)];
  const headed = new Set(header.cells.flatMap(({ column, raw }) => (raw === '' ? [] : [column])));
  let [left, right] = [Math.min(...owned), Math.max(...owned)];
  while (headed.has(left - 1)) left--;
  while (headed.has(right + 1)) right++;
  const isWithin = ({ column, raw, formula }: SheetCell): boolean =>
    raw === '' || formula !== null || (column >= left && column <= right);
  return rows.every(({ cells }) => cells.every(isWithin));
}

/** What the rows of a sheet hold besides their cells. */
function attached({ layout, tables, header, columns }: XlsxSheet): readonly CellRange[] {
  const others = tables.filter(({ range }) => !contains(range, header.row, columns.id));
  return [...layout.merged, ...layout.filled, ...layout.linked, ...others.map(({ range }) => range)];
}

/** Whether another part of the workbook, or a comment, refers to a cell of those rows. */
async function isNamed(
  { pack, sheet, workbook, sheetParts }: XlsxSheet['book'],
  first: number,
  last: number,
): Promise<boolean> {
  const named = /!\$?[A-Z]{1,3}\$?(\d{1,7})(?::\$?[A-Z]{1,3}\$?(\d{1,7}))?\b/g;
  const commented = /<(?:\w+:)?comment\s[^<>]*?ref\s*=\s*["'][A-Z]{1,3}(\d{1,7})["']/g;
  const related = [...(await pack.relationships(sheet.name)).values()];
  const comments = related.flatMap(({ type, part }) => (type.endsWith('/comments') ? [part] : []));
  for (const part of [workbook.name, ...sheetParts, ...comments]) {
    const entry = pack.find(part);
    if (entry === null || entry === sheet) continue;
    const reference = comments.includes(part) ? commented : named;
    for await (const text of pack.texts(entry))
      for (const [, top, bottom] of text.matchAll(reference))
        if ([top, bottom].some((row) => Number(row) >= first && Number(row) <= last)) return true;
  }
  return false;
}

/** Whether a format, a check of entries or a small chart of the sheet begins in those rows, or reads them. */
async function isRuled(
  book: XlsxSheet['book'],
  named: readonly string[],
  first: number,
  last: number,
): Promise<boolean> {
  const isThere = (row: number): boolean => row >= first && row <= last;
  const behind = await textBehind(book);
  const areas = Array.from(behind.matchAll(/sqref\s*=\s*["']([^"']+)["']/g), ([, ref = '']) =>
    ref.split(/\s+/),
  );
  return (
    areas.flat().some((ref) => isThere(readRange(ref)?.top ?? 0)) ||
    Array.from(behind.matchAll(/>([^<>]+)</g), ([, formula = '']) => rowsReferred(formula, named))
      .flat()
      .some(isThere)
  );
}

/** The list of cells in which programs calculate them, with the moved ones: a cell there without a formula counts as damage. */
export async function movedInChain(
  { pack, calcChain, sheetId }: XlsxSheet['book'],
  { rows, shift }: MovedTail,
): Promise<readonly { readonly part: string; readonly splices: readonly Splice[] }[]> {
  const entry = calcChain === null ? null : pack.find(calcChain);
  if (entry === null) return [];
  const moved = new Set(rows.map(({ row }) => row));
  const splices = await pack.parse(entry, (elements) => {
    // Cells of the same sheet as the one before need not repeat it.
    let sheet: string | null = null;
    return elements.flatMap((element) => {
      if (element.local !== 'c') return [];
      sheet = attribute(element.attributes, 'i') ?? sheet;
      const place = attributePlace(element, 'r');
      const [, column, row] = /^([A-Z]+)(\d+)$/.exec(attribute(element.attributes, 'r') ?? '') ?? [];
      if (place === null || sheet !== sheetId || !moved.has(Number(row))) return [];
      return [splice(place.start, place.end, `${column}${Number(row) + shift}`)];
    });
  });
  return [{ part: entry.name, splices }];
}

/** The rows' XML further down; what they sum of the table grows to the new last row. `last`: of the table before. */
export function movedTail({ rows, first, shift }: MovedTail, last: number, prefix: string): string {
  return rows.map((row) => movedRow(row, row.row + shift, last, first, prefix)).join('');
}

function movedRow(row: SheetRow, to: number, last: number, first: number, prefix: string): string {
  const shift = to - row.row;
  const moved = (from: string): string => String(Number(from) >= first ? Number(from) + shift : from);
  const follow = (formula: string): string =>
    formula.replaceAll(
      places,
      (whole: string, left: string | undefined, top: string, right?: string, bottom?: string) => {
        if (left === undefined) return whole;
        if (right === undefined || bottom === undefined) return left + moved(top);
        const grown =
          Number(bottom) >= last && Number(bottom) < row.row ? String(Number(bottom) + shift) : bottom;
        return `${left}${moved(top)}:${right}${Number(bottom) < first ? grown : moved(bottom)}`;
      },
    );
  const cells = row.cells.map(({ column, attributes, formula, raw, type }) => {
    const f = formula === null ? '' : `<${prefix}f>${follow(formula)}</${prefix}f>`;
    const text = `<${prefix}is><${prefix}t xml:space="preserve">${raw}</${prefix}t></${prefix}is>`;
    const v = raw === '' ? '' : type === 'inlineStr' ? text : `<${prefix}v>${raw}</${prefix}v>`;
    return `<${prefix}c${renamed(attributes, `${columnLetters(column)}${to}`)}>${f}${v}</${prefix}c>`;
  });
  const open = `<${prefix}row${renamed(row.attributes, String(to))}`;
  const xml = cells.length === 0 ? `${open}/>` : `${open}>${cells.join('')}</${prefix}row>`;
  return Buffer.from(xml, 'latin1').toString('utf8');
}

function renamed(attributes: string, name: string): string {
  const place = attributePlace({ attributes, attributesStart: 0 }, 'r');
  return place === null
    ? `${attributes} r="${name}"`
    : attributes.slice(0, place.start) + name + attributes.slice(place.end);
}
