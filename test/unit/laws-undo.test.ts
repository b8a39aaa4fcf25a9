import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Cell, isUnreadable, sameCell } from '../../src/core/lead/value.ts';
import type { PlannedAction } from '../../src/core/merge/action.ts';
import { type RunChanges, planUndo, type Present } from '../../src/core/merge/undo.ts';
import { lawRuns } from '../support/law-runs.ts';
import { anyCell, anyValue, names, recordOf } from './any-pair.ts';

const anyWritten = fc.uniqueArray(
  fc.record({
    side: fc.constantFrom('lead' as const, 'row' as const),
    field: fc.constantFrom(...names),
    before: anyCell,
    after: anyValue,
    rule: fc.constantFrom('row-edited', 'lead-edited', 'target-wins', 'fills-empty', 'undone'),
    later: fc.option(fc.constant(9), { freq: 3 }),
  }),
  { selector: ({ side, field }) => `${side} ${field}`, maxLength: 4 },
);
const anyChanges: fc.Arbitrary<RunChanges> = fc.record({
  leadId: fc.constant('lead-1'),
  written: anyWritten,
  leadMade: fc.option(recordOf(anyValue, true)),
  rowLinked: fc.option(recordOf(anyCell, false)),
  rowMatched: fc.option(recordOf(anyCell, false), { freq: 1 }),
  later: fc.option(fc.constant(9), { freq: 3 }),
  rowMade: fc.option(recordOf(anyValue, true)),
  rowRemoved: fc.option(recordOf(anyCell, false), { freq: 1 }),
  rowMarked: fc.boolean(),
  leadDeleted: fc.option(recordOf(anyCell, false), { freq: 1 }),
});
const anyPresent: fc.Arbitrary<Present> = fc.record({
  lead: fc.option(recordOf(anyCell, true)),
  row: fc.option(recordOf(anyCell, true).map((cells) => ({ row: 7, cells }))),
  headings: fc.constant(names.map((field) => ({ field, column: `the heading of ${field.length}` }))),
});

function law(check: (actions: readonly PlannedAction[], run: RunChanges, present: Present) => void): void {
  fc.assert(
    fc.property(anyChanges, anyPresent, (run, present) => {
      check(planUndo(run, present), run, present);
    }),
    { numRuns: lawRuns(5000) },
  );
}

test('a person is told the headings of the table, never the names of fields', () => {
  law((actions) => {
    for (const { message } of actions)
      for (const field of names) expect(message ?? '').not.toMatch(new RegExp(`\\b${field}\\b`));
  });
});

describe('promise 1: no edit is lost, not by an undo either', () => {
  const isLead = ({ kind }: PlannedAction) => kind === 'update-lead' || kind === 'delete-lead';

  test('only a value that the run wrote is written over', () => {
    law((actions, { written }) => {
      for (const action of actions.filter(({ kind }) => kind === 'update-lead' || kind === 'update-row')) {
        for (const [field, { from, to }] of Object.entries(action.changes)) {
          const side = isLead(action) ? 'lead' : 'row';
          const deed = written.find((one) => one.side === side && one.field === field);
          expect(deed).toBeDefined();
          expect(sameCell(from, deed?.after ?? null)).toBe(true);
          expect(sameCell(to, deed?.before ?? null)).toBe(true);
        }
      }
    });
  });

  test('only a lead or a row that shows nothing but what the run put there is taken away', () => {
    law((actions, { written, leadMade, rowMade }, { lead, row }) => {
      for (const action of actions.filter(({ kind }) => kind === 'delete-lead' || kind === 'remove-row')) {
        const [shown, made] = isLead(action) ? [lead, leadMade] : [row?.cells, rowMade];
        expect(made).not.toBeNull();
        for (const [field, cell] of Object.entries(shown ?? {})) {
          if (sameCell(cell, null)) continue;
          const put: readonly (Cell | undefined)[] = [
            made?.[field],
            ...written.filter((one) => one.field === field).map(({ after }) => after),
          ];
          expect(put.some((one) => one !== undefined && sameCell(one, cell))).toBe(true);
        }
      }
    });
  });

  test('a value is put back only where nobody wrote or edited it since, on either side', () => {
    law((actions, run, { lead, row }) => {
      for (const { kind, changes } of actions) {
        if (kind !== 'update-lead' && kind !== 'update-row') continue;
        expect(run.later).toBeNull();
        const [side, other] =
          kind === 'update-lead' ? (['lead', 'row'] as const) : (['row', 'lead'] as const);
        for (const field of Object.keys(changes)) {
          const deed = run.written.find((one) => one.side === side && one.field === field);
          expect(deed?.later).toBeNull();
          const there = { lead, row: row?.cells }[other];
          const left = run.written.find((one) => one.side === other && one.field === field);
          const made = other === 'row' ? run.rowMade?.[field] : undefined;
          const shared = deed?.rule === 'undone' ? deed.before : (made ?? deed?.after ?? null);
          if (there && (run.rowMade === null || other === 'lead'))
            expect(sameCell(there[field] ?? null, left === undefined ? shared : left.after)).toBe(true);
        }
      }
    });
  });

  test('a row gives back its id only as it was linked, and keeps nothing but what its user had typed', () => {
    law((actions, { rowLinked, written }, { row }) => {
      for (const { changes } of actions.filter(({ kind }) => kind === 'unlink')) {
        for (const [field, cell] of Object.entries(row?.cells ?? {})) {
          const filled = written.find((one) => one.side === 'row' && one.field === field);
          const left = filled === undefined ? (rowLinked?.[field] ?? null) : filled.after;
          expect(sameCell(cell, left)).toBe(true);
          if (field in changes)
            expect(sameCell(changes[field]?.to ?? null, filled?.before ?? null)).toBe(true);
        }
      }
    });
  });

  test('each action expects to find what is there now, and none writes what cannot be read', () => {
    law((actions, _, { lead, row }) => {
      for (const action of actions) {
        const shown = isLead(action) ? lead : row?.cells;
        for (const [field, cell] of Object.entries(action.expect)) {
          expect(sameCell(shown?.[field] ?? null, cell)).toBe(true);
        }
        for (const { to } of Object.values(action.changes)) expect(isUnreadable(to)).toBe(false);
      }
    });
  });

  test('no field is written on both sides, and no record is both written to and taken away', () => {
    law((actions) => {
      const fields = actions
        .filter(({ kind }) => kind === 'update-lead' || kind === 'update-row')
        .flatMap(({ changes }) => Object.keys(changes));
      expect(new Set(fields).size).toBe(fields.length);
      const kinds = actions.map(({ kind }) => kind);
      expect(kinds.includes('delete-lead') && kinds.includes('update-lead')).toBe(false);
      expect(kinds.includes('remove-row') && kinds.includes('update-row')).toBe(false);
    });
  });
});
