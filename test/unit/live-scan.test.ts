import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { FieldMapping } from '../../src/core/lead/mapping.ts';
import type { Cell, Cells, Values } from '../../src/core/lead/value.ts';
import { showsBase } from '../../src/core/merge/difference.ts';
import { type LeadCheckpoint, type LeadSight, LiveScan } from '../../src/core/merge/live-scan.ts';
import { Baselines, recordText } from '../../src/core/merge/loaded-baselines.ts';
import { lawRuns } from '../support/law-runs.ts';

const fields: readonly FieldMapping[] = [
  { field: 'companyName', column: 'Company', type: 'text', direction: 'two-way' },
  { field: 'stage', column: 'Stage', type: 'text', direction: 'two-way' },
];

interface Pair {
  readonly leadId: string;
  readonly base: Values;
  readonly isSettled: boolean;
}

function baselinesOf(pairs: readonly Pair[]): Baselines {
  const all = new Baselines(fields);
  for (const [nth, { leadId, base, isSettled }] of pairs.entries()) {
    const bytes = Buffer.from(`${leadId}${recordText(base, fields)}`);
    const end = Buffer.byteLength(leadId);
    // Ids with gaps, as Postgres gives them out.
    all.add(
      { id: 3 * nth + (nth % 2), row: nth + 2, isSettled, isDeleted: false },
      bytes,
      0,
      end,
      end,
      bytes.length,
    );
  }
  return all;
}

const value = fc.constantFrom('Acme', 'new', '', 'e\u0301', '\u00e9', 'a\r\nb', 'a\nb', null);
const cell = fc.oneof(
  { weight: 8, arbitrary: value },
  { weight: 1, arbitrary: fc.constant({ unreadable: 'soon' }) },
);
const record = <T extends Cell>(of: fc.Arbitrary<T>) =>
  fc.record({ companyName: of, stage: of }, { requiredKeys: [], noNullPrototype: true });
const ids = ['a', 'b', 'c', 'd', 'ü', 'e'];
const pairs = fc.uniqueArray(
  fc.record({
    leadId: fc.constantFrom(...ids.slice(0, 5)),
    base: record(value) as fc.Arbitrary<Values>,
    isSettled: fc.boolean(),
  }),
  { selector: ({ leadId }) => leadId },
);
const sight = fc.record({
  leadId: fc.constantFrom(...ids),
  cells: record(cell) as fc.Arbitrary<Cells>,
  isCheckpoint: fc.boolean(),
  isKilled: fc.boolean(),
});

const seeing = { isWhole: true, usualStatus: null };

const rowOf = (leadId: string, ordinal: number) =>
  ({ ordinal, row: ordinal + 2, leadId, cells: { companyName: 'Acme' }, status: null }) as const;

const hasAll = (cells: Cells): boolean => fields.every(({ field }) => field in cells);

/** What a scan knows of pairs, read off as SQL did: without bytes, ordinals and ranges. */
class Model {
  readonly seen = new Map<string, boolean>();
  readonly others = new Map<string, Cells>();
  readonly pairs: ReadonlyMap<string, Pair>;

  constructor(known: readonly Pair[]) {
    this.pairs = new Map(known.map((pair) => [pair.leadId, pair]));
  }

  see(leadId: string, cells: Cells): LeadSight {
    const pair = this.pairs.get(leadId);
    const isShown = pair?.isSettled === true && showsBase(cells, pair.base);
    const isAgain = this.seen.has(leadId);
    this.seen.set(leadId, isShown && !isAgain);
    if (!isShown || isAgain) this.others.set(leadId, cells);
    if (isAgain) return 'again';
    return pair === undefined ? 'new' : isShown ? 'as-base' : 'moved';
  }

  unmoved(): number {
    return [...this.seen.values()].filter(Boolean).length;
  }

  missed(): readonly string[] {
    return [...this.pairs.keys()].filter((leadId) => !this.seen.has(leadId));
  }
}

