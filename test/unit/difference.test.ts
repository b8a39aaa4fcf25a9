import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Cells, Values } from '../../src/core/lead/value.ts';
import {
  type Absences,
  absencesAfter,
  deleteAnswerOf,
  differenceOf,
  type HeldField,
  LooseRows,
  memoOf,
  RecordTally,
  showsBase,
  type Sight,
} from '../../src/core/merge/difference.ts';
import { lawRuns } from '../support/law-runs.ts';
import { looseRow, sight } from './sight.ts';

const acme = { companyName: 'Acme', stage: 'new' };
const won = { companyName: 'Acme', stage: 'won' };
const proof = { leads: true, rows: true, answers: true, rowsAlone: true, at: 0, proveAfter: 0 };
const noProof = { ...proof, leads: false, rows: false, answers: false };
const both = { lead: true, row: true };

test.each<[Cells, Values | null, boolean]>([
  [acme, acme, true],
  [{ stage: 'new' }, acme, true],
  [{}, acme, true],
  [{ ...acme, stage: 'e\u0301' }, { ...acme, stage: '\u00e9' }, true],
  [{ ...acme, stage: '' }, { ...acme, stage: null }, true],
  [won, acme, false],
  [{ ...acme, city: null }, acme, false],
  [{ stage: { unreadable: 'new' } }, acme, false],
  [{}, null, false],
])('whether %j shows the baseline %j: %s', (cells, base, expected) =>
  expect(showsBase(cells, base)).toBe(expected),
);

describe('what is not staged', () => {
  test('is as in the baseline, unless it was missed', () => {
    expect(differenceOf({ ...sight, lead: won }, proof)).toMatchObject({ lead: won, row: acme });
    expect(differenceOf({ ...sight, row: won }, proof)).toMatchObject({ lead: acme, row: won });
    expect(differenceOf({ ...sight, missed: both }, proof)).toMatchObject({ lead: null, row: null });
    expect(differenceOf({ ...sight, base: null, lead: won }, proof)).toMatchObject({ row: null });
  });

  test('is no difference when both show the same', () => {
    expect(differenceOf({ ...sight, isSame: true }, proof)).toBe(null);
    // Met twice: it is staged as it was.
    expect(differenceOf({ ...sight, lead: acme }, proof)).toBe(null);
    expect(differenceOf({ ...sight, lead: acme, row: won }, proof)).not.toBe(null);
    expect(differenceOf({ ...sight, lead: acme, missed: { lead: false, row: true } }, proof)).not.toBe(null);
    expect(differenceOf({ ...sight, row: acme, missed: { lead: true, row: false } }, proof)).not.toBe(null);
  });

  test('a person wants the row that an undo took away', () => {
    const held: HeldField = { field: '', code: 'lead.undone', resolution: null, lead: null, row: null };
    const wanted = (one: HeldField) => differenceOf({ ...sight, lead: won, held: [one] }, proof)?.isWanted;
    expect(wanted(held)).toBe(false);
    expect(wanted({ ...held, resolution: 'lead' })).toBe(true);
    expect(wanted({ ...held, code: 'row.orphan', resolution: 'lead' })).toBe(false);
  });
});

