import { describe, expect, test } from 'vitest';
import { hashContent } from '../../src/core/lead/content-hash.ts';
import type { FieldMapping } from '../../src/core/lead/mapping.ts';
import type { LooseRow, Sight } from '../../src/core/merge/difference.ts';
import {
  foundRows,
  goneLead,
  looseStray,
  orphanRow,
  renamedLead,
  unheardLead,
} from '../../src/core/merge/lost-rows.ts';
import type { Policy } from '../../src/core/merge/policy.ts';
import { fields, policy } from './pair-state.ts';
import { looseRow, sight } from './sight.ts';

const acme = { companyName: 'Acme', stage: 'new' };
const bolt = { companyName: 'Bolt', stage: 'new' };
const rowMissed = { lead: false, row: true };
const leadMissed = { lead: true, row: false };
const both = { lead: true, row: true };
const held = { field: 'stage', code: 'conflict.both-edited', resolution: null, lead: 'a', row: 'b' };

describe('a known lead whose row the scan did not show', () => {
  const gone = { ...sight, missed: rowMissed };
  test.each<[string, Partial<Sight>, unknown]>([
    ['is lost', {}, { base: acme, lead: acme, row: null, isListed: true, isFresh: true, place: 2 }],
    ['has another lead by now', { lead: bolt }, { base: acme, lead: bolt }],
    ['had held values', { held: [held] }, { row: { companyName: 'Acme', stage: 'b' } }],
    ['is gone as well', { missed: both }, { isListed: false, isFresh: true }],
    ['was missed before', { rowAbsences: 1 }, { isFresh: false }],
    ['was missed by this run alone', { rowAbsences: 1, isCounted: true }, { isFresh: true }],
  ])('%s', (_, given, expected) => expect(goneLead({ ...gone, ...given })).toMatchObject(expected as object));

  test.each<[string, Partial<Sight>]>([
    ['is there', { missed: leadMissed }],
    ['never was', { base: null }],
    ['was merged into another', { merged: { row: 3, message: '' } }],
    ['is as gone as its lead', { deletionDone: true }],
    ['went with its lead before', { missed: both, leadAbsences: 1 }],
  ])('is not lost when it %s', (_, given) => expect(goneLead({ ...gone, ...given })).toBe(null));

  test('its lead was missed by this run alone', () => {
    expect(goneLead({ ...gone, missed: both, leadAbsences: 1, isCounted: true })).not.toBe(null);
  });
});

describe('a row that shows another name', () => {
  test('is told with its place and content', () => {
    const found = renamedLead({ ...sight, row: bolt }, fields);
    const shown = { row: 2, contentHash: hashContent(bolt, fields) };
    expect(found).toEqual({
      leadId: 'a',
      base: acme,
      lead: acme,
      isListed: true,
      isFresh: true,
      place: null,
      shown,
    });
    expect(renamedLead({ ...sight, row: bolt, lead: { companyName: 'Cord' } }, fields)?.lead).toEqual({
      companyName: 'Cord',
    });
    expect(renamedLead({ ...sight, row: { companyName: { unreadable: '#REF!' } } }, fields)).not.toBe(null);
    expect(renamedLead({ ...sight, row: { companyName: null } }, fields)).not.toBe(null);
  });

  test.each<[string, Partial<Sight>]>([
    ['shows its own', { row: { ...acme, stage: 'won' } }],
    ['is as in the baseline', {}],
    ['has no column for it', { row: { stage: 'won' } }],
    ['got the name of its lead', { row: bolt, lead: bolt }],
    ['never had one', { row: bolt, base: { companyName: null } }],
    ['was never in step', { row: bolt, base: null }],
    ['stands nowhere', { row: bolt, rowNumber: null }],
  ])('is none when it %s', (_, given) => expect(renamedLead({ ...sight, ...given }, fields)).toBe(null));
});

describe('a row that was begun, and of which nothing was heard', () => {
  const begun = new Map([['a', bolt]]);
  const unheard = { ...sight, base: null, lead: acme };
  test('is looked for by what it was to show', () => {
    expect(unheardLead(unheard, begun)).toEqual({
      leadId: 'a',
      base: bolt,
      lead: acme,
      isListed: true,
      isFresh: true,
      place: null,
    });
  });

  test.each<[string, Partial<Sight>]>([
    ['is in step', { base: acme }],
    ['has a row', { row: bolt }],
    ['shows the same as its row', { isSame: true }],
    ['has a further row', { isCopied: true }],
    ['is not listed', { lead: null }],
    ['is another one', { leadId: 'b' }],
  ])('is none when the lead %s', (_, given) =>
    expect(unheardLead({ ...unheard, ...given }, begun)).toBe(null),
  );
});

