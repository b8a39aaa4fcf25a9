import { describe, expect, test } from 'vitest';
import type { Refusal } from '../../src/core/merge/guard.ts';
import {
  bringForward,
  copyCandidates,
  copyMessage,
  type CopyFound,
  judgeCopy,
  OlderCopies,
  putBackAt,
  type PutBackCell,
  Spans,
} from '../../src/core/merge/older-copy.ts';

const stop = { kind: 'stop', moment: 4, putBack: 3, kept: 0 } as const;
const refusal = { code: 'older-copy' } as Refusal;
const cellOf = (leadId: string, ...spans: readonly (readonly [number, number, number])[]): PutBackCell => ({
  leadId,
  field: 'stage',
  spans: spans.map(([from, to, leftAt]) => ({ from, to, leftAt })),
});
const found = (given: Partial<CopyFound> = {}): CopyFound => ({
  side: 'row',
  verdict: stop,
  cells: new Map([['a', [cellOf('a', [0, 3, 1])]]]),
  missing: new Set(['m']),
  refusal: null,
  ...given,
});
const hold: Partial<CopyFound> = { verdict: { ...stop, kind: 'hold' } };
const lead: Partial<CopyFound> = { side: 'lead' };

describe('the sides that may be older copies', () => {
  test.each<
    [string, readonly CopyFound[], readonly ('lead' | 'row')[], readonly string[], readonly string[]]
  >([
    ['nothing was found', [], [], [], []],
    ['a verdict of none', [found({ verdict: { kind: 'none' } })], [], [], []],
    ['a verdict', [found()], [], [], ['row']],
    ['a verdict on either side', [found(), found(lead)], [], [], ['row', 'lead']],
    ['a conflict about it', [], ['lead'], [], ['lead']],
    ['it was allowed', [found(), found(lead)], ['row'], ['older-copy'], ['lead']],
    ['that of the service was allowed', [found(), found(lead)], [], ['older-service'], ['row']],
    ['it is brought forward', [found(), found(lead)], ['row'], [bringForward], []],
  ])('a person has still to decide: %s', (_name, copies, conflictOn, allow, expected) => {
    expect([...new OlderCopies(copies, conflictOn, allow).undecided]).toEqual(expected);
  });

  test('the refusals of all of them', () => {
    expect(new OlderCopies([found(), found({ refusal })], [], []).refusals).toEqual([refusal]);
  });

  test.each<[string, CopyFound, readonly string[], object]>([
    ['a plan that is refused shows what would happen if it were allowed', found(), [], {}],
    ['too little evidence', found(hold), [], { stage: { putBack: 'row' } }],
    ['too little, of the service', found({ ...hold, ...lead }), [], { stage: { putBack: 'lead' } }],
    ['too little, and allowed', found(hold), ['older-copy'], { stage: {} }],
    ['brought forward', found(), [bringForward], { stage: { putBack: 'row', forward: true } }],
    ['another lead', found({ ...hold, cells: new Map() }), [], {}],
  ])('the cells that a copy puts back: %s', (_name, one, allow, expected) => {
    const memo = { city: { refused: true } };
    expect(new OlderCopies([one], [], allow).memo('a', memo)).toEqual({ ...memo, ...expected });
  });

  test('what was known of a cell stays, but that it was put back by what is allowed', () => {
    const copies = new OlderCopies([found(hold)], [], []);
    expect(copies.memo('a', { stage: { covered: true } })).toEqual({
      stage: { covered: true, putBack: 'row' },
    });
    expect(copies.memo('b', { stage: { putBack: null, covered: true } })).toEqual({
      stage: { covered: true },
    });
    const allowed = new OlderCopies([], [], ['older-service']);
    expect(allowed.memo('b', { stage: { putBack: 'lead' }, city: { putBack: 'row' } })).toEqual({
      stage: {},
      city: { putBack: 'row' },
    });
  });

  test('what is brought forward: its cells, and the records that are missing on that side', () => {
    const both = [found(), found({ ...lead, cells: new Map(), missing: new Set(['n']) })];
    for (const [allow, is] of [
      [[bringForward], true],
      [[], false],
    ] as const) {
      const copies = new OlderCopies(both, [], allow);
      const told = [
        copies.isBroughtForward,
        copies.bringsForward('a'),
        copies.comesBack('row', 'm'),
        copies.comesBack('lead', 'n'),
      ];
      expect(told).toEqual([is, is, is, is]);
      expect([
        copies.bringsForward('b'),
        copies.comesBack('lead', 'm'),
        copies.comesBack('row', 'n'),
      ]).toEqual([false, false, false]);
    }
  });
});

