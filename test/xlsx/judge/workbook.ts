import { posix } from 'node:path';
import type { Element } from '@xmldom/xmldom';
import type { Parts } from './parts.ts';
import { all, attribute, canonicalXml, child, children, parseXml } from './xml.ts';

export interface JudgedCell {
  readonly element: Element;
  readonly row: number;
  readonly column: string;
  readonly text: string;
  readonly formula: string | null;
  readonly style: number;
}

export interface JudgedSheet {
  readonly name: string;
  readonly state: string;
  readonly part: string;
  readonly root: Element;
  /** By reference, `A1`, in document order. */
  readonly cells: ReadonlyMap<string, JudgedCell>;
}

const slashed = (name: string) => decodeURIComponent(name.replaceAll('\\', '/'));

/** A package seen through its relations: the judge's own reading of it. */
export class JudgedWorkbook {
  readonly parts: Parts;
  readonly #byName: Map<string, Buffer>;
  readonly workbookPart: string;

  constructor(parts: Parts) {
    this.parts = parts;
    this.#byName = new Map([...parts].map(([name, part]) => [slashed(name), part]));
    const found = this.related('', 'officeDocument')[0];
    if (found === undefined) throw new Error('no workbook part');
    this.workbookPart = found;
  }

  part(name: string): Buffer {
    const part = this.#byName.get(name);
    if (part === undefined) throw new Error(`no part ${name}`);
    return part;
  }

  root(name: string): Element {
    const root = parseXml(this.part(name)).documentElement;
    if (root === null) throw new Error(`${name} is empty`);
    return root;
  }

  /** Names of the parts that a part points to, by the last word of the relation's type, or by its id. */
  related(from: string, typeOrId: string): string[] {
    return this.relations(from)
      .filter(({ id, type, external }) => !external && (type === typeOrId || id === typeOrId))
      .map(({ target }) => target);
  }

  relations(from: string): { id: string; type: string; target: string; external: boolean }[] {
    const name = posix.join(posix.dirname(from), '_rels', `${posix.basename(from)}.rels`);
    if (!this.#byName.has(name)) return [];
    return children(this.root(name)).map((relation) => {
      const target = attribute(relation, 'Target') ?? '';
      const external = attribute(relation, 'TargetMode') === 'External';
      return {
        id: attribute(relation, 'Id') ?? '',
        type: (attribute(relation, 'Type') ?? '').replace(/.*\//, ''),
        target: external ? target : slashed(posix.resolve('/', posix.dirname(from), target).slice(1)),
        external,
      };
    });
  }

  sheets(): JudgedSheet[] {
    return all(this.root(this.workbookPart), 'sheet').map((sheet) => {
      const id =
        [...sheet.attributes].find(({ localName, prefix }) => localName === 'id' && prefix !== null)?.value ??
        '';
      const part = this.related(this.workbookPart, id)[0] ?? '';
      const root = this.root(part);
      return {
        name: attribute(sheet, 'name') ?? '',
        state: attribute(sheet, 'state') ?? 'visible',
        part,
        root,
        cells: this.#cells(root),
      };
    });
  }

  sheet(name: string): JudgedSheet {
    const found = this.sheets().find((sheet) => sheet.name === name);
    if (found === undefined) throw new Error(`no sheet ${name}`);
    return found;
  }

  /** Throws when rows or cells are out of order or there twice, which Excel repairs. */
  #cells(root: Element): Map<string, JudgedCell> {
    const strings = this.related(this.workbookPart, 'sharedStrings')[0];
    const shared = strings === undefined ? [] : children(this.root(strings)).map(stringText);
    const cells = new Map<string, JudgedCell>();
    const data = child(root, 'sheetData');
    let row = 0;
    for (const rowElement of data === undefined ? [] : children(data)) {
      const next = Number(attribute(rowElement, 'r') ?? row + 1);
      if (next <= row) throw new Error(`row ${next} follows row ${row}`);
      row = next;
      let column = 0;
      for (const element of children(rowElement)) {
        const reference = attribute(element, 'r') ?? `${columnName(column + 1)}${row}`;
        const letters = reference.replace(/\d+$/, '');
        if (reference !== `${letters}${row}`) throw new Error(`${reference} stands in row ${row}`);
        if (columnNumber(letters) <= column) throw new Error(`${reference} is out of order`);
        column = columnNumber(letters);
        cells.set(reference, {
          element,
          row,
          column: letters,
          text: cellText(element, shared),
          formula: child(element, 'f')?.textContent ?? null,
          style: Number(attribute(element, 's') ?? 0),
        });
      }
    }
    return cells;
  }

  /** What a style index means for one of `font`, `fill`, `border`, `alignment` and `numFmt`, as canonical XML. */
  styleReader(): (style: number, aspect: string) => string {
    const part = this.related(this.workbookPart, 'styles')[0];
    if (part === undefined) return () => '';
    const root = this.root(part);
    const list = (name: string) => {
      const parent = child(root, name);
      return parent === undefined ? [] : children(parent);
    };
    const formats = list('cellXfs');
    const lists: Record<string, Element[]> = {
      font: list('fonts'),
      fill: list('fills'),
      border: list('borders'),
    };
    const named = new Map(list('numFmts').map((e) => [attribute(e, 'numFmtId'), attribute(e, 'formatCode')]));
    return (style, aspect) => {
      const format = formats[style];
      if (format === undefined) return `no style ${style}`;
      if (aspect === 'alignment') return canonicalXml(child(format, 'alignment'));
      if (aspect === 'numFmt') {
        const id = attribute(format, 'numFmtId') ?? '0';
        return named.get(id) ?? `built-in ${id}`;
      }
      return canonicalXml(lists[aspect]?.[Number(attribute(format, `${aspect}Id`) ?? 0)]);
    };
  }

  differentialStyle(index: string | null): string {
    const part = this.related(this.workbookPart, 'styles')[0];
    const parent = part === undefined ? undefined : child(this.root(part), 'dxfs');
    return parent === undefined || index === null ? '' : canonicalXml(children(parent)[Number(index)]);
  }
}

function cellText(cell: Element, shared: readonly string[]): string {
  const value = child(cell, 'v')?.textContent ?? '';
  switch (attribute(cell, 't')) {
    case 's':
      return shared[Number(value)] ?? `no string ${value}`;
    case 'inlineStr': {
      const inline = child(cell, 'is');
      return inline === undefined ? '' : stringText(inline);
    }
    default:
      return value;
  }
}

/** Text of a string item: its runs, without phonetic ones, with `_x000D_` and the like resolved (ECMA-376 part 1, 22.9.2.19). */
function stringText(item: Element): string {
  return children(item)
    .map((part) => {
      if (part.localName === 't') return part.textContent ?? '';
      return part.localName === 'r' ? (child(part, 't')?.textContent ?? '') : '';
    })
    .join('')
    .replace(/_x([0-9A-Fa-f]{4})_/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
}

function columnNumber(letters: string): number {
  return Array.from(letters).reduce((sum, letter) => sum * 26 + letter.charCodeAt(0) - 64, 0);
}

function columnName(number: number): string {
  return number === 0
    ? ''
    : columnName(Math.floor((number - 1) / 26)) + String.fromCharCode(65 + ((number - 1) % 26));
}
