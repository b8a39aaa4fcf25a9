import {
  contentTypesXml,
  escaped,
  handMade,
  handMadeHeadings,
  handMadeRows,
  main,
  packageParts,
  plainCell,
  relations,
  relationsXml,
  rowsXml,
  sheetXml,
  styles,
  types,
  workbookXml,
  type CellXml,
} from './hand-made.ts';
import type { CorpusFile } from './content.ts';
import { zip, type ZipStyle } from './zip.ts';

const sheet1 = 'xl/worksheets/sheet1.xml';
const bom = '\ufeff';

/** Every text in a part of its own, in the order of first use. */
function withSharedStrings(entry: (text: string, index: number) => string): Record<string, string> {
  const texts: string[] = [];
  const cell: CellXml = (reference, value) => {
    if (typeof value === 'number') return plainCell(reference, value);
    if (!texts.includes(value)) texts.push(value);
    return `<c r="${reference}" t="s"><v>${texts.indexOf(value)}</v></c>`;
  };
  const sheet = sheetXml(rowsXml(cell));
  return {
    '[Content_Types].xml': contentTypesXml([
      ['xl/sharedStrings.xml', types.strings],
      [sheet1, types.sheet],
      ['xl/workbook.xml', types.workbook],
      ['xl/styles.xml', types.styles],
    ]),
    'xl/_rels/workbook.xml.rels': relationsXml(
      ['rId3', 'sharedStrings', 'sharedStrings.xml'],
      ['rId2', 'styles', 'styles.xml'],
      ['rId1', 'worksheet', 'worksheets/sheet1.xml'],
    ),
    [sheet1]: sheet,
    'xl/sharedStrings.xml': `<?xml version="1.0" encoding="UTF-8"?><sst xmlns="${main}">${texts.map(entry).join('')}</sst>`,
  };
}

const half = (text: string) => [text.slice(0, text.length >> 1), text.slice(text.length >> 1)].map(escaped);
const richRuns = (text: string) => {
  const [first, second] = half(text);
  return `<r><t xml:space="preserve">${first}</t></r><r><rPr><b/><i val="1"/></rPr><t xml:space="preserve">${second}</t></r>`;
};
const phonetic = '<rPh sb="0" eb="1"><t>よみ</t></rPh><phoneticPr fontId="0"/>';