describe('absences', () => {
  const after = (given: Partial<Sight>, isProof = proof, isUndecided = false): unknown => {
    const one = { ...sight, ...given };
    const found = absencesAfter(one, differenceOf(one, isProof), isUndecided, isProof.at);
    return found && [found.lead, found.row];
  };
  const gone = { answer: 'gone', message: null } as const;
  test.each<[string, Partial<Sight>, Partial<typeof proof>, unknown]>([
    ['both sides', { missed: both }, {}, [1, 1]],
    ['one more', { missed: both, leadAbsences: 1, rowAbsences: 2 }, {}, [2, 3]],
    ['the same run once', { missed: both, leadAbsences: 1, isCounted: true }, {}, [1, 0]],
    ['nothing is proven', { missed: both, leadAbsences: 1 }, noProof, [1, 0]],
    ['the leads alone are', { missed: both }, { ...noProof, leads: true }, [1, 0]],
    ['the rows alone are', { missed: both }, { ...noProof, rows: true }, [0, 1]],
    ['a lead that is gone by its id', { missed: both, asked: gone }, { ...noProof, answers: true }, [1, 0]],
    [
      'an answer that says nothing',
      { missed: both, asked: { ...gone, answer: 'unknown' } },
      { ...noProof, answers: true },
      [0, 0],
    ],
    ['a lead that nobody was asked about', { missed: both }, { ...noProof, answers: true }, [0, 0]],
    ['answers that prove nothing', { missed: both, asked: gone }, noProof, [0, 0]],
    ['a row outside of the filter', { missed: both }, { ...noProof, rows: true, rowsAlone: false }, [0, 0]],
    [
      'a row of a lead in the filter',
      { lead: acme, missed: { lead: false, row: true } },
      { ...noProof, rows: true, rowsAlone: false },
      [0, 1],
    ],
    ['seen again', { lead: acme, row: won, leadAbsences: 2, rowAbsences: 1 }, {}, [0, 0]],
    ['seen again, and the same', { isSame: true, leadAbsences: 2 }, {}, [0, 0]],
    ['seen again in the same run', { isSame: true, leadAbsences: 2, isCounted: true }, {}, [0, 0]],
    ['a merged row is there', { missed: both, rowAbsences: 1, merged: { row: 7, message: '' } }, {}, [1, 0]],
    ['nothing was ever missed', { lead: won }, {}, null],
    ['no pair', { isKnown: false, base: null, lead: won }, {}, null],
  ])('%s', (_, given, isProof, expected) => {
    expect(after(given, { ...proof, ...isProof })).toEqual(expected);
  });

  test('of a row that may be there are not counted', () => {
    expect(after({ missed: both, rowAbsences: 1 }, proof, true)).toEqual([1, 1]);
    expect(after({ isSame: true, rowAbsences: 1 }, proof, true)).toEqual([0, 0]);
  });

  test('come with the place of a row that was merged into another', () => {
    const one = { ...sight, missed: both, merged: { row: 7, message: '' } };
    const place = (of: Sight): unknown =>
      (absencesAfter(of, differenceOf(of, proof), false, 0) satisfies Absences | null)?.place;
    expect([place(one), place({ ...one, merged: null })]).toEqual([7, null]);
  });

  test('law: no scan takes one back but by a sight, and one run counts once', () => {
    const counts = fc.nat(3);
    fc.assert(
      fc.property(
        counts,
        counts,
        fc.boolean(),
        fc.boolean(),
        fc.boolean(),
        (lead, row, isLead, isRow, all) => {
          const before = {
            ...sight,
            leadAbsences: lead,
            rowAbsences: row,
            missed: { lead: isLead, row: isRow },
          };
          const isProof = all ? proof : noProof;
          const once = absencesAfter(before, differenceOf(before, isProof), false, 0);
          const [ofLead, ofRow] = [once?.lead ?? lead, once?.row ?? row];
          expect(ofLead).toBe(isLead ? lead + Number(all) : 0);
          expect(ofRow).toBe(isRow ? row + Number(all) : 0);
          const again = { ...before, leadAbsences: ofLead, rowAbsences: ofRow, isCounted: true };
          const twice = absencesAfter(again, differenceOf(again, isProof), false, 0);
          expect([twice?.lead ?? ofLead, twice?.row ?? ofRow]).toEqual([ofLead, ofRow]);
        },
      ),
      { numRuns: lawRuns(300) },
    );
  });
});

