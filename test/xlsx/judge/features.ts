import { createHash } from 'node:crypto';
import type { Element } from '@xmldom/xmldom';
import { JudgedWorkbook, type JudgedSheet } from './workbook.ts';
import type { Parts } from './parts.ts';
import { all, attribute, canonicalXml, child } from './xml.ts';

/** What a feature consists of: places to what is there. */
type Traces = Map<string, string>;

/** Features of a workbook that a write must leave as they are. */
export const features = [
  "user's own columns",
  'formula, same sheet',
  'formula, other sheet',
  'fonts',
  'fills',
  'borders, alignment',
  'number formats',
  'text-formatted 0042',
  'comment',
  'hyperlink',
  'conditional formats with fill',
  'data validation',
  'freeze pane',
  'column width',
  'hidden column',
  'row height',
  'autofilter',
  'named range',
  'merged cells',
  'table with style',
  'chart',
  'image',
  'tab colour',
  'orientation',
  'header and footer',
  'hidden sheet',
  '+ protected sheet',
  '+ pivot table',
  '+ several sheets',
] as const;
export type Feature = (typeof features)[number];

const sha = (part: Buffer) => createHash('sha256').update(part).digest('hex');
/** A range without its last row, which may grow. */
const growing = (range: string | null) => range?.replace(/\d+$/, '') ?? '';
const withoutRange = (element: Element) => canonicalXml(element).replace(/ \{\}ref="[^"]*"/g, '');

/** Columns of the user: everything but A, B, D, E and the status column. */
const ownColumns = new Set(['C', 'F', 'G', 'H', 'I']);

/** Everything of each feature that a workbook has, judged on the sheet that is kept in step. */
function featuresOf(parts: Parts, sheetName: string): Map<Feature, Traces> {
  const book = new JudgedWorkbook(parts);
  const sheets = book.sheets();
  const sheet = book.sheet(sheetName);
  return new Map<Feature, Traces>([
    ...ofCells(book, sheet),
    ...ofSheet(book, sheet),
    ...ofPackage(book, sheets, sheet),
  ]);
}

function ofCells(book: JudgedWorkbook, sheet: JudgedSheet): [Feature, Traces][] {
  const style = book.styleReader();
  const cells = [...sheet.cells];
  const byCell = (aspect: string): [string, string][] =>
    cells
      .filter(([, cell]) => cell.style !== 0)
      .map(([at, cell]) => [`${at} ${aspect}`, style(cell.style, aspect)]);
  const plain = (aspect: string) => style(0, aspect);
  const unlike = (aspect: string) => byCell(aspect).filter(([, value]) => value !== plain(aspect));
  const formulas = book
    .sheets()
    .flatMap(({ name, cells }) =>
      [...cells].flatMap(([at, { formula }]): [string, string][] =>
        formula === null ? [] : [[`${name} ${at}`, formula]],
      ),
    );
  return [
    [
      "user's own columns",
      new Map(
        cells
          .filter(([, cell]) => ownColumns.has(cell.column) && cell.text !== '')
          .map(([at, cell]) => [at, cell.text]),
      ),
    ],
    ['formula, same sheet', new Map(formulas.filter(([, formula]) => !formula.includes('!')))],
    ['formula, other sheet', new Map(formulas.filter(([, formula]) => formula.includes('!')))],
    ['fonts', new Map(unlike('font'))],
    ['fills', new Map(unlike('fill'))],
    ['borders, alignment', new Map([...unlike('border'), ...unlike('alignment')])],
    ['number formats', new Map(unlike('numFmt'))],
    [
      'text-formatted 0042',
      new Map(
        cells
          .filter(([, cell]) => cell.text === '0042')
          .map(([at, cell]) => [at, `${attribute(cell.element, 't')} ${style(cell.style, 'numFmt')}`]),
      ),
    ],
  ];
}

