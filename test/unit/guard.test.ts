import { describe, expect, test } from 'vitest';
import { type Limit, looksForeign, type PlanCounts } from '../../src/core/merge/guard.ts';
import { refused, rows, share } from './guard-counts.ts';

describe('an empty scan', () => {
  test.each<[number, number, readonly string[]]>([
    // leads, known pairs
    [0, 1, ['empty-scan']],
    [0, 1000, ['empty-scan']],
    [1, 1000, []],
    [0, 0, []],
  ])('%i leads where %i pairs are known', (leads, knownPairs, expected) => {
    expect(refused({ leads, knownPairs })).toEqual(expected);
  });
});

describe('another service', () => {
  test.each<[string | null, number, readonly string[]]>([
    [null, 5, []],
    ['http://127.0.0.1:4000', 5, ['other-service']],
    ['http://127.0.0.1:4000', 0, []],
  ])('baselines from %s, %i pairs', (otherService, knownPairs, expected) => {
    expect(refused({ otherService, knownPairs })).toEqual(expected);
  });
});

describe('the leads of another organization', () => {
  test.each<[number, number, number, boolean]>([
    // known leads, those of them in the list, others in it
    [30, 0, 40, true],
    [3, 0, 1, true],
    [2, 0, 40, false],
    [30, 0, 0, false],
    [30, 1, 40, true],
    [30, 2, 40, false],
    [20, 1, 40, false],
    [1000, 49, 1, true],
    [1000, 50, 1, false],
  ])('%i known leads, of which the list shows %i, and %i others', (known, listed, others, expected) => {
    expect(looksForeign({ known, listed, others })).toBe(expected);
  });

  const foreign = { known: 30, listed: 0, others: 40, asked: 5 };
  test.each<[Partial<PlanCounts>, readonly string[], readonly string[]]>([
    [{ foreign }, [], ['other-service']],
    [{ foreign: null }, [], []],
    [{ foreign }, ['other-service'], []],
    // It is said once.
    [{ foreign, otherService: 'http://127.0.0.1:4000' }, [], ['other-service']],
  ])('%o, allowed %o', (counts, allow, expected) => {
    expect(refused(counts, {}, allow)).toEqual(expected);
  });
});

describe('deletes', () => {
  test.each<[string, number, PlanCounts['byKind'], Limit, readonly string[]]>([
    // The default: the larger of 10 % and 10 rows, of which a small team is allowed a quarter of its leads.
    ['a few rows that a team of twelve deletes in a day', 12, { 'delete-lead': 3 }, share(10), []],
    ['more than a quarter of twelve', 12, { 'delete-lead': 4 }, share(10), ['max-deletes']],
    ['most of twelve: an older or a cut file', 12, { 'delete-lead': 8 }, share(10), ['max-deletes']],
    ['one of one', 1, { 'delete-lead': 1 }, share(10), []],
    ['one of three', 3, { 'delete-lead': 1 }, share(10), []],
    ['two of seven', 7, { 'delete-lead': 2 }, share(10), ['max-deletes']],
    ['a share above a quarter is what the user chose', 12, { 'delete-lead': 6 }, share(50), []],
    ['ten of forty', 40, { 'mark-row': 10 }, share(10), []],
    ['ten of thirty-nine', 39, { 'mark-row': 10 }, share(10), ['max-deletes']],
    ['ten of a hundred', 100, { 'remove-row': 10 }, share(10), []],
    ['eleven of a hundred', 100, { 'remove-row': 11 }, share(10), ['max-deletes']],
    ['the share of many', 1000, { 'delete-lead': 100 }, share(10), []],
    ['one more than the share of many', 1000, { 'delete-lead': 101 }, share(10), ['max-deletes']],
    ['part of a row is no row', 119, { 'delete-lead': 12 }, share(10), ['max-deletes']],
    [
      'all kinds count together',
      100,
      { 'delete-lead': 4, 'remove-row': 4, 'mark-row': 3 },
      share(10),
      ['max-deletes'],
    ],
    ['no share still allows small numbers', 1000, { 'mark-row': 10 }, share(0), []],
    ['no share', 1000, { 'mark-row': 11 }, share(0), ['max-deletes']],
    ['everything allowed', 1000, { 'mark-row': 1000 }, share(100), []],
    // An absolute limit is exact, also below ten.
    ['up to an absolute limit', 1000, { 'mark-row': 3 }, rows(3), []],
    ['above an absolute limit', 1000, { 'mark-row': 4 }, rows(3), ['max-deletes']],
    ['none allowed, none asked', 1000, {}, rows(0), []],
    ['none allowed', 1000, { 'delete-lead': 1 }, rows(0), ['max-deletes']],
    ['an absolute limit above the number of pairs', 5, { 'mark-row': 5 }, rows(50), []],
    ['what is no delete', 1000, { 'create-row': 900, hold: 900, forget: 900, agree: 900 }, rows(0), []],
  ])('%s', (_, knownPairs, byKind, maxDeletes, expected) => {
    expect(refused({ knownPairs, leads: knownPairs, byKind }, { maxDeletes })).toEqual(expected);
  });
});

