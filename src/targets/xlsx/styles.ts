import type { XlsxPackage } from './part.ts';
import { attribute } from './xml-scanner.ts';

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
