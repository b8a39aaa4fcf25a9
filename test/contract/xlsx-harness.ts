import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { strFromU8, strToU8, unzipSync, zipSync } from 'fflate';
import { Temporal } from 'temporal-polyfill';
import type { FilePlace } from '../../src/targets/file/file-place.ts';
import { createXlsxTarget } from '../../src/targets/xlsx/xlsx-target.ts';
import { localPlace } from '../../src/targets/local/local-place.ts';
import { contractFields, type Table, type LocalHarness } from './target-harness.ts';

export interface XlsxHarness extends LocalHarness {
  readonly folder: string;
  readonly path: string;
  /** The parts of the workbook as texts. */
  parts(): Record<string, string>;
  /** Writes a workbook of these parts; a text of an unknown name is a part of its own. */
  write(parts: Readonly<Record<string, string>>): void;
}

export interface XlsxHarnessOptions {
  /** Whether moments are written as dates (day numbers in a date format) and not as texts. */
  readonly dates: boolean;
}

const main = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
const office = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const moment = /^\d{4}-\d{2}-\d{2}T[\d:.]+Z$/;

/** All parts of a small workbook around the XML of its sheet and its texts. */
export function workbookParts(sheet: string, strings = ''): Record<string, string> {
  const type = 'application/vnd.openxmlformats-officedocument.spreadsheetml';
  const override = (part: string, kind: string) =>
    `<Override PartName="/xl/${part}.xml" ContentType="${type}.${kind}+xml"/>`;
  return {
    '[Content_Types].xml': `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>${override('workbook', 'sheet.main')}${override('worksheets/sheet1', 'worksheet')}${override('sharedStrings', 'sharedStrings')}${override('styles', 'styles')}</Types>`,
    '_rels/.rels': `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" Type="${office}/officeDocument" Target="xl/workbook.xml"/></Relationships>`,
    'xl/workbook.xml': `<workbook xmlns="${main}" xmlns:r="${office}"><sheets><sheet name="Leads" sheetId="1" r:id="rId1"/></sheets></workbook>`,
    'xl/_rels/workbook.xml.rels': `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" Type="${office}/worksheet" Target="worksheets/sheet1.xml"/><Relationship Id="rId2" Type="${office}/sharedStrings" Target="sharedStrings.xml"/><Relationship Id="rId3" Type="${office}/styles" Target="styles.xml"/></Relationships>`,
    'xl/styles.xml': `<styleSheet xmlns="${main}"><fonts count="1"><font/></fonts><fills count="1"><fill/></fills><borders count="1"><border/></borders><cellXfs count="2"><xf numFmtId="0"/><xf numFmtId="22" applyNumberFormat="1"/></cellXfs></styleSheet>`,
    'xl/sharedStrings.xml': `<sst xmlns="${main}">${strings}</sst>`,
    'xl/worksheets/sheet1.xml': sheet.startsWith('<')
      ? sheet
      : `<worksheet xmlns="${main}"><sheetData>${sheet}</sheetData></worksheet>`,
  };
}