describe('absences prove by time as well', () => {
  const hour = 3_600_000;
  const scans = fc.record({ lead: fc.boolean(), row: fc.boolean(), wait: fc.integer({ min: 0, max: 600 }) });

  test('law: two absences stand only for scans far enough apart, with none between that shows the record', () => {
    fc.assert(
      fc.property(
        fc.array(scans, { maxLength: 12 }),
        fc.constantFrom(0, 1, 5, 60, 360),
        (all, proveAfter) => {
          let at = 0;
          let known: Pick<Absences, 'lead' | 'row' | 'since'> = { lead: 0, row: 0, since: null };
          const firstMissed = { lead: Infinity, row: Infinity };
          for (const { wait, ...missed } of all) {
            at += wait * 60_000;
            const isProof = { ...proof, at, proveAfter: proveAfter * 60_000 };
            const one = {
              ...sight,
              missed,
              isSame: !missed.lead && !missed.row,
              leadAbsences: known.lead,
              rowAbsences: known.row,
              absentSince: known.since,
            };
            known = absencesAfter(one, differenceOf(one, isProof), false, at) ?? known;
            for (const side of ['lead', 'row'] as const) {
              const isAgain = missed[side] && firstMissed[side] < Infinity;
              if (isAgain && known[side] >= 2)
                expect(at - firstMissed[side]).toBeGreaterThanOrEqual(isProof.proveAfter);
              else if (!isAgain) expect(known[side]).toBe(Number(missed[side]));
              firstMissed[side] = missed[side] ? Math.min(firstMissed[side], at) : Infinity;
            }
          }
        },
      ),
      { numRuns: lawRuns(1_000) },
    );
  });

  test.each<[string, number, number | null, number]>([
    ['nightly, as before', 24 * hour, 0, 2],
    ['five minutes later', hour / 12, 0, 1],
    ['some seconds early, as runs of a schedule begin', 6 * hour - 5_000, 0, 2],
    ['a minute early', 6 * hour - 60_000, 0, 1],
    ['since when is not known', 24 * hour, null, 1],
  ])('a second scan without the lead, %s', (_, at, absentSince, expected) => {
    const isProof = { ...proof, at, proveAfter: 6 * hour };
    const one = { ...sight, missed: { lead: true, row: false }, leadAbsences: 1, absentSince };
    const counted = absencesAfter(one, differenceOf(one, isProof), false, at);
    expect(counted).toMatchObject({ lead: expected, since: absentSince ?? at });
  });

  test.each<[string, Partial<Sight>, number | null]>([
    ['of a row that is missed again', { missed: { lead: false, row: true }, rowAbsences: 1 }, 2],
    ['of a lead that is missed again', { missed: { lead: true, row: false }, leadAbsences: 1 }, 2],
    ['of a row that is missed for the first time', { missed: { lead: false, row: true } }, 5],
    ['of both sides', { missed: both }, 5],
    ['of a record that is there again', { lead: won, rowAbsences: 1 }, null],
  ])('since when, %s', (_, given, since) => {
    const one = { ...sight, absentSince: 2, ...given };
    expect(absencesAfter(one, differenceOf(one, proof), false, 5)?.since).toBe(since);
  });

  test('of both sides the later one says since when', () => {
    const one = { ...sight, missed: both, leadAbsences: 1, absentSince: 0 };
    const isProof = { ...proof, at: 6 * hour, proveAfter: 6 * hour };
    const counted = absencesAfter(one, differenceOf(one, isProof), false, isProof.at);
    expect(counted).toMatchObject({ lead: 2, row: 1, since: isProof.at });
  });
});

describe('what was held is remembered', () => {
  const held: HeldField = {
    field: 'stage',
    code: 'conflict.both-edited',
    resolution: 'lead',
    lead: 'new',
    row: 'won',
  };
  const plain = { resolution: 'lead', refused: false, covered: false, putBack: null };
  const merged = { unreadable: 'x', why: 'merged' } as const;
  test.each<[Partial<HeldField>, Cells | null, Cells | null, unknown]>([
    [{}, acme, won, { stage: plain }],
    [{}, won, won, {}],
    [{}, acme, acme, {}],
    [{ lead: null }, null, won, { stage: plain }],
    [{ row: null }, acme, null, { stage: plain }],
    [{ field: '', lead: null, row: null }, acme, won, {}],
    [{ code: 'lead.field-refused' }, acme, won, { stage: { ...plain, refused: true } }],
    [{ code: 'row.put-back' }, acme, won, { stage: { ...plain, putBack: 'row' } }],
    [{ code: 'lead.put-back' }, acme, won, { stage: { ...plain, putBack: 'lead' } }],
    [{ row: merged }, acme, { stage: merged }, { stage: { ...plain, covered: true } }],
    // A merge may have emptied the cell for good, whatever it shows now.
    [{ row: merged }, acme, { stage: null }, { stage: { covered: true } }],
    [{ row: { unreadable: 'x' } }, acme, { stage: null }, {}],
  ])('%j while the lead shows %j and the row %j: %j', (given, lead, row, expected) => {
    expect(memoOf({ ...sight, held: [{ ...held, ...given }] }, lead, row)).toEqual(expected);
  });
});

describe('an answer to the question whether something was deleted', () => {
  const asked: HeldField = {
    field: '',
    code: 'row.deleted',
    resolution: 'deleted',
    lead: null,
    row: null,
    records: { lead: acme, row: acme },
  };
  test.each<[string, Partial<HeldField>, Cells | null, Cells | null, string | null]>([
    ['while the lead is as it was', {}, acme, null, 'deleted'],
    ['after an edit of the lead', {}, won, null, null],
    ['of a lead that shows a further field', {}, { ...acme, city: 'Ulm' }, null, null],
    ['none', { resolution: null }, acme, null, null],
    ['of which no record was kept', { records: null }, acme, null, null],
    ['of a lead, of which no record was kept', { code: 'lead.deleted', records: null }, null, acme, null],
    [
      'of a lead, while its row is as it was',
      { code: 'lead.deleted', resolution: 'restore' },
      null,
      acme,
      'restore',
    ],
    ['of a lead, after an edit of its row', { code: 'lead.deleted', resolution: 'restore' }, null, won, null],
    ['when both are gone', {}, null, null, null],
  ])('%s', (_, given, lead, row, expected) => {
    expect(deleteAnswerOf({ held: [{ ...asked, ...given }] }, lead, row)).toBe(expected);
  });
});

