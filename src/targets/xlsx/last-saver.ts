import type { Author } from '../../core/lead/author.ts';
import { visibleText } from '../../visible-text.ts';
import type { XlsxFault } from './fault.ts';
import { openPackage } from './part.ts';
import { xmlText } from './xml-text.ts';
import type { RandomAccess } from './zip-directory.ts';

/** Who last saved a workbook, by its core properties (ECMA-376 part 2, 11); null: unknown. */
export async function xlsxLastSaver(file: RandomAccess, fault: XlsxFault): Promise<Author | null> {
  const pack = await openPackage(file, fault);
  const relations = [...(await pack.relationships('')).values()];
  const relation = relations.find(({ type }) => type.endsWith('/core-properties'));
  const entry = relation === undefined ? null : pack.find(relation.part);
  if (entry === null) return null;
  const texts = await pack.parse(
    entry,
    (elements) => new Map(elements.map(({ local, text }) => [local, xmlText(text)])),
  );
  const by = visibleText(texts.get('lastModifiedBy') ?? '', 100);
  const at = Date.parse(texts.get('modified') ?? '');
  if (by === '') return null;
  return { of: 'file', place: 'workbook', by, at: Number.isNaN(at) ? null : new Date(at).toISOString() };
}