/** An .xlsx file in a folder of its own, edited by other programs than ours; `placeOf`: how leadsync reaches it. */
export async function makeXlsxHarness(
  { dates }: XlsxHarnessOptions = { dates: false },
  placeOf: (path: string) => FilePlace = localPlace,
): Promise<XlsxHarness> {
  const folder = await mkdtemp(join(tmpdir(), 'leadsync-xlsx-'));
  const path = join(folder, 'leads.xlsx');
  const parts = () =>
    Object.fromEntries(
      Object.entries(unzipSync(readFileSync(path))).map(([name, bytes]) => [name, strFromU8(bytes)]),
    );
  const write = (texts: Readonly<Record<string, string>>) => {
    const files: Record<string, Uint8Array> = {};
    for (const [name, text] of Object.entries(texts)) files[name] = strToU8(text);
    writeFileSync(path, zipSync(files, { level: 1 }));
  };
  const show = () => (existsSync(path) ? tableOf(parts()) : null);
  return {
    folder,
    path,
    target: (options = {}) =>
      createXlsxTarget(placeOf(path), {
        fields: contractFields,
        idColumn: 'Lead ID',
        timeZone: 'Europe/Berlin',
        ...options,
      }),
    show,
    edit: (change) => write(partsOf(change(show() ?? []), dates)),
    parts,
    write,
    async [Symbol.asyncDispose]() {
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function partsOf(table: Table, dates: boolean): Record<string, string> {
  const strings: string[] = [];
  const rows = table.map((texts, at) => {
    const cells = texts.map((text, column) => {
      const start = `<c r="${String.fromCharCode(65 + column)}${at + 1}"`;
      if (text === '') return dates ? `${start} s="1"/>` : '';
      if (dates && moment.test(text)) return `${start} s="1"><v>${serialOf(text)}</v></c>`;
      return `${start}${dates && at > 0 ? ' s="1"' : ''} t="s"><v>${strings.push(text) - 1}</v></c>`;
    });
    return `<row r="${at + 1}">${cells.join('')}</row>`;
  });
  const cols = dates ? '<cols><col min="1" max="20" width="12" style="1"/></cols>' : '';
  return workbookParts(
    `<worksheet xmlns="${main}">${cols}<sheetData>${rows.join('')}</sheetData></worksheet>`,
    strings.map((text) => `<si><t xml:space="preserve">${escaped(text)}</t></si>`).join(''),
  );
}

/** What a person sees, empty rows at the end left out. */
function tableOf(parts: Readonly<Record<string, string>>): string[][] {
  const strings = [...(parts['xl/sharedStrings.xml'] ?? '').matchAll(/<si>(.*?)<\/si>/gs)].map(
    ([, text = '']) => plain(text),
  );
  const rows: string[][] = [];
  const sheet = parts['xl/worksheets/sheet1.xml'] ?? '';
  for (const [, number, content = ''] of sheet.matchAll(/<row r="(\d+)"[^>]*?(?:\/>|>(.*?)<\/row>)/gs)) {
    const row: string[] = [];
    for (const [, letter = 'A', attributes = '', inside = ''] of content.matchAll(
      /<c r="([A-Z])\d+"([^>]*?)(?:\/>|>(.*?)<\/c>)/gs,
    )) {
      const text = plain(inside);
      const isNumber = text !== '' && !attributes.includes(' t=');
      row[letter.charCodeAt(0) - 65] = attributes.includes('t="s"')
        ? (strings[Number(text)] ?? '')
        : isNumber && /s="[12]"/.test(attributes)
          ? momentOf(Number(text))
          : text;
    }
    rows[Number(number) - 1] = row;
  }
  const width = Math.max(0, ...rows.map((row) => row?.length ?? 0));
  const table = Array.from(rows, (row: string[] | undefined) =>
    Array.from({ length: width }, (_, column) => row?.[column] ?? ''),
  );
  while (table.at(-1)?.every((text) => text === '') === true) table.pop();
  return table;
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('\r', '&#13;');
}

function plain(xml: string): string {
  return xml
    .replaceAll(/<[^>]*>/g, '')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#13;', '\r')
    .replaceAll('&amp;', '&');
}

const dayMs = 86_400_000;
const dayZero = Date.UTC(1899, 11, 30);

function serialOf(instant: string): number {
  const zoned = Temporal.Instant.from(instant).toZonedDateTimeISO('Europe/Berlin');
  return (zoned.epochMilliseconds + zoned.offsetNanoseconds / 1e6 - dayZero) / dayMs;
}

function momentOf(serial: number): string {
  const local = new Date(Math.round(serial * dayMs) + dayZero).toISOString().slice(0, -1);
  return new Date(
    Temporal.PlainDateTime.from(local).toZonedDateTime('Europe/Berlin').epochMilliseconds,
  ).toISOString();
}
