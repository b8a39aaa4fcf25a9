import { Temporal } from 'temporal-polyfill';
import type { Cell, Values } from '../src/core/lead/value.ts';
import type { RowChange } from '../src/ports/target.ts';
import { type Check, Differs, same } from './check.ts';
import { area, type Scratch } from './scratch.ts';

const texts: Readonly<Record<string, string>> = {
  formula: '=1+2',
  import: '=IMPORTXML("https://example.com"; "//a")',
  plus: '+49 30 123',
  minus: '-5',
  apostrophe: "'quoted",
  at: '@home',
  zeros: '0042',
  long: '12345678901234567890',
  exponent: '1E5',
  date: '2026-11-20',
  percent: '50 %',
  truth: 'TRUE',
  spaces: '  two before, two after  ',
  lines: 'one\ntwo',
  tab: 'a\tb',
  emoji: '👩‍💻 Yılmaz & Söhne ✓',
  right: 'שלום',
  longest: 'ü'.repeat(50_000),
};

const changeOf = (leadId: string, expect: Values, values: Values): RowChange => ({
  kind: 'update',
  key: leadId,
  leadId,
  expect,
  values,
});

const table = (): Record<string, Values> =>
  Object.fromEntries(
    Array.from({ length: 6 }, (_, n) => [`id-${n}`, { companyName: `Company ${n}`, city: `City ${9 - n}` }]),
  );

/** What a person does between the look and the write, and what of the rows they take away. */
interface Move {
  readonly what: string;
  readonly gone: readonly string[];
  readonly request: (sheetId: number) => object;
}

const rows = (sheetId: number, startIndex: number, endIndex: number) => ({
  range: { sheetId, dimension: 'ROWS', startIndex, endIndex },
});

const moves: readonly Move[] = [
  {
    what: 'two rows are inserted above',
    gone: [],
    request: (sheetId) => ({ insertDimension: rows(sheetId, 1, 3) }),
  },
  {
    what: 'a row above is deleted',
    gone: ['id-0'],
    request: (sheetId) => ({ deleteDimension: rows(sheetId, 1, 2) }),
  },
  {
    what: 'the rows are sorted the other way round',
    gone: [],
    request: (sheetId) => ({
      sortRange: {
        range: area(sheetId, [1, 7], [0, 4]),
        sortSpecs: [{ dimensionIndex: 2, sortOrder: 'ASCENDING' }],
      },
    }),
  },
  {
    what: 'a column is inserted at the left',
    gone: [],
    request: (sheetId) => ({
      insertDimension: { range: { sheetId, dimension: 'COLUMNS', startIndex: 0, endIndex: 1 } },
    }),
  },
];

