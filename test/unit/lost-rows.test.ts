import fc from 'fast-check';
import { expect, test } from 'vitest';
import { hashContent } from '../../src/core/lead/content-hash.ts';
import { idKey } from '../../src/core/lead/lead-id.ts';
import type { Values } from '../../src/core/lead/value.ts';
import { findLostRows, type LostLead, type Stray } from '../../src/core/merge/lost-rows.ts';
import { cpuMs } from '../support/cpu-ms.ts';
import { lawRuns } from '../support/law-runs.ts';
import { fields } from './pair-state.ts';

test.each([
  ['018C2F3A-0000-7000-8000-00000000ABCD', '018c2f3a-0000-7000-8000-00000000abcd'],
  [' {018c2f3a-0000-7000-8000-00000000abcd}\u00a0', '018c2f3a-0000-7000-8000-00000000abcd'],
  ['urn:uuid:018c2f3a-0000-7000-8000-00000000abcd', '018c2f3a-0000-7000-8000-00000000abcd'],
  ['018C2F3A', '018C2F3A'],
  ['{A-1}', '{A-1}'],
  ['018C2F3A00007000800000000000ABCD', '018C2F3A00007000800000000000ABCD'],
])('the key of the id %s is %s', (id, key) => expect(idKey(id)).toBe(key));

const anyValues = fc.record({
  companyName: fc.constantFrom('A', 'B', 'C'),
  stage: fc.constantFrom('new', 'won'),
  nextFollowUpAt: fc.constantFrom(null, '2026-12-01T00:00:00.000Z'),
});
const anyStrays = fc
  .array(fc.record({ cells: anyValues, isUnreadable: fc.boolean(), isOrphan: fc.boolean() }), {
    maxLength: 6,
  })
  .map((many) =>
    many.map(({ cells, isUnreadable, isOrphan }, index): Stray => {
      const leadId = isOrphan && !isUnreadable ? `ghost-${index}` : null;
      const contentHash = hashContent(cells, fields);
      return { row: index + 2, leadId, isUnreadable, isClosed: isUnreadable, cells, contentHash };
    }),
  );
const anyLost = fc
  .array(
    fc.record({
      base: anyValues,
      edit: fc.option(anyValues),
      isListed: fc.boolean(),
      isFresh: fc.boolean(),
      place: fc.option(fc.integer({ min: 2, max: 7 })),
    }),
    { maxLength: 6 },
  )
  .map((many) =>
    many.map(
      ({ edit, ...one }, index): LostLead => ({ ...one, leadId: `lead-${index}`, lead: edit ?? one.base }),
    ),
  );
const shows = (cells: Stray['cells'], values: Values | LostLead['lead']): boolean =>
  hashContent(cells, fields) === hashContent(values, fields);

test('nothing twice: a row is linked to one lead, whose only row it can be; every other that may be one is held', () => {
  fc.assert(
    fc.property(anyStrays, anyLost, (strays, lost) => {
      const { links, mayBe, leadIds } = findLostRows(strays, lost, fields, fields);
      expect(new Set(links.values()).size).toBe(links.size);
      for (const { row, cells, leadId, isClosed } of strays) {
        const fit = lost.filter(({ base, lead }) => shows(cells, base) || shows(cells, lead));
        const linked = links.get(row);
        if (linked !== undefined) {
          expect([leadId, isClosed, fit.map((lead) => lead.leadId)]).toEqual([null, false, [linked]]);
          const rivals = strays.filter((other) =>
            fit.some(({ base, lead }) => shows(other.cells, base) || shows(other.cells, lead)),
          );
          expect(rivals).toHaveLength(1);
        } else if (fit.length > 0) expect(mayBe.get(row)).toEqual(fit.map((lead) => lead.leadId));
        // Nothing that is linked or held leaves its lead to be written, or deleted, meanwhile.
        for (const id of [...(mayBe.get(row) ?? []), ...(linked === undefined ? [] : [linked])])
          expect(leadIds.has(id)).toBe(true);
      }
    }),
    { numRuns: lawRuns(2000) },
  );
});

test.each([null, 'no-id'])(
  'a row with the name of a lead whose row is gone in the same scan may be its row, whatever else was edited (id %s)',
  (leadId) => {
    const base = { companyName: 'Dorn AG', stage: 'new', nextFollowUpAt: '2026-12-01T00:00:00.000Z' };
    const cells = { companyName: 'Dorn AG', stage: 'won', nextFollowUpAt: null };
    const stray: Stray = {
      row: 5,
      leadId,
      isUnreadable: false,
      isClosed: false,
      cells,
      contentHash: hashContent(cells, fields),
    };
    const lost = { leadId: 'lead-1', base, isListed: true, isFresh: true, place: 2 };
    const renamed = { ...base, companyName: 'Dorn SE' };
    for (const lead of [base, renamed]) {
      const found = findLostRows([stray], [{ ...lost, lead }], fields, fields);
      expect([found.mayBe.get(5), found.leadIds]).toEqual([['lead-1'], new Set(['lead-1'])]);
    }
    // It was gone before: somebody deleted it, and this row is a new one.
    const older = findLostRows([stray], [{ ...lost, lead: base, isFresh: false }], fields, fields);
    expect(older.mayBe.size).toBe(0);
  },
);

test('5,000 rows and leads alike are told at once', () => {
  const cells = { companyName: 'A', stage: 'new', nextFollowUpAt: null };
  const contentHash = hashContent(cells, fields);
  const numbers = Array.from({ length: 5_000 }, (_, index) => index);
  const strays = numbers.map(
    (row): Stray => ({ row, leadId: null, isUnreadable: false, isClosed: false, cells, contentHash }),
  );
  const edited = strays.map((stray) => {
    const other = { ...cells, stage: `edited ${stray.row}` };
    return { ...stray, cells: other, contentHash: hashContent(other, fields) };
  });
  const lost = numbers.map(
    (n): LostLead => ({
      leadId: `${n}`,
      base: cells,
      lead: cells,
      isListed: true,
      isFresh: true,
      place: null,
    }),
  );
  for (const rows of [strays, edited]) {
    const begun = cpuMs();
    const { links, mayBe, leadIds } = findLostRows(rows, lost, fields, fields);
    expect([links.size, mayBe.size, leadIds.size]).toEqual([0, 5_000, 5_000]);
    expect(cpuMs() - begun).toBeLessThan(2_000);
  }
});
