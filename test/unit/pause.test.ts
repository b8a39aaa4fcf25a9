import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { pauses } from '../../src/core/lead/table-rows.ts';
import { hashContent } from '../../src/core/lead/content-hash.ts';
import type { Cells } from '../../src/core/lead/value.ts';
import type { LooseRow, Sight } from '../../src/core/merge/difference.ts';
import { LiveScan, sightOf } from '../../src/core/merge/live-scan.ts';
import { Baselines, recordText } from '../../src/core/merge/records.ts';
import { foundRows, looseStray } from '../../src/core/merge/lost-rows.ts';
import type { PlanFacts } from '../../src/core/merge/planner.ts';
import type { ScannedRow } from '../../src/core/merge/shown-rows.ts';
import { lawRuns } from '../support/law-runs.ts';
import { anyCell, anyPolicy, recordOf } from './any-pair.ts';
import { fields, policy } from './pair-state.ts';
import { acme, plannerOf, told, undone } from './plan-facts.ts';
import { undo } from './run-changes.ts';
import { looseRow, sight } from './sight.ts';

test.each([
  ...['TRUE', 'true', 'x', 'X', 'yes', 'Ja', '1', 'WAHR', 'VRAI', '✓', ' TRUE ', 'until May', '#REF!'].map(
    (text) => [text, true] as const,
  ),
  ...['', ' ', 'FALSE', 'false', 'no', 'No', 'Nein', '0', 'FALSCH', 'FAUX', 'n', '-', '☐'].map(
    (text) => [text, false] as const,
  ),
])('%j in the pause column: paused %s', (text, expected) => expect(pauses(text)).toBe(expected));

const paused: Sight = { ...sight, isPaused: true };

describe('the planner', () => {
  const anySight: fc.Arbitrary<Sight> = fc
    .record({
      isKnown: fc.boolean(),
      base: fc.option(recordOf(fc.constantFrom('a', 'b', null), false)),
      isSame: fc.boolean(),
      lead: fc.option(recordOf(anyCell, false)),
      row: fc.option(recordOf(anyCell, true)),
      missed: fc.record({ lead: fc.boolean(), row: fc.boolean() }),
      leadAbsences: fc.nat(3),
      rowAbsences: fc.nat(3),
      deletionDone: fc.boolean(),
      isCopied: fc.boolean(),
    })
    .map((known) => ({ ...sight, ...known }));
  const anyLoose: fc.Arbitrary<LooseRow> = fc.record({
    row: fc.nat(3),
    leadId: fc.constantFrom(null, 'a'),
    unreadableId: fc.constantFrom(null, '#REF!'),
    idClosed: fc.constantFrom(null, 'it is locked.'),
    isApart: fc.boolean(),
    cells: recordOf(anyCell, true) as fc.Arbitrary<Cells>,
    contentHash: fc.constantFrom('h', 'g'),
  });

  test('a paused row yields no action, whatever both sides hold, and its absences begin anew', () => {
    fc.assert(
      fc.property(anySight, anyLoose, anyPolicy, (pair, row, choices) => {
        const planner = plannerOf({ policy: choices });
        const { actions, absences } = planner.pair({ ...pair, isPaused: true });
        expect([...actions, ...planner.row({ ...row, isPaused: true }), ...planner.end()]).toEqual([]);
        const wasMissed = pair.isKnown && pair.leadAbsences + pair.rowAbsences > 0;
        const none = { leadId: 'a', lead: 0, row: 0, since: null, place: null };
        expect(absences).toEqual(wasMissed ? none : null);
      }),
      { numRuns: lawRuns(2000) },
    );
  });

  test('nor do paused rows change what is planned for others', () => {
    fc.assert(
      fc.property(anySight, fc.array(anyLoose, { maxLength: 4 }), anyPolicy, (other, rows, choices) => {
        const plan = (isPaused: boolean) => {
          const planner = plannerOf({ policy: choices });
          const before = isPaused ? planner.pair({ ...paused, leadId: 'b' }).actions : [];
          const pair = planner.pair({ ...other, isPaused: false }).actions;
          const ofRows = rows.flatMap((row, nth) =>
            nth % 2 === 0
              ? planner.row({ ...row, contentHash: 'f' })
              : isPaused
                ? planner.row({ ...row, isPaused: true })
                : [],
          );
          return [...before, ...pair, ...ofRows, ...planner.end()];
        };
        expect(plan(true)).toEqual(plan(false));
      }),
      { numRuns: lawRuns(1000) },
    );
  });

  const stray = { ...acme, isPaused: true, contentHash: hashContent(acme.cells, fields) };
  const base = { companyName: 'Acme', stage: 'new', nextFollowUpAt: null };
  const gone = { ...sight, base, missed: { lead: false, row: true }, rowAbsences: 1 };
  const strayFound: Partial<PlanFacts> = {
    found: foundRows(
      [looseStray({ ...stray, contentHash: hashContent(base, fields), cells: base })],
      [{ leadId: 'a', base, lead: base, isListed: true, isFresh: true, place: 2 }],
      fields,
      policy(),
      { fresh: 0, newOrphans: 0 },
    ),
  };

  test.each<[string, Partial<PlanFacts>, Sight | null, LooseRow | null]>([
    ['a new row', {}, null, stray],
    ['a row that an undo left', undone(''), null, stray],
    ['a copy of a row that is not', {}, null, { ...stray, leadId: 'a' }],
    ['an id that cannot be read', {}, null, { ...stray, unreadableId: '#REF!' }],
    ['a row that lost its id: its lead is not without a row', strayFound, gone, stray],
    ['a row of an unfinished create', { creates: { leadIds: new Set(), rows: new Set([2]) } }, null, stray],
  ])('nothing is done with %s', (_name, facts, pair, row) => {
    const planner = plannerOf(facts);
    const actions = [...(pair ? planner.pair(pair).actions : []), ...(row ? planner.row(row) : [])];
    expect(told(actions)).toEqual([]);
    expect(planner.tally.paused).toBe(1);
  });

  test('a row with the id of a paused one above it is held as any copy', () => {
    expect(told(plannerOf().row({ ...looseRow, leadId: 'a' }))).toEqual(['hold row.duplicate-id']);
  });

  test('what an undo and the service said of a paused row without an id is kept', () => {
    const { undone: records } = undone('');
    const planner = plannerOf({ ...(records && { undone: records }) });
    planner.row({ ...acme, isPaused: true });
    expect(told(planner.row(acme))).toEqual(['hold row.undone']);
  });
});