describe('changes', () => {
  test.each<[string, number, PlanCounts['byKind'], Limit, readonly string[]]>([
    ['half of a hundred', 100, { 'update-row': 50 }, share(50), []],
    ['more than half of a hundred', 100, { 'update-row': 51 }, share(50), ['max-changes']],
    [
      'all kinds count together',
      100,
      { 'update-row': 20, 'update-lead': 20, 'create-lead': 11 },
      share(50),
      ['max-changes'],
    ],
    ['ten of few', 10, { 'update-lead': 10 }, share(50), []],
    ['eleven of few', 10, { 'update-lead': 11 }, share(50), ['max-changes']],
    ['up to an absolute limit', 1000, { 'update-lead': 5 }, rows(5), []],
    ['above an absolute limit', 1000, { 'update-lead': 6 }, rows(5), ['max-changes']],
    ['leads that are new to the target are no changes', 10, { 'create-row': 5000 }, share(50), []],
    ['links, holds and what is agreed are no changes', 10, { link: 50, hold: 50, agree: 50 }, share(50), []],
  ])('%s', (_, knownPairs, byKind, maxChanges, expected) => {
    expect(refused({ knownPairs, leads: knownPairs, byKind }, { maxChanges })).toEqual(expected);
  });
});

test.each<[string, number, number, readonly string[]]>([
  ['all that have a value', 12, 12, ['whole-field']],
  ['all but one', 11, 12, []],
  ['all of few', 9, 9, []],
  ['the fewest that mean anything', 10, 10, ['whole-field']],
  ['every pair, which is said once', 100, 100, ['whole-field']],
])('a field that would be emptied in %s', (_, emptied, filled, expected) => {
  const counts = { knownPairs: 100, leads: 100, byField: { due: emptied } };
  expect(refused({ ...counts, emptied: { due: { emptied, filled } } })).toEqual(expected);
});

test('rows that would be written again count with the changes', () => {
  const counts = { knownPairs: 100, leads: 100, byKind: { 'update-row': 30, 'create-row': 21 } };
  expect(refused({ ...counts, rewritten: 20 }, { maxChanges: share(50) })).toEqual([]);
  expect(refused({ ...counts, rewritten: 21 }, { maxChanges: share(50) })).toEqual(['max-changes']);
});

describe('a field that changes in every pair', () => {
  test.each<[string, number, PlanCounts['byField'], readonly string[]]>([
    ['in all', 100, { stage: 100 }, ['whole-field']],
    ['in all but one', 100, { stage: 99 }, []],
    ['in the smallest number that means anything', 10, { stage: 10 }, ['whole-field']],
    ['in fewer pairs', 9, { stage: 9 }, []],
    ['two fields', 100, { stage: 100, city: 100, region: 3 }, ['whole-field', 'whole-field']],
    ['two fields together', 100, { stage: 50, city: 50 }, []],
  ])('%s', (_, knownPairs, byField, expected) => {
    expect(refused({ knownPairs, leads: knownPairs, byField })).toEqual(expected);
  });
});

describe('rows that show the values of other leads', () => {
  test.each<[string, number, number, readonly string[]]>([
    ['many', 100, 60, ['rows-shuffled']],
    ['as few as mean anything', 12, 10, ['rows-shuffled']],
    ['fewer', 12, 9, []],
    ['a small share', 1000, 49, []],
    ['a share that is not small', 1000, 50, ['rows-shuffled']],
  ])('%s', (_, knownPairs, strangers, expected) => {
    expect(refused({ knownPairs, leads: knownPairs, strangers })).toEqual(expected);
  });

  test.each<[number, readonly string[]]>([
    [9, []],
    [10, ['rows-shuffled']],
  ])('a column in which %i rows have exchanged their values', (rows, expected) => {
    expect(refused({ permuted: { nextFollowUpAt: rows } })).toEqual(expected);
  });
});

