import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  allowable,
  type Candidate,
  type CellRecord,
  copyMessage,
  type CopyVerdict,
  type EarlierCell,
  judgeCopy,
  keptSpans,
  type PutBackCell,
  putBackCell,
  showsBaseOf,
  shownAgain,
  shownBySides,
  Spans,
} from '../../src/core/merge/older-copy.ts';
import { valueHash } from '../../src/core/lead/content-hash.ts';
import type { Cell, Cells } from '../../src/core/lead/value.ts';
import { CopyWorld } from '../support/copy-world.ts';
import { lawRuns } from '../support/law-runs.ts';

const letters = 'abcd';

/** Moves of cells of a small table in the order of their moments, rows that come, and what is done to a copy. */
const anyWorld = fc.record({
  moves: fc.array(fc.record({ cell: fc.nat(23), value: fc.nat(3), wait: fc.nat(2), row: fc.boolean() }), {
    minLength: 1,
    maxLength: 40,
  }),
  of: fc.double({ min: 0, max: 1, noNaN: true }),
  edits: fc.array(fc.record({ cell: fc.nat(23), value: fc.nat(5) }), { maxLength: 6 }),
});

interface Played {
  readonly world: CopyWorld;
  readonly last: number;
}

type Any = typeof anyWorld extends fc.Arbitrary<infer World> ? World : never;

/** `comeAgain`: values do, as stages; else each is a new one. */
function play({ moves }: Pick<Any, 'moves'>, comeAgain: boolean): Played {
  const world = new CopyWorld(8, 3, () => 'a');
  let moment = 0;
  for (const [nth, { cell, value, wait, row }] of moves.entries()) {
    moment += wait;
    const text = comeAgain ? (letters[value] ?? '') : `value ${nth}`;
    if (row && cell < 4) world.add(`new ${world.rows.length}`, 3, moment, () => text);
    else world.move(world.cells[cell] ?? '', moment, text);
  }
  return { world, last: moment };
}

/** A copy of some moment, with edits: new values, or earlier ones of the cell. */
function edited({ world, last }: Played, { of, edits }: Pick<Any, 'of' | 'edits'>): Map<string, string> {
  const shown = world.copyOf(Math.floor(of * last));
  for (const { cell, value } of edits) {
    const name = world.cells[cell] ?? '';
    if (shown.has(name))
      shown.set(
        name,
        value > 2 ? 'typed' : (world.copyOf(Math.floor((value / 3) * last)).get(name) ?? 'typed'),
      );
  }
  return shown;
}

/** How it is defined: the best of all moments before which something was put back. */
function byDefinition({ world, last }: Played, shown: ReadonlyMap<string, string>): CopyVerdict['kind'] {
  const counts = Array.from({ length: last + 1 }, (_, moment) => world.count(shown, moment)).filter(
    ({ cells }) => cells > 0,
  );
  if (counts.some(({ putBack, kept }) => putBack >= 3 && 4 * kept <= putBack)) return 'stop';
  return counts.some(({ putBack, kept }) => putBack === 2 && kept === 0) ? 'hold' : 'none';
}