describe('a scan', () => {
  const ids = ['a', 'b', 'c', 'd'];
  const cells = recordOf(fc.constantFrom('a', 'b', null), false) as fc.Arbitrary<
    Record<string, string | null>
  >;
  const anyPairs = fc.dictionary(fc.constantFrom(...ids.slice(0, 3)), cells, { noNullPrototype: true });
  const anyRows = fc.array(fc.record({ leadId: fc.constantFrom(...ids), cells, isPaused: fc.boolean() }), {
    maxLength: 6,
  });
  const anyLeads = fc.array(fc.record({ leadId: fc.constantFrom(...ids), cells }), { maxLength: 6 });

  const scanOf = (
    known: Readonly<Record<string, Record<string, string | null>>>,
    leads: readonly { readonly leadId: string; readonly cells: Cells }[],
    rows: readonly Omit<ScannedRow, 'ordinal' | 'row' | 'status'>[],
    isRowsFirst: boolean,
  ): LiveScan => {
    const base = new Baselines(fields);
    for (const [nth, [leadId, values]] of Object.entries(known).entries()) {
      const bytes = Buffer.from(`${leadId}${recordText(values, fields)}`);
      base.add({ id: nth, row: nth + 2, isSettled: true, isDeleted: false }, bytes, 0, 1, 1, bytes.length);
    }
    const scan = new LiveScan(base);
    const seeLeads = () => leads.forEach((one) => scan.seeLead(one.leadId, one.cells));
    if (!isRowsFirst) seeLeads();
    for (const [nth, row] of rows.entries())
      scan.seeRow({ ...row, ordinal: nth, row: nth + 2, status: null }, { isWhole: true, usualStatus: null });
    if (isRowsFirst) seeLeads();
    return scan;
  };

  test('the lead of a paused row shows nothing and is not missed; all others are seen as if nothing were paused', () => {
    fc.assert(
      fc.property(anyPairs, anyLeads, anyRows, fc.boolean(), (known, leads, rows, isRowsFirst) => {
        const marked = rows.map(({ isPaused, ...row }) => ({
          ...row,
          ...(isPaused && { paused: true as const }),
        }));
        const live = scanOf(known, leads, marked, isRowsFirst);
        const plain = scanOf(
          known,
          leads,
          rows.map(({ isPaused: _, ...row }) => row),
          isRowsFirst,
        );
        for (const leadId of ids) {
          const first = rows.find((row) => row.leadId === leadId);
          expect(live.isPaused(leadId)).toBe(first?.isPaused === true);
          const seen = sightOf(live, leadId, undefined, []);
          if (first?.isPaused !== true) {
            const { isCopied: _, ...without } = sightOf(plain, leadId, undefined, []);
            expect(seen).toMatchObject(without);
            continue;
          }
          const none = { lead: null, row: null, isSame: false, missed: { lead: false, row: false } };
          expect(seen).toMatchObject({ ...none, isPaused: true });
          expect(live.differing()).toContain(leadId);
          expect([live.hasRow(leadId), live.isPlain(leadId)]).toEqual([true, false]);
          if (leadId in known) expect([live.lead(leadId), live.hasLead(leadId)]).toEqual([null, true]);
        }
        // Whether the service is another one is not told by what people paused.
        expect(live.unlisted()).toEqual(plain.unlisted());
        expect([...live.unlistedLeads()]).toEqual([...plain.unlistedLeads()]);
      }),
      { numRuns: lawRuns(300) },
    );
  });

  test('a paused row under another spelling pauses its lead', () => {
    const spelled = 'AAAAAAAA-0000-4000-8000-000000000010';
    const scan = new LiveScan(new Baselines(fields));
    const row = { ordinal: 0, row: 2, leadId: spelled.toLowerCase(), cells: {}, status: null };
    scan.seeRow({ ...row, paused: true }, { isWhole: true, usualStatus: null });
    scan.spell(spelled);
    scan.respellRows();
    expect([scan.isPaused(spelled), [...scan.paused()]]).toEqual([true, [spelled]]);
    scan.forgetRows();
    expect(scan.isPaused(spelled)).toBe(false);
  });
});

test('an undo puts neither side back', () => {
  const made = { rowMade: { companyName: 'Acme' } };
  const row = { row: 2, cells: made.rowMade };
  expect(undo(made, { row })).toMatchObject([{ kind: 'remove-row' }]);
  expect(undo(made, { row, isPaused: true })).toMatchObject([{ kind: 'report', reason: 'undo.paused' }]);
});