describe('a live scan', () => {
  test('no edit is lost: it makes of leads what a map makes of them, also when it is taken up by other processes', () => {
    fc.assert(
      fc.property(pairs, fc.array(sight, { maxLength: 30 }), (known, sights) => {
        const [base, model] = [baselinesOf(known), new Model(known)];
        let live = new LiveScan(base);
        const log: LeadCheckpoint[] = [];
        for (const { leadId, cells, isCheckpoint, isKilled } of sights) {
          expect(live.seeLead(leadId, cells)).toBe(model.see(leadId, cells));
          if (!isCheckpoint && !isKilled) continue;
          log.push(live.takeLeads([]));
          if (!isKilled) continue;
          live = new LiveScan(base);
          live.takeUpLeads(log);
          for (const line of log) live.takeUpOthers(line);
        }
        expect(live.unmoved()).toEqual({ leads: model.unmoved(), rows: 0 });
        const missed = [...live.absent()].filter(({ lead }) => lead).map(({ leadId }) => leadId);
        expect(missed).toEqual(model.missed());
        expect(new Map([...live.leads()].map((leadId) => [leadId, live.lead(leadId)]))).toEqual(model.others);
      }),
      { numRuns: lawRuns(500) },
    );
  });

  test('of rows the first with an id counts, and one that lacks a field does not show its baseline', () => {
    fc.assert(
      fc.property(pairs, fc.array(sight, { maxLength: 12 }), (known, rows) => {
        const live = new LiveScan(baselinesOf(known));
        const pairOf = new Map(known.map((pair) => [pair.leadId, pair]));
        const seen = new Set<string>();
        for (const [ordinal, { leadId, cells, isCheckpoint: isWhole }] of rows.entries()) {
          const pair = pairOf.get(leadId);
          const duplicate = seen.has(leadId);
          const isShown =
            pair?.isSettled === true && isWhole && hasAll(cells) && showsBase(cells, pair.base) && !duplicate;
          const row = { ordinal, row: ordinal + 2, leadId, cells, status: null };
          const isInPlace = pair !== undefined && known.indexOf(pair) === ordinal;
          const expected = isShown && isInPlace ? null : { ...row, duplicate };
          expect(live.seeRow(row, { isWhole: isWhole, usualStatus: null })).toEqual(expected);
          if (!duplicate && expected !== null)
            expect(live.row(leadId)).toMatchObject({ row: ordinal + 2, cells: isShown ? null : cells });
          seen.add(leadId);
        }
        const missed = known.map(({ leadId }) => leadId).filter((leadId) => !seen.has(leadId));
        expect(live.rowless(10)).toEqual(missed);
        if (missed.length > 0) expect(live.rowless(missed.length - 1)).toBeNull();
        live.forgetRows();
        expect(live.rowless(10)).toEqual(known.map(({ leadId }) => leadId));
      }),
      { numRuns: lawRuns(300) },
    );
  });

  const spelled = 'AAAAAAAA-0000-4000-8000-000000000010';
  const key = spelled.toLowerCase();

  test('a row under another spelling is met, and is not as before', () => {
    const base = { companyName: 'Acme', stage: null };
    const live = new LiveScan(baselinesOf([{ leadId: spelled, base, isSettled: true }]));
    live.seeRow({ ...rowOf('b', 0), cells: base }, seeing);
    live.seeRow({ ...rowOf(key, 1), cells: base }, seeing);
    live.seeRow({ ...rowOf(key, 2), cells: base }, seeing);
    expect(live.rowless(1)).toEqual([spelled]);
    live.spell(spelled);
    live.seeRow({ ...rowOf(key, 3), cells: base }, seeing);
    live.respellRows();
    expect([live.rowless(1), live.unmoved()]).toEqual([[], { leads: 0, rows: 1 }]);
    // The one that was read in the right spelling shows its baseline: the others are copies of it.
    expect([live.row(spelled)?.row, [...live.rows.loose()].map(({ row, leadId }) => [row, leadId])]).toEqual([
      5,
      [
        [3, spelled],
        [4, spelled],
      ],
    ]);
  });

  test('of two rows of an id that is spelled otherwise the first one has it', () => {
    const live = new LiveScan(baselinesOf([]));
    live.seeRow(rowOf(key, 0), seeing);
    live.spell(spelled);
    live.seeRow(rowOf(key, 1), seeing);
    live.respellRows();
    expect([[...live.rows.ids()], live.row(spelled)?.row, live.rows.isCopied(spelled)]).toEqual([
      [spelled],
      2,
      true,
    ]);
    expect([...live.rows.loose()]).toMatchObject([{ leadId: spelled, row: 3 }]);
  });

  test('each of thousands of rows whose id another row has gets its other spelling at once', () => {
    const count = 4_000;
    const live = new LiveScan(baselinesOf([]));
    const idOf = (nth: number): string => `AAAAAAAA-0000-4000-8000-${String(nth).padStart(12, '0')}`;
    for (let nth = 0; nth < 2 * count; nth++)
      live.seeRow(rowOf(idOf(nth % count).toLowerCase(), nth), seeing);
    for (let nth = 0; nth < count; nth++) live.spell(idOf(nth));
    const before = performance.now();
    live.respellRows();
    expect(performance.now() - before).toBeLessThan(2_000);
    expect([...live.rows.loose()].every(({ leadId }, nth) => leadId === idOf(nth))).toBe(true);
  });

  test('a table as before is met but for what did not show its baseline then', () => {
    const base = { companyName: 'Acme', stage: null };
    const known = ['a', 'b', 'c'].map((leadId) => ({ leadId, base, isSettled: true }));
    const live = new LiveScan(baselinesOf(known));
    live.meetRowsBut(['b', 'nobody']);
    expect([live.rowless(1), live.unmoved()]).toEqual([['b'], { leads: 0, rows: 2 }]);
    expect(live.seeRow({ ...rowOf('b', 1), cells: base }, seeing)).toBeNull();
    expect(live.seeRow({ ...rowOf('a', 2), cells: base }, seeing)).toMatchObject({ duplicate: true });
  });

  test('what was forgotten is met anew', () => {
    const live = new LiveScan(baselinesOf([{ leadId: 'a', base: { companyName: 'Acme' }, isSettled: true }]));
    const cells = { companyName: 'Acme' };
    expect([live.seeLead('a', cells), live.seeLead('b', cells), live.useCursors(['x'])]).toEqual([
      'as-base',
      'new',
      true,
    ]);
    live.forgetLeads();
    expect(live.takeLeads([])).toEqual({ asBase: [], cursors: [], leads: '[]', asked: [] });
    expect([live.seeLead('a', cells), live.seeLead('b', cells), live.useCursors(['x'])]).toEqual([
      'as-base',
      'new',
      true,
    ]);
  });
});

test('what a table took is given back before it is read again', () => {
  let taken = 0;
  const reserve = (bytes: number): void => void (taken += bytes);
  const scan = new LiveScan(new Baselines(fields), reserve);
  scan.forgetRows();
  const before = taken;
  scan.seeRow(
    { ordinal: 0, row: 2, leadId: null, cells: {}, status: null },
    { isWhole: true, usualStatus: null },
  );
  scan.seeAsides([{ leadId: 'a', kind: 'note', place: 'B7' }]);
  expect(taken).toBeGreaterThan(before);
  scan.forgetRows();
  expect(taken).toBe(before);
});
