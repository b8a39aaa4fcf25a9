import { type CellRange, readRange } from './cell-reference.ts';
import type { XlsxWorkbook } from './workbook.ts';

const dataEnd = /<\/(?:[^\s<>:]+:)?sheetData\s*>/;
/** Longer than the closing tag may be, which two chunks may share. */
const overlap = 200;

/**
 * The merged cells of a sheet. They stand behind its rows, whose meaning depends on them: so the part is unpacked once
 * more, without reading its rows.
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