function ofSheet(book: JudgedWorkbook, { root, part }: JudgedSheet): [Feature, Traces][] {
  const xml = (names: string): Traces => numbered(all(root, names).map((element) => canonicalXml(element)));
  const columns = all(root, 'col');
  const span = (column: Element) => `${attribute(column, 'min')}-${attribute(column, 'max')}`;
  const on = (value: string | null) => value === '1' || value === 'true';
  const links = new Map(book.relations(part).map(({ id, target }) => [id, target]));
  return [
    [
      'hyperlink',
      new Map(
        all(root, 'hyperlink').map((link) => [
          attribute(link, 'ref') ?? '',
          [...link.attributes].map(({ value }) => links.get(value) ?? '').join(''),
        ]),
      ),
    ],
    [
      'conditional formats with fill',
      new Map(
        all(root, 'conditionalFormatting').flatMap((format) =>
          all(format, 'cfRule').map((rule) => [
            `${attribute(format, 'sqref')} ${canonicalXml(rule)}`,
            book.differentialStyle(attribute(rule, 'dxfId')),
          ]),
        ),
      ),
    ],
    ['data validation', xml('dataValidation')],
    ['freeze pane', xml('pane')],
    ['column width', new Map(columns.map((column) => [span(column), attribute(column, 'width') ?? '']))],
    [
      'hidden column',
      new Map(
        columns.filter((column) => on(attribute(column, 'hidden'))).map((column) => [span(column), 'hidden']),
      ),
    ],
    [
      'row height',
      new Map(
        all(root, 'row')
          .filter((row) => on(attribute(row, 'customHeight')))
          .map((row) => [attribute(row, 'r') ?? '', attribute(row, 'ht') ?? '']),
      ),
    ],
    [
      'autofilter',
      new Map(
        [root, ...book.related(part, 'table').map((name) => book.root(name))]
          .flatMap((owner) => child(owner, 'autoFilter') ?? [])
          .map((filter) => [growing(attribute(filter, 'ref')), withoutRange(filter)]),
      ),
    ],
    ['merged cells', new Map(all(root, 'mergeCell').map((cell) => [attribute(cell, 'ref') ?? '', 'merged']))],
    ['tab colour', xml('tabColor')],
    [
      'orientation',
      new Map(all(root, 'pageSetup').map((page) => ['page', attribute(page, 'orientation') ?? ''])),
    ],
    ['header and footer', xml('headerFooter')],
  ];
}

function ofPackage(
  book: JudgedWorkbook,
  sheets: readonly JudgedSheet[],
  sheet: JudgedSheet,
): [Feature, Traces][] {
  const sums = (names: readonly string[]): Traces =>
    new Map(names.map((name) => [name, sha(book.part(name))]));
  const drawings = book.related(sheet.part, 'drawing');
  const fromDrawings = (type: string) => {
    const found = drawings.flatMap((drawing) => book.related(drawing, type));
    return sums(found.length === 0 ? [] : [...found, ...drawings]);
  };
  const tables = sheets.flatMap(({ part }) => book.related(part, 'table'));
  const names = all(book.root(book.workbookPart), 'definedName').filter(
    (name) => !(attribute(name, 'name') ?? '').startsWith('_xlnm'),
  );
  return [
    ['comment', sums(['comments', 'vmlDrawing'].flatMap((type) => book.related(sheet.part, type)))],
    ['named range', new Map(names.map((name) => [attribute(name, 'name') ?? '', canonicalXml(name)]))],
    ['table with style', new Map(tables.map((name) => [name, withoutRange(book.root(name))]))],
    ['chart', fromDrawings('chart')],
    ['image', fromDrawings('image')],
    [
      'hidden sheet',
      new Map(
        sheets
          .filter(({ state }) => state === 'hidden')
          .map(({ name, part }) => [name, sha(book.part(part))]),
      ),
    ],
    [
      '+ protected sheet',
      new Map(
        sheets.flatMap(({ name, root }) =>
          all(root, 'sheetProtection').map((lock) => [name, canonicalXml(lock)]),
        ),
      ),
    ],
    [
      '+ pivot table',
      sums(
        sheets.flatMap(({ part }) =>
          book
            .related(part, 'pivotTable')
            .flatMap((pivot) => [pivot, ...book.related(pivot, 'pivotCacheDefinition')]),
        ),
      ),
    ],
    [
      '+ several sheets',
      sheets.length < 2 ? new Map() : numbered(sheets.map(({ name, state }) => `${name} ${state}`)),
    ],
  ];
}

function numbered(values: readonly string[]): Traces {
  return new Map(values.map((value, n) => [String(n), value]));
}

export type Verdict = 'kept' | 'lost' | 'not there';

/**
 * Which features of the first workbook the second has in full. Cells of rows that were removed on purpose do not count
 * (`removedRows`, 1-based).
 */
export function judgeFeatures(
  before: Parts,
  after: Parts,
  sheetName: string,
  removedRows: ReadonlySet<number> = new Set(),
): Map<Feature, { verdict: Verdict; lost: string[] }> {
  const [had, has] = [featuresOf(before, sheetName), featuresOf(after, sheetName)];
  const removed = (place: string) => removedRows.has(Number(/^[A-Z]+(\d+)\b/.exec(place)?.[1]));
  return new Map(
    features.map((feature) => {
      const traces = [...(had.get(feature) ?? [])].filter(([place]) => !removed(place));
      const now = has.get(feature);
      const lost = traces.filter(([place, value]) => now?.get(place) !== value).map(([place]) => place);
      const verdict = traces.length === 0 ? 'not there' : lost.length === 0 ? 'kept' : 'lost';
      return [feature, { verdict, lost }];
    }),
  );
}
