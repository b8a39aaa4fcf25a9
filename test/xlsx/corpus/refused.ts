import { constants, crc32, deflateRawSync } from 'node:zlib';
import { handMade, main, packageParts, relations, rowsXml, sheetXml, workbookXml } from './hand-made.ts';
import { zip } from './zip.ts';

const sheet1 = 'xl/worksheets/sheet1.xml';
const compoundFile = Buffer.from('d0cf11e0a1b11ae1', 'hex');
const utf16 = (text: string) => Buffer.from(text, 'utf16le');
const withDoctype = (doctype: string, use: string) =>
  sheetXml(rowsXml().replace('Aachen', use)).replace('?>', `?>\n<!DOCTYPE worksheet [${doctype}]>`);

export interface RefusedFile {
  readonly name: string;
  readonly content: Buffer;
  readonly code: string;
  /** The sheet that the settings name. */
  readonly sheet?: string;
}

/** What must not be touched, and the error that says so: the code of the error that says so. */
export function refusedFiles(): RefusedFile[] {
  const good = handMade();
  const strict = (text: Buffer | string) =>
    text
      .toString()
      .replaceAll(main, 'http://purl.oclc.org/ooxml/spreadsheetml/main')
      .replaceAll(relations, 'http://purl.oclc.org/ooxml/officeDocument/relationships');
  const without = (part: string) => {
    const parts = packageParts();
    parts.delete(part);
    return zip(parts);
  };
  const unreadable: Record<string, Buffer> = {
    'encrypted (a compound file)': Buffer.concat([
      compoundFile,
      Buffer.alloc(2_000),
      utf16('EncryptedPackage'),
      Buffer.alloc(8_000),
    ]),
    'the .xls of before 2007': Buffer.concat([
      compoundFile,
      Buffer.alloc(2_000),
      utf16('Workbook'),
      Buffer.alloc(8_000),
    ]),
    'strict namespaces': zip(new Map([...packageParts()].map(([name, part]) => [name, strict(part)]))),
    'a bomb of three gigabytes': bomb(3 * 1024, { honest: true }),
    'a bomb that claims to be small': bomb(3 * 1024, { honest: false }),
    'an entity of its own': handMade({ [sheet1]: withDoctype('<!ENTITY city "Aachen">', '&city;') }),
    'entities that grow without end': handMade({
      [sheet1]: withDoctype(
        [
          '<!ENTITY a0 "ha">',
          ...Array.from({ length: 30 }, (_, n) => `<!ENTITY a${n + 1} "&a${n};&a${n};">`),
        ].join(''),
        '&a30;',
      ),
    }),
    'an external entity': handMade({
      [sheet1]: withDoctype('<!ENTITY city SYSTEM "file:///etc/hostname">', '&city;'),
    }),
    'an undeclared entity': handMade({ [sheet1]: sheetXml(rowsXml().replace('Aachen', '&city;')) }),
    'a zip with a hole': Buffer.concat([good.subarray(0, 400), good.subarray(500)]),
    'a zip whose checksum is wrong': wrongChecksum(good),
    'an element that does not end': handMade({ [sheet1]: sheetXml(rowsXml()).replace('</sheetData>', '') }),
    'an attribute without quotes': handMade({ [sheet1]: sheetXml(rowsXml()).replace('r="A2"', 'r=A2') }),
    'a sheet that ends early': handMade({ [sheet1]: sheetXml(rowsXml()).slice(0, 900) }),
    'bytes that are not UTF-8': handMade({ [sheet1]: Buffer.from(sheetXml(rowsXml()), 'latin1') }),
    'no sheet part': without(sheet1),
    'no workbook part': without('xl/workbook.xml'),
    'no relations': without('_rels/.rels'),
    'no sheets': handMade({ 'xl/workbook.xml': workbookXml('', '') }),
    'two parts of one name': twice(),
    'a zip of something else': zip(new Map([['readme.txt', 'hello']])),
    'a text': Buffer.from('Lead ID,Company\r\nid-a,Anna AG\r\n'),
    'a web page': Buffer.from('<html><body><table><tr><td>Lead ID</td></tr></table></body></html>'),
  };
  return [
    ...Object.entries(unreadable).map(([name, content]) => ({ name, content, code: 'target.unreadable' })),
    { name: 'a sheet that is not there', content: good, sheet: 'Tabelle7', code: 'target.unreadable' },
    {
      name: 'no heading',
      content: handMade({ [sheet1]: sheetXml('<row r="1"><c r="A1"><v>1</v></c></row>') }),
      code: 'target.header-missing',
    },
    {
      name: 'no id column',
      content: handMade({ [sheet1]: sheetXml(rowsXml().replace('Lead ID', 'Number')) }),
      code: 'target.id-column-missing',
    },
    {
      name: 'two id columns',
      content: handMade({ [sheet1]: sheetXml(rowsXml().replace('>Notes<', '>Lead ID<')) }),
      code: 'target.id-column-missing',
    },
  ];
}

/** A sheet that goes on for n MiB of spaces in a few MB; sizes in the headers true, or lies. */
function bomb(mebibytes: number, { honest }: { honest: boolean }): Buffer {
  const start = Buffer.from(sheetXml('').replace(/<\/sheetData>.*/s, ''));
  const space = Buffer.alloc(1024 * 1024, ' ');
  const full = { finishFlush: constants.Z_FULL_FLUSH };
  const block = deflateRawSync(space, full);
  const last = deflateRawSync(Buffer.from('</sheetData></worksheet>'));
  const data = Buffer.concat([
    deflateRawSync(start, full),
    ...Array.from({ length: mebibytes }, () => block),
    last,
  ]);
  const size = start.length + mebibytes * space.length + 24;
  // A stored entry of that very name and length first; then its method, sizes and checksum are made those of the bomb.
  const file = zip(packageParts({ [sheet1]: data }), { stored: true });
  for (const [signature, at] of [
    [0x04034b50, 8],
    [0x02014b50, 10],
  ] as const) {
    const header = findEntry(file, signature);
    file.writeUInt16LE(8, header + at);
    file.writeUInt32LE(honest ? 0 : crc32(start), header + at + 6);
    file.writeUInt32LE(honest ? size : 5_000, header + at + 14);
  }
  return file;
}

function findEntry(file: Buffer, signature: number): number {
  const mark = Buffer.alloc(4);
  mark.writeUInt32LE(signature);
  const nameAt = signature === 0x04034b50 ? 30 : 46;
  for (let at = file.indexOf(mark); at >= 0; at = file.indexOf(mark, at + 1)) {
    if (file.toString('latin1', at + nameAt, at + nameAt + sheet1.length) === sheet1) return at;
  }
  throw new Error('no such entry');
}

function wrongChecksum(good: Buffer): Buffer {
  const file = Buffer.from(good);
  const [local, central] = [findEntry(file, 0x04034b50) + 14, findEntry(file, 0x02014b50) + 16];
  for (const at of [local, central]) file.writeUInt32LE((file.readUInt32LE(at) ^ 1) >>> 0, at);
  return file;
}

function twice(): Buffer {
  const other = sheet1.replace('sheet1', 'sheet2');
  const file = zip(new Map([...packageParts(), [other, sheetXml(rowsXml().replace('Anna AG', 'Other'))]]), {
    stored: true,
  });
  for (let at = file.indexOf(other); at >= 0; at = file.indexOf(other, at + 1)) file.write(sheet1, at);
  return file;
}
