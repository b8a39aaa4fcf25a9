import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { sameCell, type Values } from '../../src/core/lead/value.ts';
import { coveredBy, fingerprint, type PlannedAction } from '../../src/core/merge/action.ts';
import { planPair } from '../../src/core/merge/plan.ts';
import { lawRuns } from '../support/law-runs.ts';
import { anyPolicy, anyState } from './any-pair.ts';
import { law } from './laws.ts';

const update: PlannedAction = {
  kind: 'update-lead',
  leadId: 'lead-1',
  row: 7,
  contentHash: '',
  changes: {
    stage: { from: 'new', to: 'won', base: 'new', rule: 'row-edited' },
    city: { from: 'Ulm', to: null, base: 'Ulm', rule: 'row-edited' },
  },
  expect: { stage: 'new', city: 'Ulm' },
  reason: 'row-edited',
};
const created: PlannedAction = {
  kind: 'create-lead',
  leadId: null,
  row: 7,
  contentHash: 'key',
  changes: { stage: { from: null, to: 'new', rule: 'row-edited' } },
  expect: { stage: 'new', city: null },
  reason: 'new-row',
};
const line = (action: PlannedAction) => ({ ...action, fingerprint: fingerprint(action) });
const only = ({ changes, expect: seen, ...rest }: PlannedAction, field: string): PlannedAction => ({
  ...rest,
  changes: { [field]: changes[field] ?? { from: null, to: null } },
  expect: { [field]: seen[field] ?? null },
});

describe('the fingerprint of an action', () => {
  test('of an update is a short text for each field, in the order of their names', () => {
    expect(fingerprint(update)).toMatch(/^city:[\w-]{16} stage:[\w-]{16}$/);
    const turned = { ...update, changes: Object.fromEntries(Object.entries(update.changes).toReversed()) };
    expect(fingerprint(turned)).toBe(fingerprint(update));
  });

  test('of a field whose name has blanks is one field: an edit of another one does not make it stale', () => {
    const { stage = { from: null, to: null }, city = { from: null, to: null } } = update.changes;
    const whole = { ...update, changes: { 'pipeline stage': stage, city } };
    const reviewed = line({ ...whole, changes: { 'pipeline stage': stage } });
    expect(coveredBy(whole, reviewed)?.covered.changes).toEqual({ 'pipeline stage': stage });
  });

  test('of anything else is one short text', () => {
    expect(fingerprint(created)).toMatch(/^[\w-]{27}$/);
    const more = { ...created, changes: { ...created.changes, city: { from: null, to: 'Ulm' } } };
    const turn = (values: object) => Object.fromEntries(Object.entries(values).toReversed());
    const turned = { ...more, changes: turn(more.changes), expect: turn(more.expect) };
    expect(fingerprint(turned as PlannedAction)).toBe(fingerprint(more));
  });

  test.each<[string, PlannedAction]>([
    ['where the row stands', { ...update, row: 99 }],
    ['why it is done', { ...update, reason: 'resolved' }],
    [
      'another form of a value',
      { ...update, changes: { ...update.changes, city: { from: 'Ulm', to: '', base: 'Ulm' } } },
    ],
  ])('does not depend on %s', (_, other) => {
    expect(fingerprint(other)).toBe(fingerprint(update));
  });

  test.each<[string, Values & { readonly base?: string | null }]>([
    ['what is written over', { from: 'lost', to: 'won', base: 'new' }],
    ['what is written', { from: 'new', to: 'lost', base: 'new' }],
    ['what was agreed on', { from: 'new', to: 'won', base: 'old' }],
    ['nothing that was agreed on', { from: 'new', to: 'won', base: null }],
    ['never having agreed', { from: 'new', to: 'won' }],
  ])('is another one for %s', (_, stage) => {
    const { from = null, to = null, ...base } = stage;
    const other = { ...update, changes: { ...update.changes, stage: { from, to, ...base } } };
    expect(fingerprint(other)).not.toBe(fingerprint(update));
    expect(coveredBy(other, line(update))).toBeNull();
  });

  test('tells never having agreed from having agreed on that very word', () => {
    const [never, word] = [{}, { base: 'never' }].map((base) =>
      fingerprint({ ...update, changes: { stage: { from: 'new', to: 'won', ...base } } }),
    );
    expect(never).not.toBe(word);
  });

  test.each<[string, Partial<PlannedAction>]>([
    ['another kind', { kind: 'link' }],
    ['another lead', { leadId: 'lead-2' }],
    ['another row', { contentHash: 'other' }],
    ['another value', { changes: { stage: { from: null, to: 'won', rule: 'row-edited' } } }],
    ['another field', { changes: { city: { from: null, to: 'new', rule: 'row-edited' } } }],
    ['another cell that was seen', { expect: { stage: 'new', city: 'Ulm' } }],
    ['another column that was seen', { expect: { stage: 'new', town: null } }],
  ])('of a create is another one for %s', (_, difference) => {
    const other = { ...created, ...difference };
    expect(fingerprint(other)).not.toBe(fingerprint(created));
    expect(coveredBy(other, line(created))).toBeNull();
  });
});

