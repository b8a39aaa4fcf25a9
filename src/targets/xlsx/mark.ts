import { readMark } from '../../core/lead/table-mark.ts';
import { type Splice, splice } from '../file/splice.ts';
import type { XlsxPackage } from './part.ts';
import { attribute, escapeXml, withChild, type XmlElements, xmlText } from './xml.ts';
import type { ZipEntry, NewPart } from './zip.ts';

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
const propertyName = (sheet: string): string => `${prefix}${sheet}`;

const prefix = 'leadsync ';

export async function readXlsxMark(pack: XlsxPackage, sheet: string): Promise<string | null> {
  const entry = await propertiesOf(pack);
  return entry === null ? null : pack.parse(entry, (elements) => ownOf(elements, sheet)?.text ?? null);
}

/** Names of the sheets that have the mark of a connection, the one that was marked last first. */
export async function markedSheets(pack: XlsxPackage, connection: string): Promise<readonly string[]> {
  const entry = await propertiesOf(pack);
  if (entry === null) return [];
  return pack.parse(entry, (elements) => {
    const names = elements.flatMap(({ attributes }) => attribute(attributes, 'name') ?? []);
    const sheets = names.filter((name) => name.startsWith(prefix)).map((name) => name.slice(prefix.length));
    return sheets
      .map((sheet) => ({ sheet, mark: readMark(ownOf(elements, sheet)?.text ?? null) }))
      .filter(({ mark }) => mark?.connection === connection)
      .toSorted((a, b) => (b.mark?.generation ?? 0) - (a.mark?.generation ?? 0))
      .map(({ sheet }) => sheet);
  });
}

export async function planXlsxMark(pack: XlsxPackage, sheet: string, text: string): Promise<MarkEdits> {
  const value = (prefix: string, declaration: string): string =>
    `<${prefix}lpwstr${declaration}>${escapeXml(text)}</${prefix}lpwstr>`;
  const property = (prefix: string, id: number, content: string): string =>
    `<${prefix}property fmtid="${formatId}" pid="${id}" name="${escapeXml(propertyName(sheet))}">${content}</${prefix}property>`;
  const entry = await propertiesOf(pack);
  if (entry === null) return newPart(pack, property('', 2, value('vt:', '')));
  const splices = await pack.parse(entry, (elements) => {
    const [root] = elements;
    // Gnumeric ignores namespaces declared below the root.
    const declared = Array.from(root.attributes.matchAll(/\sxmlns:([^\s=]+)\s*=/g), ([, name = '']) => name);
    const types = declared.find((name) => attribute(root.attributes, `xmlns:${name}`) === valueTypes);
    const content = types === undefined ? value('vt:', ` xmlns:vt="${valueTypes}"`) : value(`${types}:`, '');
    const own = ownOf(elements, sheet);
    if (own?.text === text) return [];
    if (own !== null) return [splice(own.start, own.end, content)];
    const pids = elements.map(({ attributes }) => Number(attribute(attributes, 'pid') ?? 0) || 0);
    // Numbering starts at 2.
    const last = pids.reduce((most, pid) => Math.max(most, pid), 1);
    return [withChild(root, property(root.prefix, last + 1, content))];
  });
  return { edits: [{ part: entry.name, splices }], added: [] };
}

async function propertiesOf(pack: XlsxPackage): Promise<ZipEntry | null> {
  const relations = [...(await pack.relationships('')).values()];
  const relation = relations.find(({ type }) => type.endsWith('/custom-properties'));
  return relation === undefined ? null : pack.find(relation.part);
}

function ownOf(elements: XmlElements, sheet: string) {
  const own = elements.find(
    ({ parent, local, attributes, contentEnd, end }) =>
      parent === elements[0] &&
      local === 'property' &&
      attribute(attributes, 'name') === propertyName(sheet) &&
      contentEnd < end,
  );
  if (own === undefined) return null;
  const texts = elements.flatMap((each) => (each === own || each.parent === own ? each.text : []));
  return { text: xmlText(texts.join('')).trim(), start: own.contentStart, end: own.contentEnd };
}

async function newPart(pack: XlsxPackage, property: string): Promise<MarkEdits> {
  const names = ['docProps/custom.xml', 'docProps/leadsync.xml'];
  const name = names.find((each) => pack.find(each) === null);
  // Not seen in practice; left unmarked.
  if (name === undefined) return { edits: [], added: [] };
  const ids = await pack.relationships('');
  const id = ['leadsync', 'leadsync1', 'leadsync2'].find((each) => !ids.has(each)) ?? '';
  const edit = async (part: string, splicesOf: (elements: XmlElements) => Splice[]) => {
    const entry = pack.get(part);
    return { part: entry.name, splices: await pack.parse(entry, splicesOf) };
  };
  const edits = [
    await edit('[Content_Types].xml', (elements) => {
      const [root] = elements;
      if (elements.some(({ attributes }) => attribute(attributes, 'PartName') === `/${name}`)) return [];
      return [withChild(root, `<${root.prefix}Override PartName="/${name}" ContentType="${contentType}"/>`)];
    }),
    await edit('_rels/.rels', ([root]) => [
      withChild(
        root,
        `<${root.prefix}Relationship Id="${id}" Type="${office}/relationships/custom-properties" Target="${name}"/>`,
      ),
    ]),
  ];
  const text = `${head}<Properties xmlns="${office}/custom-properties" xmlns:vt="${valueTypes}">${property}</Properties>`;
  return { edits, added: [{ name, text }] };
}
