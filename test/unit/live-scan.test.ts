import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Aside } from '../../src/core/lead/aside.ts';
import type { Cell, Cells, Values } from '../../src/core/lead/value.ts';
import type { Asked, HeldField } from '../../src/core/merge/difference.ts';
import { type LeadCheckpoint, LiveScan, type PairFacts, sightOf } from '../../src/core/merge/live-scan.ts';
import { Baselines } from '../../src/core/merge/records.ts';
import { rowsInCells } from '../../src/core/merge/row-elsewhere.ts';
import { cpuMs } from '../support/cpu-ms.ts';
import { lawRuns } from '../support/law-runs.ts';
import {
  about,
  all,
  baselinesOf,
  fields,
  merged,
  type Pair,
  rangesOf,
  ScanModel,
  type Shown,
} from './scan-model.ts';

const settledPair = (leadId: string, nth: number, base: Values): Pair => ({
  leadId,
  id: nth,
  row: nth + 2,
  base,
  isLong: false,
  state: 'settled',
});

const spelled = 'AAAAAAAA-0000-4000-8000-000000000010';
const key = spelled.toLowerCase();
const spelledPair = spelled.replaceAll('A', 'B');

const value = fc.constantFrom('Acme', 'new', '', 'e\u0301', '\u00e9', 'a\r\nb', 'a\nb', null);
const cell: fc.Arbitrary<Cell> = fc.oneof(
  { weight: 8, arbitrary: value },
  { weight: 1, arbitrary: fc.constant({ unreadable: 'soon' }) },
);
const record = <T extends Cell>(of: fc.Arbitrary<T>, requiredKeys: 'companyName'[] = []) =>
  fc.record({ companyName: of, stage: of }, { requiredKeys, noNullPrototype: true });
// The service may call one lead by two names: the first one counts.
const ids = ['a', 'b', 'c', 'd', 'ü', 'e', spelled, spelled.replace('A', 'a'), spelledPair];
const anyId = fc.constantFrom(...ids);
const pairs: fc.Arbitrary<readonly Pair[]> = fc
  .uniqueArray(
    fc.record({
      leadId: fc.constantFrom(...ids.slice(0, 5), spelledPair),
      base: fc.option(record(value, ['companyName']) as fc.Arbitrary<Values>, { freq: 6 }),
      isLong: fc.boolean(),
      state: fc.constantFrom('settled', 'settled', 'settled', 'open', 'deleted'),
      row: fc.option(fc.integer({ min: 2, max: 6 }), { freq: 6 }),
      id: fc.integer({ min: 1, max: 12 }),
    }),
    { minLength: 2, selector: ({ leadId }) => leadId },
  )
  // Postgres sends them in no order, with gaps; what was never in step is not settled.
  .map((all) =>
    all
      .filter(({ id }, nth) => all.findIndex((one) => one.id === id) === nth)
      .map((pair) => (pair.base === null ? { ...pair, isLong: false, state: 'open' as const } : pair)),
  );

const shown = fc.oneof(
  fc.constantFrom<Shown>('base', 'base', 'alike', 'part'),
  record(cell) as fc.Arbitrary<Cells>,
);
const event = fc.oneof(
  { weight: 8, arbitrary: fc.record({ kind: fc.constant('lead'), leadId: anyId, cells: shown }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('correct'), leadId: anyId, cells: shown }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('ask'),
      leadId: anyId,
      asked: fc.constantFrom<Asked>(
        { answer: 'gone', message: null },
        { answer: 'unknown', message: 'a fault' },
      ),
    }),
  },
  {
    weight: 10,
    arbitrary: fc.record({
      kind: fc.constant('row'),
      row: fc.record({
        leadId: fc.oneof({ weight: 5, arbitrary: anyId.map((id) => id.toLowerCase()) }, fc.constant(null)),
        row: fc.integer({ min: 2, max: 6 }),
        status: fc.constantFrom('', '', 'mine'),
        isPaused: fc.constantFrom(false, false, false, true),
        without: fc.constantFrom({}, { unreadableId: '#REF!' }, { idClosed: 'closed' }, { apart: true }),
      }),
      cells: shown,
      isWhole: fc.constantFrom(true, true, false),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('checkpoint'),
      cursors: fc.uniqueArray(fc.stringMatching(/^[a-l]$/), { maxLength: 2 }),
      isKilled: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('leads-anew', 'rows-anew') }) },
);
const unknown: PairFacts = {
  base: null,
  leadAbsences: 0,
  rowAbsences: 0,
  isCounted: false,
  absentSince: null,
  deletionDone: false,
};
const facts: PairFacts = {
  base: {},
  leadAbsences: 1,
  rowAbsences: 2,
  isCounted: true,
  absentSince: 3,
  deletionDone: true,
};
const held: readonly HeldField[] = [{ field: '', code: '', resolution: null, lead: null, row: null }];
const asides: readonly Aside[] = ['', 'nobody', ...ids.map((id) => id.toLowerCase())].flatMap((leadId) =>
  (['table', 'note', 'note'] as const).map((kind) => ({ leadId, kind, place: 'B7' })),
);