describe('a row whose id belongs to no known lead', () => {
  const orphan = { ...sight, isKnown: false, base: null, row: bolt };
  const gone = { ...sight, row: bolt, missed: leadMissed };
  const of = (given: Sight, allOfGone = false): unknown => orphanRow(given, fields, allOfGone)?.isNew ?? null;
  const reported = (code: string) => ({ held: [{ ...held, field: '', code }] });
  test.each<[string, Sight, unknown]>([
    ['is new', orphan, true],
    ['was held before', { ...orphan, ...reported('row.orphan') }, false],
    ['was asked for before', { ...orphan, ...reported('lead.unasked') }, false],
    ['is held for another reason', { ...orphan, ...reported('row.moved') }, true],
    ['is its lead', { ...orphan, lead: acme }, null],
    ['shows the same as its lead', { ...orphan, isSame: true }, null],
    ['is no row', { ...orphan, row: null }, null],
    ['stands nowhere', { ...orphan, rowNumber: null }, null],
    ['of a deleted lead is its row', gone, null],
    ['of a deleted lead reappeared', { ...gone, rowAbsences: 1 }, false],
    ['of a deleted lead is held', { ...gone, ...reported('row.orphan') }, false],
    ['of a deleted lead is only doubted', { ...gone, ...reported('lead.unasked') }, null],
    ['of a known lead', { ...gone, missed: { lead: false, row: false }, rowAbsences: 1 }, null],
  ])('%s', (_, given, expected) => expect(of(given)).toBe(expected));

  test('of a deleted lead counts where all do', () => {
    expect(of(gone, true)).toBe(false);
    expect(of({ ...gone, missed: { lead: false, row: false } }, true)).toBe(null);
  });

  test('is a stray by its id, place and content', () => {
    expect(orphanRow(orphan, fields, false)?.stray).toEqual({
      row: 2,
      leadId: 'a',
      isUnreadable: false,
      isClosed: false,
      cells: bolt,
      contentHash: hashContent(bolt, fields),
    });
  });
});

test('no id can be written where one cannot be read, or the cell is closed', () => {
  const flags = (given: Partial<LooseRow>) => {
    const { isUnreadable, isClosed } = looseStray({ ...looseRow, ...given });
    return [isUnreadable, isClosed];
  };
  expect([flags({}), flags({ unreadableId: '#' }), flags({ idClosed: 'why' })]).toEqual([
    [false, false],
    [true, true],
    [false, true],
  ]);
});

describe('what a plan asks of lost rows', () => {
  const lost = goneLead({ ...sight, missed: rowMissed });
  const loose = {
    row: 7,
    leadId: null,
    unreadableId: null,
    idClosed: null,
    isApart: false,
    cells: acme,
    contentHash: hashContent(acme, fields),
  };
  const policyOf = (unseen: readonly FieldMapping[]): Policy => policy({ fields, unseen });
  const of = (given: Policy, row: LooseRow = loose, counts = { fresh: 3, newOrphans: 5 }) =>
    foundRows([looseStray(row)], lost === null ? [] : [lost], fields, given, counts);

  test('a row gets its id back; while a column is missing it waits, or only may be the row of its lead', () => {
    const found = of(policyOf([]));
    expect([...found.links]).toEqual([[7, 'a']]);
    expect([...found.rowOf]).toEqual([['a', { row: 7, cells: acme }]]);
    expect([...found.mayBe]).toEqual([]);
    const unsure = of(policyOf(fields.slice(0, 1)));
    expect([unsure.links.size, unsure.rowOf.size]).toEqual([0, 0]);
    expect([...unsure.unsure]).toEqual([[7, 'a']]);
    expect(found.unsure.size).toBe(0);
    expect(unsure.leadIds).toEqual(new Set(['a']));
  });

  test('of unknown ids as many count as rows went, without those that were found', () => {
    expect(of(policyOf([])).idsUnknown).toBe(2);
    expect(of(policyOf([]), loose, { fresh: 3, newOrphans: 1 }).idsUnknown).toBe(1);
    expect(of(policyOf([]), { ...loose, cells: bolt, contentHash: 'x' }).idsUnknown).toBe(3);
  });

  test('a row with an unreadable id may be the row of a new lead that shows the same, or has its name', () => {
    const found = of(policyOf([]), { ...loose, unreadableId: '#REF!', cells: bolt, contentHash: 'x' });
    expect(found.mayHaveRow({ companyName: 'bolt', stage: 'won' })).toBe(true);
    expect(found.mayHaveRow(acme)).toBe(false);
    expect(of(policyOf([])).mayHaveRow(acme)).toBe(false);
  });
});
