import type { Element } from '@xmldom/xmldom';
import type { JudgedSheet } from './workbook.ts';
import { all, attribute, canonicalXml, child, children } from './xml.ts';

export interface SheetChanges {
  /** References of cells that are not what they were: another value, formula or style, new or gone. */
  readonly cells: readonly string[];
  /** Numbers of rows whose own attributes (height, style, hidden) are not what they were. */
  readonly rows: readonly string[];
  /** Everything beside the cells, less the ranges of the sheet's extent and of its filter. */
  readonly sameElsewhere: boolean;
}

/** What is different between two versions of one sheet. Cached results of formulas do not count. */
export function compareSheets(before: JudgedSheet, after: JudgedSheet): SheetChanges {
  const references = new Set([...before.cells.keys(), ...after.cells.keys()]);
  const [had, has] = [rowAttributes(before.root), rowAttributes(after.root)];
  return {
    cells: [...references].filter((at) => cellXml(before, at) !== cellXml(after, at)),
    rows: [...had].filter(([row, attributes]) => has.get(row) !== attributes).map(([row]) => row),
    sameElsewhere: elsewhere(before.root) === elsewhere(after.root),
  };
}

function cellXml(sheet: JudgedSheet, at: string): string {
  const cell = sheet.cells.get(at);
  if (cell === undefined) return '';
  const formula = child(cell.element, 'f');
  return formula === undefined
    ? `${cell.style} ${canonicalXml(cell.element)}`
    : `${cell.style} ${canonicalXml(formula)}`;
}

function rowAttributes(root: Element): Map<string, string> {
  let number = 0;
  return new Map(
    all(root, 'row').map((row) => {
      number = Number(attribute(row, 'r') ?? number + 1);
      const kept = [...row.attributes].filter(({ name }) => name !== 'r' && name !== 'spans');
      return [String(number), kept.map(({ name, value }) => `${name}=${value}`).join(' ')];
    }),
  );
}

function elsewhere(root: Element): string {
  return children(root)
    .filter(({ localName }) => localName !== 'sheetData')
    .map((element) => {
      const xml = canonicalXml(element);
      const mayGrow = element.localName === 'dimension' || element.localName === 'autoFilter';
      return mayGrow ? xml.replace(/ \{\}ref="[^"]*"/, '') : xml;
    })
    .join('\n');
}