describe('the moment test', () => {
  test('a whole copy of any moment is seen when three or more cells are put back by it, held with two', () => {
    fc.assert(
      fc.property(anyWorld, (any) => {
        const { world, last } = play(any, false);
        const moment = Math.floor(any.of * last);
        const shown = world.copyOf(moment);
        const { putBack, cells } = world.count(shown, moment);
        if (cells === 0) return;
        if (putBack >= 3) expect(world.judge(shown).kind).toBe('stop');
        else if (putBack === 2) expect(world.judge(shown).kind).not.toBe('none');
      }),
      { numRuns: lawRuns(2000) },
    );
  });

  test('what is shown now is never a copy, nor are new edits alone', () => {
    fc.assert(
      fc.property(anyWorld, (any) => {
        const { world, last } = play(any, true);
        const shown = world.copyOf(last);
        for (const { cell } of any.edits) shown.set(world.cells[cell] ?? '', `new ${cell}`);
        expect(world.judge(shown)).toEqual({ kind: 'none' });
      }),
      { numRuns: lawRuns(2000) },
    );
  });

  test('it stops and holds exactly where the definition does, where no value comes again', () => {
    fc.assert(
      fc.property(anyWorld, (any) => {
        const played = play(any, false);
        const shown = edited(played, any);
        expect(played.world.judge(shown).kind).toBe(byDefinition(played, shown));
      }),
      { numRuns: lawRuns(2000) },
    );
  });

  test('where values come again it stops and holds nowhere else, and tells what is counted at the moment it names', () => {
    fc.assert(
      fc.property(anyWorld, (any) => {
        const played = play(any, true);
        const shown = edited(played, any);
        const verdict = played.world.judge(shown);
        if (verdict.kind === 'none') return;
        expect(byDefinition(played, shown)).toMatch(verdict.kind === 'stop' ? /stop/ : /stop|hold/);
        expect(played.world.count(shown, verdict.moment)).toMatchObject({
          putBack: verdict.putBack,
          kept: verdict.kept,
        });
      }),
      { numRuns: lawRuns(2000) },
    );
  });

  /** Ten rows of one cell: the first `moved` moved at 2, 4, 6 … */
  const after = (moved: number): CopyWorld => {
    const world = new CopyWorld(10, 1, () => 'old');
    for (let row = 0; row < moved; row++) world.move(`row ${row}/0`, 2 * row + 2, 'new');
    return world;
  };

  test.each<[string, number, readonly number[], string]>([
    ['one cell set back', 5, [4], 'none'],
    ['the newest two', 5, [3, 4], 'hold'],
    ['the newest three', 5, [2, 3, 4], 'stop'],
    ['two, of which the older one is not the next', 5, [1, 4], 'none'],
    ['three, between which two were kept', 5, [0, 2, 4], 'none'],
    ['four, between which one was kept', 5, [0, 1, 3, 4], 'stop'],
    ['the oldest three of many', 10, [0, 1, 2], 'none'],
    ['nothing', 5, [], 'none'],
  ])('%s', (_, moved, back, kind) => {
    const world = after(moved);
    const shown = world.copyOf(100);
    for (const row of back) shown.set(`row ${row}/0`, 'old');
    expect(world.judge(shown).kind).toBe(kind);
  });

  test('with a doubt one cell is enough; with the run that left the copy so, whatever else is kept', () => {
    const world = after(5);
    const shown = world.copyOf(100).set('row 4/0', 'old');
    expect(world.judge(shown).kind).toBe('none');
    expect(world.judge(shown, { reason: 'it is older' })).toMatchObject({
      kind: 'stop',
      putBack: 1,
      kept: 0,
    });
    const other = world.copyOf(100).set('row 0/0', 'old');
    expect(world.judge(other, { reason: 'it is older' }).kind).toBe('none');
    expect(world.judge(other, { reason: 'its mark is that of run 0', run: 0 })).toMatchObject({
      kind: 'stop',
      moment: 1,
    });
    // Typed after that run, and carried over by one that wrote no row: the copy bears the same mark.
    world.move('row 0/0', 12, 'newer');
    const later = world.copyOf(100).set('row 0/0', 'new');
    expect(world.judge(later, { reason: 'its mark is that of run 0', run: 0 })).toMatchObject({
      kind: 'stop',
      moment: 11,
    });
    // Nothing would be put back: the copy has been brought forward already.
    expect(world.judge(world.copyOf(100), { reason: 'its mark is that of run 0', run: 0 }).kind).toBe('none');
  });

  test('rows that are missing count only beside a cell', () => {
    const world = after(1);
    for (let nth = 0; nth < 4; nth++) world.add(`late ${nth}`, 1, 2, () => 'made');
    const shown = world.copyOf(100);
    for (let nth = 0; nth < 4; nth++) shown.delete(`late ${nth}/0`);
    expect(world.judge(shown).kind).toBe('none');
    expect(world.judge(shown.set('row 0/0', 'old'))).toMatchObject({ kind: 'stop', putBack: 5, moment: 1 });
  });
});

test('the message says how much, since when, what told it, and both ways out', () => {
  const found = {
    side: 'row',
    connection: 'berlin',
    cells: 12,
    records: 1,
    kept: 2,
    before: '21 November 2026 at 02:00 UTC',
  } as const;
  const said = copyMessage({
    ...found,
    doubt: { reason: 'the file is older than it was left' },
    mayUpdate: true,
  });
  expect(said).toMatch(
    /^in 12 cells the table shows what was there before 21 November 2026 at 02:00 UTC, and 1 row made or deleted since is as before it; 2 cells or records that changed since are newer; the file is older than it was left: is it an older copy\? Nothing was written/,
  );
  expect(said).toContain('leadsync sync --connection berlin --older-copy update brings the table forward');
  expect(said).toContain(
    'leadsync sync --connection berlin --allow older-copy treats what the table shows as edits',
  );
  expect(copyMessage({ ...found, doubt: undefined, mayUpdate: false })).not.toContain('update');
});