/** The element names with a prefix, as some Java libraries write them. */
const prefixed = (xml: string) =>
  xml
    .replace(/<(\/?)([a-zA-Z])/g, '<$1x:$2')
    .replace(`xmlns="${main}"`, `xmlns:x="${main}"`)
    .replace(/="([^"']*)"/g, "='$1'")
    .replace("version='1.0' encoding='UTF-8' standalone='yes'", 'version="1.0" encoding="UTF-8"');

const gapless = () =>
  [handMadeHeadings, ...handMadeRows]
    .map((values) => {
      const cells = values.map((value) =>
        value === '' ? '<c/>' : plainCell('', value).replace(' r=""', ''),
      );
      return `<row>${cells.join('')}</row>`;
    })
    .join('');

const chatty = () =>
  rowsXml((reference, value) =>
    typeof value === 'number'
      ? `<c r="${reference}"\n\ts="1" ><v><!-- days -->${value}</v ></c\n>`
      : `<c t="inlineStr" r="${reference}"><is><t xml:space="preserve"><![CDATA[${value}]]></t></is></c>`,
  )
    .replaceAll('</row>', '</row>\n<!-- between <row r="3"> rows: <c r="A2"/> --><?mso row r="9"?>\n')
    .replace('<![CDATA[Anna AG]]>', '&#65;n<![CDATA[na]]>&#x20;AG');

const extended = `<worksheet xmlns="${main}" xmlns:r="${relations}" xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006" xmlns:x14ac="http://schemas.microsoft.com/office/spreadsheetml/2009/9/ac" xmlns:z="urn:somebody" mc:Ignorable="x14ac z"><sheetPr codeName="Sheet1"/><dimension ref="A1:F6"/><sheetViews><sheetView workbookViewId="0"/></sheetViews><sheetFormatPr defaultRowHeight="15" x14ac:dyDescent="0.25"/><sheetData>${rowsXml().replaceAll('<row ', '<row spans="1:6" x14ac:dyDescent="0.25" z:mark="a&gt;b" ').replace('</row>', '<c r="G1"/><c r="H1" s="1"/></row>')}</sheetData><extLst><ext uri="{00000000-0000-0000-0000-000000000000}"><z:thing><sheetData><row r="2"/></sheetData></z:thing></ext></extLst></worksheet>`;

/** A shared formula, an array formula, a text, a truth and an error as results, and the calculation chain they are in. */
function calculated(): Record<string, string> {
  const cells: Record<string, string> = {
    2: '<c r="H2"><f t="shared" ref="H2:H4" si="0">LEN(D2)</f><v>6</v></c><c r="I2" t="str"><f>D2&amp;"!"</f><v>Aachen!</v></c>',
    3: '<c r="H3"><f t="shared" si="0"/><v>4</v></c><c r="I3" t="b"><f>D3="Bonn"</f><v>1</v></c>',
    4: '<c r="H4"><f t="shared" si="0"/><v>4</v></c><c r="I4" t="e"><f>1/0</f><v>#DIV/0!</v></c>',
    5: '<c r="H5"><f t="array" ref="H5">SUM(LEN(D2:D5))</f><v>20</v></c><c r="I5" t="b"><v>0</v></c>',
  };
  const rows = rowsXml().replace(
    /<row r="(\d)">.*?(?=<\/row>)/gs,
    (row, n: string) => row + (cells[n] ?? ''),
  );
  const chain = ['H2', 'H3', 'H4', 'H5', 'I2', 'I3', 'I4'].map((r) => `<c r="${r}" i="1"/>`).join('');
  return {
    '[Content_Types].xml': contentTypesXml([
      ['xl/workbook.xml', types.workbook],
      [sheet1, types.sheet],
      ['xl/styles.xml', types.styles],
      ['xl/calcChain.xml', types.calcChain],
    ]),
    'xl/_rels/workbook.xml.rels': relationsXml(
      ['rId1', 'worksheet', 'worksheets/sheet1.xml'],
      ['rId2', 'styles', 'styles.xml'],
      ['rId3', 'calcChain', 'calcChain.xml'],
    ),
    'xl/calcChain.xml': `<calcChain xmlns="${main}">${chain}</calcChain>`,
    'xl/workbook.xml': workbookXml().replace('</workbook>', '<calcPr calcId="191029"/></workbook>'),
    [sheet1]: sheetXml(rows),
  };
}

function elsewhere(): Buffer {
  return zip(
    new Map([
      ['docs/Blatt%20eins.xml', sheetXml(rowsXml())],
      ['book/main.xml', workbookXml()],
      [
        'book/_rels/main.xml.rels',
        relationsXml(['s', 'styles', '../looks/s.xml'], ['rId1', 'worksheet', '/docs/Blatt%20eins.xml']),
      ],
      ['looks/s.xml', styles],
      ['_rels/.rels', relationsXml(['rId1', 'officeDocument', '/book/main.xml'])],
      [
        '[Content_Types].xml',
        contentTypesXml([
          ['looks/s.xml', types.styles],
          ['docs/Blatt%20eins.xml', types.sheet],
          ['book/main.xml', types.workbook],
        ]),
      ],
    ]),
  );
}

function secondSheet(): Buffer {
  const two = `<sheet name="Q&amp;A 'old' list" sheetId="7" r:id="rId9"/><sheet name="Leads" sheetId="3" r:id="rId1"/>`;
  return handMade({
    '[Content_Types].xml': contentTypesXml([
      ['xl/workbook.xml', types.workbook],
      [sheet1, types.sheet],
      ['xl/worksheets/sheet9.xml', types.sheet],
      ['xl/styles.xml', types.styles],
    ]),
    'xl/workbook.xml': workbookXml('', two),
    'xl/_rels/workbook.xml.rels': relationsXml(
      ['rId9', 'worksheet', 'worksheets/sheet9.xml'],
      ['rId1', 'worksheet', 'worksheets/sheet1.xml'],
      ['rId2', 'styles', 'styles.xml'],
    ),
    'xl/worksheets/sheet9.xml': sheetXml('<row r="1"><c r="A1"><v>42</v></c></row>'),
  });
}

const macros = Buffer.concat([
  Buffer.from('d0cf11e0a1b11ae1', 'hex'),
  Buffer.alloc(1_016, 'not a real macro '),
]);
const withMacros = () =>
  handMade({
    '[Content_Types].xml': contentTypesXml(
      [
        ['xl/workbook.xml', types.macroWorkbook],
        [sheet1, types.sheet],
        ['xl/styles.xml', types.styles],
      ],
      '<Default Extension="bin" ContentType="application/vnd.ms-office.vbaProject"/>',
    ),
    'xl/_rels/workbook.xml.rels': relationsXml(
      ['rId1', 'worksheet', 'worksheets/sheet1.xml'],
      ['rId2', 'styles', 'styles.xml'],
    ).replace(
      '</Relationships>',
      '<Relationship Id="rId3" Type="http://schemas.microsoft.com/office/2006/relationships/vbaProject" Target="vbaProject.bin"/></Relationships>',
    ),
    'xl/vbaProject.bin': macros,
  });

const utf16 = (text: string) => Buffer.from(bom + text.replace('UTF-8', 'UTF-16'), 'utf16le');
const titled =
  '<row r="1"><c r="A1" t="inlineStr"><is><t>Leads of the team</t></is></c></row>' + rowsXml(plainCell, 3);
const texts: CellXml = (reference, value) =>
  typeof value === 'number'
    ? `<c r="${reference}" s="1" t="d"><v>${new Date(Math.round((value - 25_569) * 86_400_000)).toISOString().slice(0, 19)}</v></c>`
    : `<c r="${reference}" t="str"><v xml:space="preserve">${escaped(value)}</v></c>`;

const zipStyles: Record<string, ZipStyle> = {
  'data descriptors': { dataDescriptors: true },
  'stored entries': { stored: true },
  zip64: { zip64: true },
  'extra fields': { extraField: true },
  'folder entries': { folders: true },
  backslashes: { backslashes: true },
  'trailing comment': { comment: 'written by hand PK' },
};

/** Workbooks with odd but legal XML and zips; what they say is what all others say. */
export function oddFiles(): CorpusFile[] {
  const epoch1904: CellXml = (reference, value) =>
    plainCell(reference, typeof value === 'number' ? value - 1_462 : value);
  const files: Record<string, Buffer> = {
    'prefixed names, single quotes': handMade({
      'xl/workbook.xml': prefixed(workbookXml()),
      [sheet1]: prefixed(sheetXml(rowsXml())).replaceAll(' r:id', ' r:id'),
    }),
    'no references': handMade({ [sheet1]: sheetXml(gapless()) }),
    'rich inline strings': handMade({
      [sheet1]: sheetXml(
        rowsXml((reference, value) =>
          typeof value === 'number'
            ? plainCell(reference, value)
            : `<c r="${reference}" t="inlineStr"><is>${richRuns(value)}${phonetic}</is></c>`,
        ),
      ),
    }),
    'shared strings with phonetic runs': handMade(
      withSharedStrings((text, n) =>
        n % 2 === 0
          ? `<si>${richRuns(text)}${phonetic}</si>`
          : `<si><t xml:space="preserve">${escaped(text)}</t>${phonetic}</si>`,
      ),
    ),
    'epoch 1904': handMade({
      'xl/workbook.xml': workbookXml('<workbookPr date1904="true"/>'),
      [sheet1]: sheetXml(rowsXml(epoch1904)),
    }),
    'CDATA, comments, instructions': handMade({ [sheet1]: sheetXml(chatty()) }),
    'byte order marks': zip(
      new Map([...packageParts()].map(([name, part]) => [name, bom + part.toString()])),
    ),
    'UTF-16 sheet': handMade({ [sheet1]: utf16(sheetXml(rowsXml())) }),
    'absolute part names elsewhere': elsewhere(),
    'extensions and empty cells': handMade({ [sheet1]: extended }),
    'formulas of all kinds': handMade(calculated()),
    'texts as results, ISO dates': handMade({ [sheet1]: sheetXml(rowsXml(texts)) }),
    ...Object.fromEntries(
      Object.entries(zipStyles).map(([name, style]) => [
        `zip: ${name}`,
        handMade(
          withSharedStrings((text) => `<si><t xml:space="preserve">${escaped(text)}</t></si>`),
          style,
        ),
      ]),
    ),
  };
  return [
    ...Object.entries(files).map(
      ([name, content]): CorpusFile => ({ name, extension: 'xlsx', content, full: false }),
    ),
    { name: 'macros', extension: 'xlsm', content: withMacros(), full: false },
    { name: 'second sheet', extension: 'xlsx', content: secondSheet(), sheet: 'Leads', full: false },
    {
      name: 'title above the headings',
      extension: 'xlsx',
      content: handMade({
        [sheet1]: sheetXml(titled, '<mergeCells count="1"><mergeCell ref="A1:F1"/></mergeCells>'),
      }),
      headingRow: 3,
      full: false,
    },
  ];
}
