import type { XlsxPackage } from './part.ts';
import { attribute, localName } from './xml-scanner.ts';

/** Cell styles (the `s` of a cell) that show a date or time. */
export type DateStyles = ReadonlySet<number>;

/** @param part name of the styles part; null: none */
export async function readDateStyles(pack: XlsxPackage, part: string | null): Promise<DateStyles> {
  const entry = part === null ? null : pack.find(part);
  const dates = new Set<number>();
  if (entry === null) return dates;
  const custom = new Map<number, boolean>();
  let inCellFormats = false;
  let index = 0;
  await pack.scan(entry, {
    open: (name, attributes) => {
      const local = localName(name);
      if (local === 'numFmt') {
        const code = attribute(attributes, 'formatCode') ?? '';
        custom.set(Number(attribute(attributes, 'numFmtId')), isDateFormat(code));
      } else if (local === 'cellXfs') {
        inCellFormats = true;
      } else if (local === 'xf' && inCellFormats) {
        const id = Number(attribute(attributes, 'numFmtId') ?? 0);
        if (custom.get(id) ?? isBuiltInDate(id)) dates.add(index);
        index++;
      }
    },
    close: (name) => {
      if (localName(name) === 'cellXfs') inCellFormats = false;
    },
    text: () => undefined,
  });
  return dates;
}

/** ECMA-376 part 1, 18.8.30, with the East Asian formats. */
function isBuiltInDate(id: number): boolean {
  return (id >= 14 && id <= 22) || (id >= 27 && id <= 36) || (id >= 45 && id <= 47) || (id >= 50 && id <= 58);
}

/** Whether a format code shows years, months, days, hours, minutes or seconds. */
export function isDateFormat(code: string): boolean {
  const [first = ''] = code
    .replaceAll(/"[^"]*"?|\\.|[_*]./gs, '')
    .replaceAll(/\[(?!(?:h+|m+|s+)\])[^\]]*\]/gi, '')
    .split(';');
  return !/general/i.test(first) && /[ymdhs]/i.test(first);
}