describe('a cell that shows an earlier value', () => {
  const move = { hash: valueHash('old'), run: 5, had: false, at: 500 };
  const other = { ...move, hash: valueHash('x') };
  interface Given {
    readonly mine: Cell | undefined;
    readonly base: string | null;
    /** Undefined: as in the baseline. */
    readonly others: Cell | undefined;
    readonly moves: EarlierCell['moves'];
    readonly decided: readonly (readonly [mine: Cell, others: Cell])[];
    readonly written: CellRecord['written'];
  }
  const spans = (given: Partial<Given>): PutBackCell['spans'] | null => {
    const { mine, base, others, moves, decided, written }: Given = {
      mine: 'old',
      base: 'new',
      others: undefined,
      moves: [move],
      decided: [],
      written: null,
      ...given,
    };
    const cell = { leadId: 'a', field: 'stage', base, moves };
    const shown = shownAgain(cell, {
      mine: mine === undefined ? {} : { stage: mine },
      others: others === undefined ? null : { stage: others },
    });
    const record = { decided: decided.map(([own, its]) => ({ mine: own, others: its })), written };
    return shown && (putBackCell(cell, shown, record)?.spans ?? null);
  };
  const all = [{ from: 0, to: 9, leftAt: 500 }];

  test.each<[string, Partial<Given>, unknown]>([
    ['until a run changed it', {}, all],
    ['until a run found it changed', { moves: [{ ...move, had: true }] }, [{ from: 0, to: 8, leftAt: 500 }]],
    [
      'again and again',
      { moves: [{ ...move, run: 7, at: 700 }, { ...other, run: 6 }, move] },
      [
        { from: 0, to: 9, leftAt: 500 },
        { from: 12, to: 13, leftAt: 700 },
      ],
    ],
    ['in another form', { mine: 'a\r\ne\u0301', moves: [{ ...move, hash: valueHash('a\n\u00e9') }] }, all],
    ['that is none', { mine: '', moves: [{ ...move, hash: valueHash(null) }] }, all],
    ['never', { mine: 'x' }, null],
    ['that cannot be read', { mine: { unreadable: 'old' } }, null],
    ['that is not there', { mine: undefined }, null],
    [
      'of which nothing is there where it was empty',
      { mine: undefined, moves: [{ ...move, hash: valueHash(null) }] },
      null,
    ],
    ['that is the baseline', { base: 'old' }, null],
    ['that the other side shows', { others: 'old' }, null],
    ['of which the other side shows a third one', { others: 'y' }, all],
    ['that was decided on', { decided: [['old', 'new']] }, null],
    [
      'that was decided on beside another value',
      {
        decided: [
          ['old', 'y'],
          ['x', 'new'],
        ],
      },
      all,
    ],
    ['that an undo put back', { written: { run: 5, rule: 'undone', value: 'old' } }, null],
    ['that an undo put back and opened again', { written: { run: 6, rule: 'reopened', value: 'old' } }, null],
    ['that an undo before put back', { written: { run: 4, rule: 'undone', value: 'old' } }, all],
    ['that an undo did not put back', { written: { run: 5, rule: 'undone', value: 'x' } }, all],
    [
      'that an undo put back, and that moved again since',
      { moves: [move, { ...move, run: 9, at: 900 }], written: { run: 5, rule: 'undone', value: 'old' } },
      [
        { from: 0, to: 9, leftAt: 500 },
        { from: 10, to: 17, leftAt: 900 },
      ],
    ],
    ['that was written otherwise', { written: { run: 5, rule: 'row-edited', value: 'old' } }, all],
    ['not in no time', { moves: [{ ...other, at: 1 }, move] }, null],
  ])('%s', (_, given, expected) => expect(spans(given)).toEqual(expected));

  const anyMoves = fc.array(
    fc.record({
      hash: fc.constantFrom(move.hash, other.hash),
      run: fc.integer({ min: 1, max: 6 }),
      had: fc.boolean(),
      at: fc.nat(9),
    }),
    { maxLength: 6 },
  );

  test('law: at each moment it showed what the next move left behind', () => {
    fc.assert(
      fc.property(anyMoves, (some) => {
        const inOrder = some
          .map((one) => ({ ...one, moment: 2 * one.run - Number(one.had) }))
          .toSorted((a, b) => a.moment - b.moment || a.at - b.at);
        const found = spans({ moves: some }) ?? [];
        for (let moment = 0; moment < 14; moment++) {
          const isShown = found.some(({ from, to }) => from <= moment && moment <= to);
          expect(isShown).toBe(inOrder.find((one) => one.moment > moment)?.hash === move.hash);
        }
      }),
      { numRuns: lawRuns(500) },
    );
  });

  test('law: it is kept at each moment after the given one at which it did not show its baseline', () => {
    fc.assert(
      fc.property(anyMoves, fc.nat(13), (some, since) => {
        const inOrder = some
          .map((one) => ({ ...one, moment: 2 * one.run - Number(one.had) }))
          .toSorted((a, b) => a.moment - b.moment || a.at - b.at);
        const found = keptSpans({ leadId: 'a', field: 'stage', base: 'old', moves: some }, since);
        for (let moment = 0; moment < 14; moment++) {
          const isKept = found.some(({ from, to }) => from <= moment && moment <= to);
          const next = inOrder.find((one) => one.moment > moment);
          expect(isKept).toBe(moment >= since && next?.hash === other.hash);
        }
      }),
      { numRuns: lawRuns(500) },
    );
  });
});