describe('rows that no lead id names', () => {
  const loose = { ...looseRow, cells: acme };

  test('that are alike have keys of their own', () => {
    const rows = new LooseRows(new Set(['h#2', 'i']), new Set());
    const wanted = ['h', 'h', 'h', 'i', 'i'].map(
      (contentHash) => rows.see({ ...loose, contentHash }).isWanted,
    );
    expect(wanted).toEqual([false, true, false, true, false]);
    // Copies of a lead's row are counted by themselves.
    expect(rows.see({ ...loose, leadId: 'a', contentHash: 'i' }).isWanted).toBe(true);
  });

  test('stand apart, unless they gave up their ids', () => {
    const rows = new LooseRows(new Set(), new Set(['i']));
    const apart = (isApart: boolean, contentHash: string) =>
      rows.see({ ...loose, isApart, contentHash }).isApart;
    expect([apart(true, 'h'), apart(true, 'i'), apart(false, 'h')]).toEqual([true, false, false]);
  });

  test('are those into which rows of listed leads were merged', () => {
    const rows = new LooseRows(new Set(), new Set());
    const into = (leadId: string, row: number, lead: boolean) =>
      rows.seePair({ ...sight, leadId, merged: { row, message: '' }, missed: { lead, row: true } });
    into('a', 2, false);
    into('b', 2, false);
    into('c', 2, true);
    rows.seePair(sight);
    expect(rows.see(loose).mergedOf).toEqual(['a', 'b']);
    expect(rows.see({ ...loose, row: 3 }).mergedOf).toBe(undefined);
  });
});

test('law: records are counted as by somebody who sees both sides whole', () => {
  const record = fc.record({
    isKnown: fc.boolean(),
    lead: fc.constantFrom('base', 'moved', 'missed'),
    row: fc.constantFrom('base', 'moved', 'missed', 'paused'),
    isCopied: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(record, { maxLength: 8 }), fc.nat(3), fc.nat(3), (records, withoutId, newRows) => {
      const tally = new RecordTally();
      let [pairs, metLeads, metRows, all, equal] = [0, 0, 0, withoutId + newRows, 0];
      const loose = {
        row: 2,
        unreadableId: null,
        idClosed: null,
        isApart: false,
        cells: {},
        contentHash: '',
      };
      const copies: string[] = [];
      for (const [nth, { isKnown, isCopied, ...sides }] of records.entries()) {
        // What was never in step is there as something new.
        const of = (side: string): string => (isKnown || side !== 'base' ? side : 'moved');
        const [lead, row] = [of(sides.lead), of(sides.row)];
        if (!isKnown && lead === 'missed' && row === 'missed') continue;
        const hasRow = row !== 'missed' && isCopied;
        if (hasRow) copies.push(String(nth));
        pairs += Number(isKnown);
        if (row === 'paused') {
          // A scan meets its row, and does not look at its lead.
          metRows += Number(isKnown);
          all += 1;
          tally.seePaused({ ...sight, leadId: String(nth), isKnown, isCopied });
          continue;
        }
        metLeads += Number(lead === 'base');
        metRows += Number(row === 'base');
        all += Number(lead !== 'missed' || row !== 'missed');
        equal += Number(lead === row && lead !== 'missed' && !hasRow);
        if (lead === 'base' && row === 'base') continue;
        const isSame = lead === 'moved' && row === 'moved';
        const one = {
          ...sight,
          leadId: String(nth),
          isKnown,
          base: isKnown ? acme : null,
          isSame,
          lead: lead === 'moved' && !isSame ? won : null,
          row: row === 'moved' && !isSame ? won : null,
          missed: { lead: isKnown && lead === 'missed', row: isKnown && row === 'missed' },
          isCopied: hasRow,
        };
        tally.see(one, differenceOf(one, proof));
      }
      // Each twice: how often an id is copied does not matter.
      for (const leadId of [...copies, ...copies]) tally.seeLoose({ ...loose, leadId });
      for (let nth = 0; nth < withoutId; nth++) tally.seeLoose({ ...loose, leadId: null });
      const counts = tally.counts({ pairs, metLeads, metRows, newRows });
      expect(counts.records).toBe(all);
      if (metLeads > 0 && metRows > 0) expect(counts.equal).toBe(equal);
    }),
    { numRuns: lawRuns(1_000) },
  );
});
