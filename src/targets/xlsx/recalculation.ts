import { type Splice, splice } from '../file/splice.ts';
import { isOn, type XlsxWorkbook } from './workbook.ts';
import { attribute, attributePlace } from './xml-scanner.ts';

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
  if (!sheetHasFormulas && !(await otherSheetHasFormulas(book))) return [];
  return book.pack.parse(book.workbook, (elements) => {
    const [root] = elements;
    const ofRoot = elements.filter(({ parent, prefix }) => parent === root && prefix === root.prefix);
    const found = ofRoot.find(({ local }) => local === 'calcPr');
    if (found === undefined) {
      const { end } = ofRoot.findLast(({ local }) => before.has(local)) ?? root;
      return [splice(end, end, `<${root.prefix}calcPr fullCalcOnLoad="1"/>`)];
    }
    if (isOn(attribute(found.attributes, 'fullCalcOnLoad'))) return [];
    const place = attributePlace(found, 'fullCalcOnLoad');
    if (place !== null) return [splice(place.start, place.end, '1')];
    return [splice(found.attributesStart, found.attributesStart, ' fullCalcOnLoad="1"')];
  });
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