const seeing = { isWhole: true, usualStatus: null };

const rowOf = (leadId: string, ordinal: number) =>
  ({ ordinal, row: ordinal + 2, leadId, cells: { companyName: 'Acme' }, status: null }) as const;

describe('a live scan', () => {
  test('no edit is lost: it answers as a model of maps does, also when other processes take it up', () => {
    fc.assert(
      fc.property(pairs, fc.array(event, { maxLength: 40, size: 'max' }), (known, events) => {
        const [base, model] = [baselinesOf(known), new ScanModel(known)];
        const open = (): LiveScan => {
          const opened = new LiveScan(base);
          for (const { leadId } of known) opened.spell(leadId);
          return opened;
        };
        let [live, log, met] = [open(), [] as LeadCheckpoint[], [] as number[]];
        for (const [ordinal, one] of events.entries()) {
          if (one.kind === 'lead') {
            const cells = model.cellsOf(one);
            expect(live.seeLead(one.leadId, cells)).toBe(model.seeLead(one.leadId, cells));
            const { id = 0 } = model.pairs.get(one.leadId) ?? {};
            if (model.asBase.has(one.leadId)) met.push(id);
          } else if (one.kind === 'correct') {
            live.correctLead(one.leadId, model.cellsOf(one));
            model.correct(one.leadId, model.cellsOf(one));
          } else if (one.kind === 'ask') {
            live.answer(one.leadId, one.asked);
            model.asked.set(one.leadId, one.asked);
          } else if (one.kind === 'row') {
            const { without, isPaused, ...read } = one.row;
            const cells = model.cellsOf({ leadId: read.leadId ?? '', cells: one.cells });
            const row = {
              ...read,
              ...(read.leadId === null && without),
              ordinal,
              cells,
              ...(isPaused && { paused: isPaused }),
            };
            const left = live.seeRow(row, { isWhole: one.isWhole, usualStatus: '' });
            expect(left).toEqual(model.seeRow(row, one.isWhole));
          } else if (one.kind === 'checkpoint') {
            const isNew = one.cursors.every(
              (cursor) => !model.cursors.has(cursor) && model.cursors.add(cursor),
            );
            expect(live.useCursors(one.cursors)).toBe(isNew);
            // The scan is given up then.
            if (!isNew) return;
            log.push(live.takeLeads(one.cursors));
            expect(log.at(-1)?.asBase).toEqual(rangesOf(met));
            met = [];
            if (!one.isKilled) continue;
            live = open();
            live.takeUpLeads(log);
            for (const line of log) live.takeUpOthers(line);
            model.takeUp();
          } else if (one.kind === 'leads-anew') {
            live.forgetLeads();
            model.forgetLeads();
            [log, met] = [[], []];
          } else {
            live.forgetRows();
            model.rows = [];
          }
        }
        live.respellRows();
        model.respell();
        live.mergeRows(merged);
        live.lookAt(ids);
        expect([...live.plainLines()]).toEqual([]);
        live.setAsideNew(new Set(['a']));
        live.lookAt(['e']);
        for (const leadId of [...ids, key, 'nobody'])
          expect(about(live, leadId)).toEqual(model.about(leadId));
        expect(all(live)).toEqual(model.all());
        for (const leadId of ids) {
          const none = { ...model.sight(leadId), ...unknown, isKnown: false, held: [] };
          expect(sightOf(live, leadId, undefined, [])).toEqual(none);
          const known = { ...model.sight(leadId), ...facts, isKnown: true, held };
          expect(sightOf(live, leadId, facts, held)).toEqual(known);
        }
        live.seeAsides(asides);
        expect(rowsInCells(live)).toEqual(model.rowsInCells(asides));
      }),
      { numRuns: lawRuns(400) },
    );
  });

  test('pairs in a row are one range of a checkpoint, in whatever order they came', () => {
    const base = { companyName: 'Acme', stage: null };
    const baselines = baselinesOf(
      [4, 9, 1, 3, 0, 7, 5, 8, 2, 6].map((id) => ({ ...settledPair(`${id}`, 0, base), id })),
    );
    const live = new LiveScan(baselines);
    const log = [
      [7, 4, 3, 9, 5],
      [8, 0, 1],
    ].map((some) => {
      for (const id of some) live.seeLead(`${id}`, base);
      return live.takeLeads([]);
    });
    expect(log.map(({ asBase }) => asBase)).toEqual([
      [
        [3, 3],
        [7, 1],
        [9, 1],
      ],
      [
        [0, 2],
        [8, 1],
      ],
    ]);
    const other = new LiveScan(baselines);
    other.takeUpLeads(log);
    expect([...other.unlistedLeads()]).toEqual(['2', '6']);
  });

  test('of two rows of an id that is spelled otherwise the first one has it', () => {
    const live = new LiveScan(baselinesOf([]));
    live.seeRow(rowOf(key, 0), seeing);
    live.seeRow({ ...rowOf(key, 1), paused: true }, seeing);
    live.spell(spelled);
    live.seeRow(rowOf(key, 2), seeing);
    live.respellRows();
    expect([[...live.rows.ids()], live.row(spelled)?.row, live.rows.isCopied(spelled)]).toEqual([
      [spelled],
      2,
      true,
    ]);
    expect([...live.rows.loose()]).toMatchObject([
      { leadId: spelled, row: 3, isPaused: true },
      { leadId: spelled, row: 4 },
    ]);
  });

  test('each of thousands of rows whose id another row has gets its other spelling at once', () => {
    const count = 4_000;
    const live = new LiveScan(baselinesOf([]));
    const idOf = (nth: number): string => `AAAAAAAA-0000-4000-8000-${String(nth).padStart(12, '0')}`;
    for (let nth = 0; nth < 2 * count; nth++)
      live.seeRow(rowOf(idOf(nth % count).toLowerCase(), nth), seeing);
    for (let nth = 0; nth < count; nth++) live.spell(idOf(nth));
    const before = cpuMs();
    live.respellRows();
    expect(cpuMs() - before).toBeLessThan(4_000);
    expect([...live.rows.loose()].every(({ leadId }, nth) => leadId === idOf(nth))).toBe(true);
  });

  test('a table as before is met but for what did not show its baseline then', () => {
    const base = { companyName: 'Acme', stage: null };
    const known = ['a', 'b', 'c'].map((leadId, nth) => settledPair(leadId, nth, base));
    const live = new LiveScan(baselinesOf(known));
    live.meetRowsBut(['b', 'nobody']);
    expect([live.rowless(1), live.unmoved()]).toEqual([['b'], { leads: 0, rows: 2 }]);
    expect(live.seeRow({ ...rowOf('b', 1), cells: base }, seeing)).toBeNull();
    expect(live.seeRow({ ...rowOf('a', 2), cells: base }, seeing)).toMatchObject({ duplicate: true });
  });
});

