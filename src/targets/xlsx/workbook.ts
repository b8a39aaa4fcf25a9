import type { FileTableOptions } from '../file/file-format.ts';
import { LeadsyncError } from '../../lib/errors.ts';
import { markedSheets } from './mark.ts';
import { openPackage, type Relationship, type XlsxPackage } from './part.ts';
import type { XlsxFault } from './fault.ts';
import { attribute } from './xml.ts';
import type { RandomAccess, ZipEntry } from './zip.ts';

export interface XlsxWorkbook {
  readonly pack: XlsxPackage;
  readonly workbook: ZipEntry;
  readonly sheet: ZipEntry;
  readonly sheetName: string;
  readonly sheetId: string | null;
  /** Day 0 is 1904-01-01, as in older Excel for Mac. */
  readonly date1904: boolean;
  /** Names of parts; null: none. */
  readonly styles: string | null;
  readonly strings: string | null;
  readonly calcChain: string | null;
  readonly sheetParts: readonly string[];
}

interface SheetEntry {
  readonly name: string;
  readonly id: string | null;
  readonly relationship: string;
  readonly hidden: boolean;
}

/**
 * By name (ignoring case if no other matches exactly); without one the sheet that has the connection's mark, since a copy of it may
 * have been put in front, else the first; hidden ones never. Throws what `fault` makes, for no workbook of the usual (transitional) form.
 */
export async function openWorkbook(
  file: RandomAccess,
  { sheet: wanted, connection }: Pick<FileTableOptions, 'sheet' | 'connection'>,
  fault: XlsxFault,
): Promise<XlsxWorkbook> {
  const { pack, workbook, sheets, date1904 } = await readWorkbook(file, fault);
  const parts = await pack.relationships(workbook.name);
  const worksheets = sheets.filter(({ relationship }) => isType(parts.get(relationship), 'worksheet'));
  const marks =
    wanted === undefined && connection !== undefined && worksheets.length > 1
      ? await markedSheets(pack, connection)
      : [];
  const [marked] = marks.flatMap((mark) => worksheets.filter(({ name, hidden }) => name === mark && !hidden));
  const chosen = marked ?? chooseSheet(worksheets, wanted, fault);
  return {
    pack,
    workbook,
    sheet: pack.get(parts.get(chosen.relationship)?.part ?? ''),
    sheetName: chosen.name,
    sheetId: chosen.id,
    date1904,
    styles: ofType(parts, 'styles')?.part ?? null,
    strings: ofType(parts, 'sharedStrings')?.part ?? null,
    calcChain: ofType(parts, 'calcChain')?.part ?? null,
    sheetParts: worksheets.flatMap(({ relationship }) => parts.get(relationship)?.part ?? []),
  };
}

/** Names of the sheets that are not hidden, in their order. @throws as `openWorkbook` does */
export async function visibleSheets(file: RandomAccess, fault: XlsxFault): Promise<readonly string[]> {
  const { sheets } = await readWorkbook(file, fault);
  return sheets.flatMap(({ name, hidden }) => (hidden ? [] : [name]));
}

/** Whether there is a sheet of that name; true for unreadable workbooks, which their readers report. */
export async function hasSheet(file: RandomAccess, name: string, fault: XlsxFault): Promise<boolean> {
  try {
    const { sheets } = await readWorkbook(file, fault);
    return findSheet(sheets, name) !== undefined;
  } catch (error) {
    if (error instanceof LeadsyncError) return true;
    throw error;
  }
}

async function readWorkbook(file: RandomAccess, fault: XlsxFault) {
  const pack = await openPackage(file, fault);
  const root = ofType(await pack.relationships(''), 'officeDocument');
  if (root === null) throw fault('is a zip, but not an Excel workbook');
  if (!root.part.toLowerCase().endsWith('.xml'))
    throw fault('is a binary workbook (.xlsb)', 'Save it as "Excel workbook (.xlsx)".');
  const workbook = pack.get(root.part);
  return pack.parse(workbook, (elements) => {
    assertTransitional(elements[0].attributes, fault);
    const named = (wanted: string) => elements.filter(({ local }) => local === wanted);
    const sheets = named('sheet').map(({ attributes }) => ({
      name: attribute(attributes, 'name') ?? '',
      id: attribute(attributes, 'sheetId'),
      relationship: relationshipId(attributes),
      hidden: /hidden/i.test(attribute(attributes, 'state') ?? ''),
    }));
    const date1904 = named('workbookPr').some(({ attributes }) => isOn(attribute(attributes, 'date1904')));
    return { pack, workbook, sheets, date1904 };
  });
}

export function isOn(value: string | null): boolean {
  return value !== null && /^(1|true|on)$/.test(value);
}

/** ISO 29500 Strict uses other namespaces and another date format. */
export function assertTransitional(rootAttributes: string, fault: XlsxFault): void {
  if (!rootAttributes.includes('http://purl.oclc.org/ooxml/')) return;
  throw fault('is a "Strict Open XML" workbook', 'Save it as "Excel workbook (.xlsx)", without "Strict".');
}

/** The prefix is free; usually `r`. */
function relationshipId(attributes: string): string {
  const named = /[\s]([^\s:=]+):id\s*=/.exec(attributes)?.[1] ?? 'r';
  return attribute(attributes, `${named}:id`) ?? '';
}

function isType(relationship: Relationship | undefined, type: string): boolean {
  return relationship?.type.endsWith(`/${type}`) ?? false;
}

function ofType(relationships: ReadonlyMap<string, Relationship>, type: string): Relationship | null {
  return [...relationships.values()].find((relationship) => isType(relationship, type)) ?? null;
}

function findSheet(sheets: readonly SheetEntry[], wanted: string): SheetEntry | undefined {
  const plain = (name: string) => name.normalize('NFC').trim();
  return (
    sheets.find(({ name }) => plain(name) === plain(wanted)) ??
    sheets.find(({ name }) => plain(name).toLowerCase() === plain(wanted).toLowerCase())
  );
}

function chooseSheet(
  sheets: readonly SheetEntry[],
  wanted: string | undefined,
  fault: XlsxFault,
): SheetEntry {
  const found = wanted === undefined ? sheets.find(({ hidden }) => !hidden) : findSheet(sheets, wanted);
  if (found !== undefined) return found;
  if (wanted === undefined)
    throw fault('has only hidden sheets', 'Unhide a sheet, or name one in the configuration (sheet).');
  const names = sheets.map(({ name }) => JSON.stringify(name)).join(', ');
  throw fault(
    `has no sheet named ${JSON.stringify(wanted)}`,
    `Its sheets: ${names}. Correct the name in the configuration (sheet) or in the workbook.`,
  );
}