test('a value that was never there, and a side that shows nothing, put nothing back', () => {
  const cell = { leadId: 'a', field: 'stage', base: 'new', moves: [] };
  expect(shownAgain(cell, { mine: { stage: 'old' }, others: null })).toBeNull();
  expect(shownAgain(cell, { mine: null, others: null })).toBeNull();
});

describe('what a scan shows of a side', () => {
  interface Shown {
    readonly lead?: Cells;
    readonly row?: Cells;
    readonly isMissed?: boolean;
    readonly isPaused?: boolean;
  }
  const scanOf = ({ lead, row, isMissed = false, isPaused = false }: Shown) => ({
    lead: () => lead ?? null,
    row: () => (row === undefined ? null : { row: 2, cells: row, hash: '', ordinal: 0, status: null }),
    missed: () => ({ lead: false, row: isMissed }),
    isPaused: () => isPaused,
  });
  const [old, base] = [{ stage: 'old' }, { stage: 'new' }];

  test('is told from its own end', () => {
    const both = scanOf({ lead: old, row: base });
    expect(shownBySides(both, 'lead', 'a')).toEqual({ mine: old, others: base });
    expect(shownBySides(both, 'row', 'a')).toEqual({ mine: base, others: old });
    expect(shownBySides(scanOf({}), 'row', 'a')).toEqual({ mine: null, others: null });
  });

  test.each<[string, Shown, shows: boolean]>([
    ['nothing else than the baseline', {}, true],
    ['nothing', { isMissed: true }, false],
    ['a paused row', { isPaused: true }, false],
    ['the baseline beside another field', { row: { ...base, city: 'Ulm' } }, true],
    ['another value', { row: old }, false],
    ['what cannot be read', { row: { stage: { unreadable: 'new' } } }, false],
    ['no such field', { row: { city: 'Ulm' } }, false],
    ['another value on the other side', { lead: old }, true],
  ])('%s: it shows the baseline: %s', (_, shown, shows) => {
    const cell = { leadId: 'a', field: 'stage', base: 'new' };
    expect(showsBaseOf(scanOf(shown), 'row', cell)).toBe(shows);
  });
});

test('one option lets pass what has one way out, unless only the table itself can', () => {
  const codes = [
    'guard.misread',
    'guard.older-copy',
    'guard.older-service',
    'guard.target.gone',
    'row.orphan',
  ];
  expect(allowable([...codes, 'lead.guard.misread', 'guard.max-deletes'])).toEqual([
    'misread',
    'max-deletes',
  ]);
});

describe('of several moments', () => {
  const spansOf = (...spans: readonly (readonly [number, number])[]): Spans => {
    const made = new Spans();
    for (const [from, to] of spans) made.add({ from, to });
    return made;
  };

  test('each lies in the spans that hold it, its ends included; one that ends before it begins holds none', () => {
    const spans = spansOf([1, 4], [4, 4], [3, 6], [7, 3]);
    expect(Object.fromEntries(spans.at([7, 0, 6, 1, 4, 3, 5]))).toEqual({
      0: 0,
      1: 1,
      3: 2,
      4: 3,
      5: 1,
      6: 1,
      7: 0,
    });
  });

  test.each<[string, readonly Candidate[], Spans, object]>([
    [
      'that puts back most for what it keeps',
      [
        { moment: 2, putBack: 20 },
        { moment: 6, putBack: 18 },
      ],
      spansOf([1, 3]),
      { kind: 'stop', moment: 6, putBack: 18, kept: 0 },
    ],
    [
      'that is certain',
      [
        { moment: 2, putBack: 3 },
        { moment: 6, putBack: 2 },
        { moment: 4, putBack: 2 },
      ],
      spansOf(),
      { kind: 'stop', moment: 2 },
    ],
    [
      'that is the last',
      [
        { moment: 2, putBack: 2 },
        { moment: 6, putBack: 2 },
        { moment: 4, putBack: 2 },
      ],
      spansOf(),
      { kind: 'hold', moment: 6 },
    ],
  ])('the copy is of the one %s, in whatever order they come', (_, candidates, kept, verdict) => {
    for (const some of [candidates, candidates.toReversed()])
      expect(judgeCopy(some, kept)).toMatchObject(verdict);
  });
});
