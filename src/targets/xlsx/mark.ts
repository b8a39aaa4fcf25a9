import type { Splice } from '../file/splice.ts';
import { splice } from './row-splices.ts';
import type { XlsxPackage } from './part.ts';
import { attribute, localName } from './xml-scanner.ts';
import { escapeXml, xmlText } from './xml-text.ts';
import type { ZipEntry } from './zip-directory.ts';

/** A new part of a workbook. */
export interface NewPart {
  readonly name: string;
  readonly text: string;
}

/** The edits that mark a workbook: changes of parts, and a new part. */
export interface MarkEdits {
  readonly edits: readonly { readonly part: string; readonly splices: readonly Splice[] }[];
  readonly added: readonly NewPart[];
}

const head = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n';
const office = 'http://schemas.openxmlformats.org/officeDocument/2006';
const valueTypes = `${office}/docPropsVTypes`;
const contentType = 'application/vnd.openxmlformats-officedocument.custom-properties+xml';

/** The set of user-defined properties (ECMA-376 part 1, 22.3.2.2: FMTID_UserDefinedProperties). */
const formatId = '{D5CDD505-2E9C-101B-9397-08002B2CF9AE}';

/** One per sheet: several sheets of a workbook may be synced. */
const propertyName = (sheet: string): string => `leadsync ${sheet}`;

/** The custom properties, and ours among them. */
interface CustomProperties {
  readonly entry: ZipEntry;
  readonly own: { readonly text: string; readonly start: number; readonly end: number } | null;
  /** Where one more goes, with what surrounds it. */
  readonly place: (property: string) => Splice;
  /** The elements' prefix, with colon. */
  readonly prefix: string;
  /** The value types' prefix, as the root declares it; null: undeclared. */
  readonly typePrefix: string | null;
  /** Highest property number; numbering starts at 2. */
  readonly lastId: number;
}

/** The custom document property that marks the sheet; null: none. */
export async function readXlsxMark(pack: XlsxPackage, sheet: string): Promise<string | null> {
  return (await readProperties(pack, sheet))?.own?.text ?? null;
}

/** Sets the property; other properties, content types and relationships stay. */
export async function planXlsxMark(pack: XlsxPackage, sheet: string, text: string): Promise<MarkEdits> {
  const found = await readProperties(pack, sheet);
  const typePrefix = found?.typePrefix ?? null;
  // Gnumeric ignores namespaces declared below the root.
  const [type, declared] = typePrefix === null ? ['vt:', ` xmlns:vt="${valueTypes}"`] : [typePrefix, ''];
  const valueIn = (declaration: string): string =>
    `<${type}lpwstr${declaration}>${escapeXml(text)}</${type}lpwstr>`;
  const property = (prefix: string, id: number, declaration: string): string =>
    `<${prefix}property fmtid="${formatId}" pid="${id}" name="${escapeXml(propertyName(sheet))}">${valueIn(declaration)}</${prefix}property>`;
  if (found === null) return newPart(pack, property('', 2, ''));
  const { entry, own, place, prefix, lastId } = found;
  if (own?.text === text) return { edits: [], added: [] };
  const change =
    own === null
      ? place(property(prefix, lastId + 1, declared))
      : splice(own.start, own.end, valueIn(declared));
  return { edits: [{ part: entry.name, splices: [change] }], added: [] };
}

/** Null: no such part. */
async function readProperties(pack: XlsxPackage, sheet: string): Promise<CustomProperties | null> {
  const relations = [...(await pack.relationships('')).values()];
  const relation = relations.find(({ type }) => type.endsWith('/custom-properties'));
  const entry = relation === undefined ? null : pack.find(relation.part);
  if (entry === null) return null;
  const wanted = propertyName(sheet);
  let [depth, lastId, prefix] = [0, 1, ''];
  let typePrefix: string | null = null;
  let own: CustomProperties['own'] = null;
  let place: CustomProperties['place'] | null = null;
  let inside: { start: number; raw: string } | null = null;
  await pack.scan(entry, {
    open: (name, attributes, _, end, empty) => {
      depth++;
      if (depth === 1) {
        prefix = name.slice(0, name.length - localName(name).length);
        const declared = [...attributes.matchAll(/\sxmlns:([^\s=]+)\s*=/g)].map(([, each = '']) => each);
        const typed = declared.find((each) => attribute(attributes, `xmlns:${each}`) === valueTypes);
        typePrefix = typed === undefined ? null : `${typed}:`;
        if (empty) place = (property) => splice(end - 2, end, `>${property}</${name}>`);
      }
      if (depth !== 2 || localName(name) !== 'property') return;
      lastId = Math.max(lastId, Number(attribute(attributes, 'pid') ?? 0) || 0);
      if (attribute(attributes, 'name') === wanted && own === null && !empty)
        inside = { start: end, raw: '' };
    },
    close: (_, start) => {
      depth--;
      if (depth === 0) place ??= (property) => splice(start, start, property);
      if (depth !== 1 || inside === null) return;
      own = { text: xmlText(inside.raw).trim(), start: inside.start, end: start };
      inside = null;
    },
    text: (raw) => {
      if (inside !== null) inside.raw += raw;
    },
  });
  return place === null ? null : { entry, own, place, prefix, typePrefix, lastId };
}

async function newPart(pack: XlsxPackage, property: string): Promise<MarkEdits> {
  const taken = ['docProps/custom.xml', 'docProps/leadsync.xml'];
  const name = taken.find((each) => pack.find(each) === null);
  // Not seen in practice; left unmarked.
  if (name === undefined) return { edits: [], added: [] };
  const types = pack.get('[Content_Types].xml');
  const relations = pack.get('_rels/.rels');
  const ids = new Set((await pack.relationships('')).keys());
  const id = ['leadsync', 'leadsync1', 'leadsync2'].find((each) => !ids.has(each)) ?? '';
  const lists = [
    {
      part: types.name,
      splices: await lastChild(
        pack,
        types,
        (prefix) => `<${prefix}Override PartName="/${name}" ContentType="${contentType}"/>`,
        (attributes) => attribute(attributes, 'PartName') === `/${name}`,
      ),
    },
    {
      part: relations.name,
      splices: await lastChild(
        pack,
        relations,
        (prefix) =>
          `<${prefix}Relationship Id="${id}" Type="${office}/relationships/custom-properties" Target="${name}"/>`,
        () => false,
      ),
    },
  ];
  const text = `${head}<Properties xmlns="${office}/custom-properties" xmlns:vt="${valueTypes}">${property}</Properties>`;
  return { edits: lists.filter(({ splices }) => splices.length > 0), added: [{ name, text }] };
}

/** Appends an element to a list, unless it is there. */
async function lastChild(
  pack: XlsxPackage,
  entry: ZipEntry,
  child: (prefix: string) => string,
  isThere: (attributes: string) => boolean,
): Promise<readonly Splice[]> {
  let [depth, prefix, found] = [0, '', false];
  const splices: Splice[] = [];
  await pack.scan(entry, {
    open: (name, attributes) => {
      if (++depth === 1) prefix = name.slice(0, name.length - localName(name).length);
      else found ||= isThere(attributes);
    },
    close: (_, start) => {
      if (--depth === 0 && !found) splices.push(splice(start, start, child(prefix)));
    },
    text: () => undefined,
  });
  return splices;
}
