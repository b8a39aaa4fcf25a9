import type { Splice } from '../file/splice.ts';
import { splice } from './row-splices.ts';
import type { XlsxWorkbook } from './workbook.ts';
import { attribute, attributePlace, localName } from './xml-scanner.ts';

/** Elements after which `calcPr` may come (ECMA-376 part 1, 18.2.27). */
const before = new Set(['sheets', 'functionGroups', 'externalReferences', 'definedNames']);

/**
 * Makes spreadsheet programs recalculate all formulas on opening: their stored values predate our write. Empty when
 * already set, or without formulas.
 */
export async function recalculation(
  book: XlsxWorkbook,
  sheetHasFormulas: boolean,
): Promise<readonly Splice[]> {
  let prefix = '';
  let depth = 0;
  let insertAt = 0;
  let found: { start: number; attributes: string } | null = null;
  await book.pack.scan(book.workbook, {
    open: (name, attributes, start) => {
      if (depth++ === 0) prefix = name.slice(0, name.length - localName(name).length);
      if (name === `${prefix}calcPr`) found = { start: start + 1 + name.length, attributes };
    },
    close: (name, _, end) => {
      depth--;
      if (depth === 1 && before.has(localName(name))) insertAt = end;
    },
    text: () => undefined,
  });
  if (!sheetHasFormulas && !(await otherSheetHasFormulas(book))) return [];
  if (found === null) return [splice(insertAt, insertAt, `<${prefix}calcPr fullCalcOnLoad="1"/>`)];
  const { start, attributes } = found as { start: number; attributes: string };
  if (/^(1|true|on)$/.test(attribute(attributes, 'fullCalcOnLoad') ?? '')) return [];
  const place = attributePlace(attributes, 'fullCalcOnLoad');
  if (place === null) return [splice(start, start, ' fullCalcOnLoad="1"')];
  return [splice(start + place.start, start + place.end, '1')];
}

async function otherSheetHasFormulas({ pack, sheet, sheetParts }: XlsxWorkbook): Promise<boolean> {
  for (const part of sheetParts) {
    const entry = pack.find(part);
    if (entry === null || entry === sheet) continue;
    let end = '';
    for await (const chunk of pack.chunks(entry)) {
      const text = end + chunk.toString('latin1');
      if (/[<:]f[\s>/]/.test(text)) return true;
      end = text.slice(-3);
    }
  }
  return false;
}
