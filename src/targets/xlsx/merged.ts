import { type CellRange, readRange } from './cell-reference.ts';
import type { XlsxWorkbook } from './workbook.ts';

const dataEnd = /<\/(?:[^\s<>:]+:)?sheetData\s*>/;
/** More than a closing tag, which two chunks may split. */
const overlap = 200;

/**
 * The merged cells of a sheet. They come after the rows that depend on them, so the part is unpacked a second time,
 * without parsing its rows.
 */
export async function readMerged({ pack, sheet }: XlsxWorkbook): Promise<readonly CellRange[]> {
  let text = '';
  let isBehind = false;
  for await (const chunk of pack.chunks(sheet)) {
    text += chunk.toString('latin1');
    if (isBehind) continue;
    const end = dataEnd.exec(text);
    if (end === null) text = text.slice(-overlap);
    else {
      isBehind = true;
      text = text.slice(end.index);
    }
  }
  if (!isBehind) return [];
  const cells = text.matchAll(/<(?:[^\s<>:]+:)?mergeCell\s[^<>]*?ref\s*=\s*["']([^"']+)["']/g);
  return Array.from(cells, ([, ref = '']) => readRange(ref)).filter((range) => range !== null);
}