test('each of thousands of pairs keeps its id, its row, and its state', () => {
  const states = ['settled', 'open', 'deleted'] as const;
  const known = Array.from({ length: 3_000 }, (_, nth) => ({
    ...settledPair(`lead-${nth}`, 2 * nth, { companyName: `Firm ${nth}`, stage: null }),
    row: nth % 2 === 0 ? nth + 2 : null,
    state: states[nth % 3] ?? 'open',
  }));
  const base = baselinesOf(known);
  for (const [n, { leadId, id, row, state, base: cells }] of known.entries())
    expect([
      base.leadId(n),
      base.pairId(n),
      base.row(n),
      base.isDeleted(n),
      base.isShown(n, cells ?? {}),
    ]).toEqual([leadId, id, row, state === 'deleted', state === 'settled']);
});

test('what leads and a table took is given back before they are read again', () => {
  let taken = 0;
  const scan = new LiveScan(new Baselines(fields), (bytes) => void (taken += bytes));
  scan.spell('a');
  for (const row of [
    rowOf('a', 0),
    { ...rowOf('a', 1), leadId: null },
    { ...rowOf('b', 2), paused: true } as const,
  ]) {
    const before = taken;
    scan.seeRow(row, seeing);
    expect(taken).toBeGreaterThan(before);
  }
  const before = taken;
  scan.seeAsides(asides.slice(0, 2));
  expect(taken).toBeGreaterThan(before);
  expect(scan.asides).toHaveLength(2);
  scan.seeLead('a', {});
  scan.forgetRows();
  expect([taken > 0, scan.asides]).toEqual([true, []]);
  scan.forgetLeads();
  expect(taken).toBe(0);
});