/** leadsync's own adapter, with a person at work beside it. */
export const adapterChecks: readonly Check[] = [
  {
    title: 'texts of a first sync arrive as they are, none becomes a formula, a number or a date',
    async run(scratch) {
      const all = Object.fromEntries(Object.entries(texts).map(([id, city]) => [id, { city }]));
      const { tab, target } = await scratch.filled(all);
      const read = await scratch.column(target, 'city');
      for (const [id, text] of Object.entries(texts)) same(`the text "${id}" is read as`, read.get(id), text);
      const cells = await scratch.cells(tab, 'A:D', 'userEnteredValue');
      const kinds = cells.flatMap((row) => row.flatMap((cell) => Object.keys(cell.userEnteredValue ?? {})));
      same('kinds of values in the cells', [...new Set(kinds)], ['stringValue']);
      return `${Object.keys(texts).length} texts, one of 50,000 characters`;
    },
  },
  {
    title: "moments as the spreadsheet's dates, around the changes of the clock, are read back the same",
    run: async (scratch) => {
      const zone = (await scratch.properties()).timeZone ?? 'UTC';
      const moments = momentsOf(zone);
      const values = Object.fromEntries(
        moments.map((nextFollowUpAt, n) => [`id-${n}`, { nextFollowUpAt }] as const),
      );
      const { tab, target } = await scratch.filled(values);
      const read = await scratch.column(target, 'nextFollowUpAt');
      moments.forEach((moment, n) => same(`${moment} is read as`, read.get(`id-${n}`), moment));
      const shown = (await scratch.values(tab, 'D2:D')).map(([text]) => text);
      const dates = moments.filter((moment, n) => {
        if (shown[n] === moment) return false;
        same(`${moment} is shown as`, shown[n], shownIn(zone, moment));
        return true;
      });
      return `${moments.length} moments in ${zone}, ${dates.length} as dates, the others as text`;
    },
  },
  {
    title: 'moments as ISO text, and dates that somebody types, are read to the same moment',
    async run(scratch) {
      const zone = (await scratch.properties()).timeZone ?? 'UTC';
      const moment = '2026-07-01T07:30:00.000Z';
      const { tab, target } = await scratch.filled(
        { text: { nextFollowUpAt: moment }, typed: { companyName: 'typed' } },
        'iso',
      );
      await scratch.type(tab, 'D3', [['2026-07-01 09:30']]);
      const read = await scratch.column(target, 'nextFollowUpAt');
      same('the text is read as', read.get('text'), moment);
      const local = Temporal.PlainDateTime.from('2026-07-01T09:30').toZonedDateTime(zone);
      same('what was typed is read as', read.get('typed'), new Date(local.epochMilliseconds).toISOString());
      return `in ${zone}`;
    },
  },
  {
    title: 'a heading that somebody renames is found by its record, also after its column was moved',
    async run(scratch) {
      const { tab, target } = await scratch.filled({ one: { city: 'Ulm' } });
      await scratch.type(tab, 'C1', [['Town']]);
      const source = {
        sheetId: await scratch.sheetId(tab),
        dimension: 'COLUMNS',
        startIndex: 2,
        endIndex: 3,
      };
      await scratch.update([{ moveDimension: { source, destinationIndex: 0 } }]);
      same('the city is read as', (await scratch.rows(target)).get('one')?.['city'], 'Ulm');
      same('a write', await scratch.write(target, [changeOf('one', { city: 'Ulm' }, { city: 'Bonn' })]), [
        'done',
      ]);
      same('the first column', await scratch.values(tab, 'A:A'), [['Town'], ['Bonn']]);
      return 'read and written under its new name';
    },
  },
  ...moves.map(
    (move): Check => ({
      title: `${move.what} between the look and the write: only the right cell changes`,
      run: (scratch) => checkMove(scratch, move),
    }),
  ),
  {
    title: 'somebody types below the last row while a row is added: both are there',
    async run(scratch) {
      const { tab, target } = await scratch.filled(table());
      const added: RowChange = { kind: 'append', key: 'new', leadId: 'new', values: { companyName: 'New' } };
      const verdicts = await scratch.write(target, [added], () =>
        scratch.type(tab, 'A8:B8', [['', 'typed meanwhile']]),
      );
      same('the new row', verdicts, ['done']);
      const names = (await scratch.values(tab, 'B8:B')).map(([name]) => name);
      same('the last rows', names, ['New', 'typed meanwhile']);
      return 'what was typed was pushed down';
    },
  },
  {
    title: 'a formula in a mapped cell is held and stays',
    async run(scratch) {
      const { tab, target } = await scratch.filled({ one: { city: 'Ulm' } });
      await scratch.type(tab, 'C2', [['=1+2']]);
      const cell = (await scratch.rows(target)).get('one')?.['city'];
      const unreadable = typeof cell === 'object' && cell !== null ? cell.unreadable : null;
      if (unreadable?.startsWith('formula =1+2') !== true)
        throw new Differs(`it is read as ${JSON.stringify(cell)}`);
      const [verdict] = await scratch.write(target, [changeOf('one', {}, { city: 'Bonn' })]);
      if (verdict?.startsWith('held target.cell-not-writable') !== true)
        throw new Differs(`the write is ${verdict ?? 'nothing'}`);
      const [[formula] = []] = await scratch.values(tab, 'C2', 'FORMULA');
      if (typeof formula !== 'string' || !formula.startsWith('=')) throw new Differs('the formula is gone');
      return unreadable;
    },
  },
];

async function checkMove(scratch: Scratch, { what, gone, request }: Move): Promise<string> {
  const before = table();
  const { tab, target } = await scratch.filled(before);
  const sheetId = await scratch.sheetId(tab);
  const old = before['id-3'] ?? {};
  const [verdict = 'nothing'] = await scratch.write(
    target,
    [changeOf('id-3', old, { city: 'Bonn' })],
    async () => {
      await scratch.update([request(sheetId)]);
    },
  );
  if (verdict !== 'done' && !verdict.startsWith('deferred')) throw new Differs(`the write is ${verdict}`);
  const after = await scratch.rows(target);
  const seen = Object.keys(before).flatMap((id) => (after.has(id) ? [[id, texted(after.get(id))]] : []));
  const expected = Object.entries(before).flatMap(([id, values]) => {
    const isWritten = id === 'id-3' && verdict === 'done';
    return gone.includes(id) ? [] : [[id, texted({ ...values, ...(isWritten && { city: 'Bonn' }) })]];
  });
  same(`after ${what} the rows are`, seen, expected);
  return `the write: ${verdict}`;
}

function texted(cells: Readonly<Record<string, Cell>> | undefined): string {
  return ['companyName', 'city'].map((name) => JSON.stringify(cells?.[name] ?? null)).join(' ');
}

/** Around the next two changes of the zone's clock, and two that are in no such hour. */
function momentsOf(zone: string): string[] {
  const moments = ['2026-01-15T12:00:00.000Z', '2026-07-15T12:00:00.000Z'];
  let at = Temporal.Instant.from('2026-01-01T00:00:00Z').toZonedDateTimeISO(zone);
  for (let n = 0; n < 2; n++) {
    const next = at.getTimeZoneTransition('next');
    if (next === null) break;
    for (const minutes of [-90, -30, -1, 0, 30, 90])
      moments.push(new Date(next.epochMilliseconds + minutes * 60_000).toISOString());
    at = next;
  }
  return moments;
}

function shownIn(zone: string, moment: string): string {
  const local = Temporal.Instant.from(moment).toZonedDateTimeISO(zone).toPlainDateTime();
  return local.toString({ smallestUnit: 'minute' }).replace('T', ' ');
}
