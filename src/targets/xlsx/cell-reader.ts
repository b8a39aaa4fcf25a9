import type { XlsxPackage } from './part.ts';
import { attribute, localName, unescapeCellText, XmlFault, xmlText } from './xml.ts';
import { generalNumber } from '../shared/cell-name.ts';
import { fieldKinds } from '../../core/lead/field-kinds.ts';
import type { Cell, FieldType } from '../../core/lead/value.ts';
import { type SheetCell, TextRuns } from './rows.ts';
import type { SerialClock } from '../shared/serial-clock.ts';

export type DateStyles = ReadonlySet<number>;

/** `part` null: none. */
export async function readDateStyles(pack: XlsxPackage, part: string | null): Promise<DateStyles> {
  const entry = part === null ? null : pack.find(part);
  if (entry === null) return new Set();
  return pack.parse(entry, (elements) => {
    const within = (list: string) => elements.filter(({ parent }) => parent?.local === list);
    const idOf = (attributes: string) => Number(attribute(attributes, 'numFmtId') ?? 0);
    const custom = new Map(
      within('numFmts').map(({ attributes }) => [
        idOf(attributes),
        isDateFormat(attribute(attributes, 'formatCode') ?? ''),
      ]),
    );
    const ids = within('cellXfs').map(({ attributes }) => idOf(attributes));
    return new Set(
      [...ids.keys()].filter((style) => {
        const id = ids[style] ?? 0;
        return custom.get(id) ?? isBuiltInDate(id);
      }),
    );
  });
}

/** ECMA-376 part 1, 18.8.30, with the East Asian formats. */
function isBuiltInDate(id: number): boolean {
  return (id >= 14 && id <= 22) || (id >= 27 && id <= 36) || (id >= 45 && id <= 47) || (id >= 50 && id <= 58);
}

export function isDateFormat(code: string): boolean {
  const [first = ''] = code
    .replaceAll(/"[^"]*"?|\\.|[_*]./gs, '')
    .replaceAll(/\[(?!(?:h+|m+|s+)\])[^\]]*\]/gi, '')
    .split(';');
  return !/general/i.test(first) && /[ymdhs]/i.test(first);
}

/** A small zip can hold enough empty ones to fill the memory. */
const mostStrings = 10_000_000;

/** The shared texts that cells refer to by number; packed as bytes: there can be a million. */
export class SharedStrings {
  #bytes = Buffer.alloc(64 * 1024);
  readonly #ends: number[] = [];

  add(raw: string): void {
    const start = this.#ends.at(-1) ?? 0;
    if (start + raw.length > this.#bytes.length) {
      const larger = Buffer.allocUnsafe(2 * (start + raw.length));
      this.#bytes.copy(larger, 0, 0, start);
      this.#bytes = larger;
    }
    const end = start + this.#bytes.write(raw, start, 'latin1');
    if (this.#ends.push(end) > mostStrings) throw new XmlFault('has too many texts');
  }

  /** @throws XmlFault when there is no such text */
  get(index: number): string {
    const end = this.#ends[index];
    if (end === undefined) throw new XmlFault('refers to a missing shared text');
    return unescapeCellText(xmlText(this.#bytes.toString('latin1', this.#ends[index - 1] ?? 0, end)));
  }
}

/** `part` null: none. */
export async function readSharedStrings(pack: XlsxPackage, part: string | null): Promise<SharedStrings> {
  const strings = new SharedStrings();
  const entry = part === null ? null : pack.find(part);
  if (entry === null) return strings;
  const collected = new TextRuns();
  await pack.scanStrings(entry, {
    open: (name) => collected.open(localName(name)),
    close: (name) => {
      const local = localName(name);
      collected.close(local);
      if (local === 'si') strings.add(collected.take());
    },
    text: (raw) => collected.text(raw),
  });
  return strings;
}

export type CellReader = ReturnType<typeof cellReader>;

/** Functions throw XmlFault for content that no program writes. */
export function cellReader(strings: SharedStrings, dates: DateStyles, clock: SerialClock) {
  /** The cell of a mapped column. Formulas and errors are unreadable: nothing is written over them. */
  function readCell(cell: SheetCell | undefined, type: FieldType): Cell {
    if (cell === undefined) return null;
    const { isMoment, read } = fieldKinds[type];
    if (isMoment && cell.type === 'n' && cell.formula === null && isDate(cell)) {
      const instant = cell.raw === '' ? null : clock.toInstant(Number(cell.raw));
      if (instant !== null) return instant;
    }
    const text = textOf(cell);
    if (cell.formula !== null) return { unreadable: showFormula(cell.formula, text), why: 'formula' };
    if (text === '') return null;
    if (cell.type === 'e') return { unreadable: text, why: 'error' };
    if (!isMoment) return read(text, clock.timeZone);
    if (cell.type === 'n' && isDate(cell) && clock.isSkipped(Number(cell.raw)))
      return { unreadable: text, why: 'skipped' };
    // A boolean, or a number that is no date: a guess could lose an edit.
    if (cell.type === 'n' || cell.type === 'b') return { unreadable: text };
    return read(text, clock.timeZone);
  }

  /** An id, which may come from a formula; or an error or a formula without a value, which must not be overwritten. */
  function readId(cell: SheetCell | undefined): { readonly id: string } | { readonly unreadable: string } {
    const text = textOf(cell).trim();
    if (cell === undefined || (cell.type !== 'e' && (cell.formula === null || text !== '')))
      return { id: text };
    return { unreadable: cell.formula === null ? text : showFormula(cell.formula, text) };
  }

  function textOf(cell: SheetCell | undefined): string {
    if (cell === undefined) return '';
    switch (cell.type) {
      case 's':
        return cell.raw === '' ? '' : strings.get(Number(cell.raw));
      case 'n':
        return numberText(cell);
      case 'b':
        return cell.raw === '' ? '' : /^\s*(1|true)\s*$/.test(cell.raw) ? 'TRUE' : 'FALSE';
      default:
        return unescapeCellText(xmlText(cell.raw));
    }
  }

  function numberText(cell: SheetCell): string {
    const raw = cell.raw.trim();
    const number = Number(raw);
    if (raw === '' || !Number.isFinite(number)) return xmlText(raw);
    return (isDate(cell) ? clock.toLocalText(number) : null) ?? generalNumber(number);
  }

  function isDate(cell: SheetCell): boolean {
    return dates.has(cell.style ?? 0);
  }

  return { cell: readCell, id: readId, text: textOf };
}

function showFormula(formula: string, value: string): string {
  const text = xmlText(formula);
  return `formula${text === '' ? '' : ` =${text}`}${value === '' ? '' : ` (shows ${value})`}`;
}