describe('what a reviewed line covers of an action', () => {
  test('all of it when nothing changed', () => {
    for (const action of [update, created]) {
      expect(coveredBy(action, line(action))).toEqual({ covered: action, rest: null });
    }
  });

  test.each(['update-lead', 'update-row'] as const)(
    'the fields of an %s that were reviewed, when others were edited since',
    (kind) => {
      const now = { ...update, kind };
      expect(coveredBy(now, line(only(now, 'stage')))).toEqual({
        covered: only(now, 'stage'),
        rest: only(now, 'city'),
      });
    },
  );

  test.each<[string, PlannedAction, PlannedAction]>([
    ['a field that was reviewed is not to be written any more', only(update, 'stage'), update],
    ['another field is to be written', only(update, 'stage'), only(update, 'city')],
    ['it is another lead', update, { ...update, leadId: 'lead-2' }],
    ['it is the other side', update, { ...update, kind: 'update-row' }],
  ])('nothing when %s', (_, now, reviewed) => {
    expect(coveredBy(now, line(reviewed))).toBeNull();
  });

  test('nothing of what is no update, though a field of it is as it was', () => {
    const more = { ...created, changes: { ...created.changes, city: { from: null, to: 'Ulm' } } };
    expect(coveredBy(more, line(created))).toBeNull();
    expect(coveredBy(created, line(more))).toBeNull();
  });
});

describe('law: exactly the reviewed lines', () => {
  test('every action of a plan is covered by the line made of it, and by no other of the plan', () => {
    law((state, choices) => {
      const actions = planPair(state, choices);
      for (const action of actions) {
        expect(coveredBy(action, line(action))).toEqual({ covered: action, rest: null });
        const others = actions.filter((other) => other !== action && coveredBy(action, line(other)) !== null);
        expect(others).toEqual([]);
      }
    });
  });

  test('what is carried out is what was reviewed, whatever the plan says now', () => {
    fc.assert(
      fc.property(anyState, anyState, anyPolicy, (before, now, choices) => {
        for (const reviewed of planPair(before, choices)) {
          for (const action of planPair(now, choices)) {
            const part = coveredBy(action, line(reviewed));
            if (part === null) continue;
            expect(Object.keys(part.covered.changes).toSorted()).toEqual(
              Object.keys(reviewed.changes).toSorted(),
            );
            for (const [field, { from, to }] of Object.entries(part.covered.changes)) {
              expect(sameCell(from, reviewed.changes[field]?.from ?? null)).toBe(true);
              expect(sameCell(to, reviewed.changes[field]?.to ?? null)).toBe(true);
            }
          }
        }
      }),
      { numRuns: lawRuns(2000) },
    );
  });
});