test('the cells that show what they showed at a moment, and when the first of them changed', () => {
  const [one, other, third] = [
    cellOf('a', [0, 3, 50], [6, 8, 90]),
    cellOf('b', [2, 5, 40]),
    cellOf('c', [7, 9, 10]),
  ];
  const at = (moment: number) => {
    const { cells, leftAt } = putBackAt([one, other, third], moment);
    return [...cells.map(({ leadId }) => leadId), leftAt];
  };
  expect(at(0)).toEqual(['a', 50]);
  expect(at(3)).toEqual(['a', 'b', 40]);
  expect(at(4)).toEqual(['b', 40]);
  expect(at(8)).toEqual(['a', 'c', 10]);
  expect(at(10)).toEqual([Number.POSITIVE_INFINITY]);
});

test('candidates: enough put back, with a cell among it; none before the run that left the mark', () => {
  const cells = [cellOf('a', [0, 3, 1]), cellOf('b', [2, 3, 1]), cellOf('c', [0, 7, 1])];
  expect(copyCandidates(cells, [])).toEqual([{ moment: 3, putBack: 3 }]);
  expect(copyCandidates(cells.slice(0, 1), [{ from: 1, to: 3 }])).toEqual([{ moment: 3, putBack: 2 }]);
  expect(
    copyCandidates(
      [],
      [
        { from: 1, to: 3 },
        { from: 1, to: 3 },
      ],
    ),
  ).toEqual([]);
  expect(copyCandidates(cells, [], { reason: 'import' })).toEqual([
    { moment: 3, putBack: 3 },
    { moment: 7, putBack: 1 },
  ]);
  expect(copyCandidates(cells, [], { reason: 'mark', run: 2 })).toEqual([
    { moment: 4, putBack: 1 },
    { moment: 7, putBack: 1 },
  ]);
  expect(copyCandidates(cells, [], { reason: 'mark', run: 4 })).toEqual([]);
});

test('the best moment: a stop before a hold, then more put back against what is kept, then the later one', () => {
  const kept = new Spans();
  kept.add({ from: 5, to: 6 });
  kept.add({ from: 9, to: 8 });
  const of = (...some: readonly (readonly [moment: number, putBack: number])[]) =>
    judgeCopy(
      some.map(([moment, putBack]) => ({ moment, putBack })),
      kept,
    );
  expect(of([1, 2], [2, 3])).toEqual({ kind: 'stop', moment: 2, putBack: 3, kept: 0 });
  expect(of([2, 3], [1, 2])).toMatchObject({ kind: 'stop', moment: 2 });
  expect(of([5, 6], [2, 4])).toMatchObject({ moment: 2, kept: 0 });
  expect(of([2, 4], [5, 9])).toMatchObject({ moment: 5, kept: 1 });
  expect(of([1, 3], [2, 3])).toMatchObject({ moment: 2 });
  expect(of([5, 3])).toEqual({ kind: 'none' });
  expect(of([2, 2])).toMatchObject({ kind: 'hold' });
  expect(of([2, 1])).toEqual({ kind: 'none' });
  expect(of([5, 2])).toEqual({ kind: 'none' });
});

test('the message names the side, how much, and the ways out', () => {
  const of = {
    side: 'lead',
    connection: 'main',
    cells: 1,
    records: 0,
    kept: 0,
    before: 'run 7',
    doubt: undefined,
    mayUpdate: true,
  } as const;
  expect(copyMessage(of)).toBe(
    'in 1 cell the service shows what was there before run 7; nothing shows a newer value: is it an older copy? Nothing was written, and nothing that is missing counts as deleted. leadsync sync --connection main --older-copy update brings the service forward: those fields get the newer values, the sync after it makes missing leads again, and edits made since are kept. leadsync sync --connection main --allow older-service treats what the service shows as edits, if it was restored on purpose',
  );
  expect(copyMessage({ ...of, side: 'row', cells: 2, records: 1, kept: 1, mayUpdate: false })).toBe(
    'in 2 cells the table shows what was there before run 7, and 1 row made or deleted since is as before it; 1 cell or record that changed since is newer: is it an older copy? Nothing was written, and nothing that is missing counts as deleted. leadsync sync --connection main --allow older-copy treats what the table shows as edits, if it was put back on purpose',
  );
  const many = copyMessage({ ...of, records: 2, kept: 2, doubt: { reason: 'an import wrote all of it' } });
  expect(many).toContain(
    ', and 2 leads made or deleted since are as before it; 2 cells or records that changed since are newer; an import wrote all of it: is it',
  );
});