describe('cells that were shifted', () => {
  const shift = { first: 2, last: 90, by: 1, changed: 60, column: 'Town' };
  test.each<[string, Partial<PlanCounts>]>([
    ['one column', { shifted: { city: shift } }],
    ['two, which is said once', { shifted: { city: shift, companyName: shift } }],
    ['which only exchanged its values', { shifted: { city: shift }, permuted: { city: 60 } }],
    ['every column', { shifted: { city: shift }, strangers: 60 }],
  ])('%s', (_, counts) => {
    expect(refused(counts)).toEqual(['rows-shuffled']);
    expect(refused(counts, {}, ['rows-shuffled'])).toEqual([]);
  });
});

describe('the ids of a first sync', () => {
  test.each<[number, number, number, readonly string[]]>([
    // ids, unknown ones, known pairs
    [3, 3, 0, ['ids-unknown']],
    [40, 40, 0, ['ids-unknown']],
    [2, 2, 0, []],
    [40, 39, 0, []],
    [40, 40, 100, []],
  ])('of %i, %i that no lead has, %i pairs', (ids, unknown, knownPairs, expected) => {
    const firstIds = { column: 'Kd-Nr.', ids, unknown, row: 4, id: '10023' };
    expect(refused({ firstIds, knownPairs })).toEqual(expected);
  });
});

describe('a first sync', () => {
  test('knows no pair, so no change is too much', () => {
    const byKind = { 'create-row': 5000, 'create-lead': 5000, 'update-row': 5000, 'update-lead': 5000 };
    const byField = { stage: 5000 };
    const limits = { maxDeletes: rows(0), maxChanges: rows(0) };
    expect(refused({ knownPairs: 0, leads: 0, byKind, byField }, limits)).toEqual([]);
  });
});

describe('rows with unknown ids while as many known rows are gone', () => {
  test.each<[number, number, readonly string[]]>([
    // known pairs, such rows
    [5, 2, []],
    [5, 3, ['ids-unknown']],
    [12, 2, []],
    [12, 3, ['ids-unknown']],
    [13, 3, []],
    [40, 9, []],
    [40, 10, ['ids-unknown']],
    [200, 9, []],
    [200, 10, ['ids-unknown']],
    [201, 10, []],
    [10_000, 499, []],
    [10_000, 500, ['ids-unknown']],
  ])('of %i known pairs, %i', (knownPairs, idsUnknown, expected) => {
    expect(refused({ knownPairs, leads: knownPairs, idsUnknown })).toEqual(expected);
  });
});

describe('a place that is not the one in step so far', () => {
  const place = { here: 'b.csv', before: 'a.csv', known: 0, recognised: 0, newLeads: 0, differing: 0 };

  test.each<[string, Partial<typeof place>, readonly string[]]>([
    ['never seen, nothing in it', {}, []],
    ['never seen, its rows would become leads', { newLeads: 1 }, ['other-target']],
    ['never seen, its rows differ from the leads', { differing: 1 }, ['other-target']],
    ['never seen, with both', { newLeads: 1, differing: 1 }, ['other-target']],
    ['moved, and shows what was in step', { known: 10, recognised: 8 }, []],
    ['moved, and shows little of it', { known: 10, recognised: 7 }, ['other-target']],
    ['moved, and enough of many show it', { known: 1000, recognised: 20 }, []],
  ])('%s', (_, counts, codes) => {
    expect(refused({ otherPlace: { ...place, ...counts }, knownPairs: counts.known ?? 0 })).toEqual(codes);
    expect(refused({ otherPlace: { ...place, ...counts } }, {}, ['other-target'])).toEqual([]);
  });

  test.each<[number, number, readonly string[]]>([
    // rows, known pairs
    [0, 3, ['target-gone']],
    [0, 2, []],
    [1, 100, []],
  ])('%i rows of %i known ones', (rows, knownPairs, codes) => {
    expect(refused({ rows, knownPairs })).toEqual(codes);
  });
});
