import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { leadCells } from '../../src/core/lead/lead.ts';
import type { FieldMapping, Words } from '../../src/core/lead/mapping.ts';
import { leadWord, nearestWord, rowWord, writtenWord } from '../../src/core/lead/words.ts';
import { planNewRow } from '../../src/core/merge/plan-rows.ts';
import { planPair } from '../../src/core/merge/plan.ts';
import { lawRuns } from '../support/law-runs.ts';
import { afterPlan } from './after-plan.ts';
import { pair, policy } from './pair-state.ts';

const words: Words = [
  ['neu', 'new'],
  ['Angebot', 'proposal'],
  ['gewonnen', 'won'],
];
const stage: FieldMapping = { field: 'stage', column: 'Phase', type: 'text', direction: 'two-way', words };
const unmapped = (unreadable: string) => ({ unreadable, why: 'unmapped' as const });

describe('the words of a table and of the service', () => {
  test.each([
    ['Angebot', 'proposal'],
    [' ANGEBOT\n', 'proposal'],
    ['  ', null],
    [null, null],
    // What leadsync wrote before it was told the words.
    ['Proposal', 'proposal'],
    ['verloren', unmapped('verloren')],
  ])('the cell %j means %j', (cell, meant) => expect(rowWord(cell, words)).toEqual(meant));

  test('a word of the table goes before the same one of the service', () => {
    const swapped: Words = [
      ['open', 'new'],
      ['new', 'open'],
    ];
    expect(['open', 'new'].map((cell) => rowWord(cell, swapped))).toEqual(['new', 'open']);
  });

  test.each([
    ['proposal', 'proposal'],
    ['Proposal ', 'proposal'],
    ['lost', unmapped('lost')],
  ])('the service says %j: %j', (text, meant) => {
    expect(leadWord(text, words)).toEqual(meant);
    expect(leadCells({ id: 'x', fields: { stage: text } }, [stage])).toEqual({ stage: meant });
  });

  test('without words each side says the same, and what cannot be read stays so', () => {
    const formula = { unreadable: 'formula =A1', why: 'formula' as const };
    for (const cell of [' Angebot', null, formula]) {
      expect(rowWord(cell, undefined)).toBe(cell);
      expect(leadWord(cell, undefined)).toBe(cell);
    }
    expect(rowWord(formula, words)).toBe(formula);
    expect(writtenWord('new', undefined)).toBe('new');
  });

  test('a value is written as configured; where the table has no word, nothing is', () => {
    expect(writtenWord('proposal', words)).toBe('Angebot');
    expect(writtenWord(null, words)).toBeNull();
    expect(writtenWord('lost', words)).toBeUndefined();
  });

  test('the nearest word is named with its partner, where one is near', () => {
    expect(nearestWord('Angebto', words, 'row')).toBe(' (nearest: "Angebot", which is "proposal")');
    expect(nearestWord('proposed', words, 'lead')).toBe(' (nearest: "proposal", which is "Angebot")');
    expect(nearestWord('verloren', words, 'row')).toBe('');
  });

  test('law: a map of one to one gives back what it was given, both ways', () => {
    const word = fc.string({ unit: 'grapheme', minLength: 1 }).filter((text) => rowWord(text, []) !== null);
    const key = (text: string): string =>
      text.normalize('NFKC').toUpperCase().toLowerCase().replaceAll(/\W/gu, '');
    const distinct = fc.uniqueArray(
      word.filter((text) => key(text) !== ''),
      { selector: key, minLength: 1 },
    );
    fc.assert(
      fc.property(distinct, distinct, (rows, leads) => {
        const pairs = rows.slice(0, leads.length).map((row, at) => [row, leads[at] ?? ''] as const);
        for (const [row, lead] of pairs) {
          expect(rowWord(writtenWord(lead, pairs) ?? null, pairs)).toBe(lead);
          expect(writtenWord(lead, pairs)).toBe(row);
          expect(leadWord(lead, pairs)).toBe(lead);
        }
      }),
      { numRuns: lawRuns(1000) },
    );
  });

  test('of several words for one value the first is written', () => {
    const several: Words = [['Erstkontakt', 'new'], ...words];
    expect([rowWord('neu', several), writtenWord('new', several)]).toEqual(['new', 'Erstkontakt']);
  });
});

describe('decisions on words without a partner', () => {
  const fields = (direction: FieldMapping['direction'] = 'two-way'): readonly FieldMapping[] => [
    { field: 'companyName', column: 'Company', type: 'text', direction: 'two-way' },
    { ...stage, direction },
  ];
  const choices = policy({ fields: fields() });
  const held = (side: 'row' | 'lead', base: string | null) =>
    planPair(
      pair({
        base: { companyName: 'Acme', stage: base },
        lead: { companyName: 'Acme', stage: side === 'lead' ? unmapped('proposed') : base },
        row: { row: 2, cells: { companyName: 'Acme', stage: side === 'row' ? unmapped('Angebto') : base } },
      }),
      choices,
    );

  test('of a known pair the field is held on either side, and the message says what helps', () => {
    expect(held('row', 'new')).toMatchObject([
      {
        kind: 'hold',
        reason: 'row.unmapped',
        message:
          'Phase: "Angebto" stands for no value of the service (nearest: "Angebot", which is "proposal"). Correct the cell, or add the word to values of stage in leadsync.yaml; the lead keeps "new"',
      },
    ]);
    expect(held('lead', 'new')).toMatchObject([
      {
        kind: 'hold',
        reason: 'lead.unmapped',
        message:
          'Phase: the service has "proposed", for which the table has no word (nearest: "proposal", which is "Angebot"). Correct the lead, or add the word to values of stage in leadsync.yaml. The row keeps "new"',
      },
    ]);
  });

  test('a new lead gets its row without the word; a new row waits, unless the field does not travel', () => {
    const lead = { companyName: 'Acme', stage: unmapped('lost') };
    expect(planPair(pair({ lead }), choices)).toMatchObject([
      { kind: 'create-row', changes: { companyName: { to: 'Acme' } } },
      { kind: 'hold', reason: 'lead.unmapped' },
    ]);
    const cells = { companyName: 'Acme', stage: unmapped('verloren') };
    expect(planNewRow(5, cells, null, choices)).toMatchObject([
      {
        kind: 'hold',
        reason: 'row.unmapped',
        message:
          'row 5 ("Acme") is new, but its Phase "verloren" stands for no value of the service. Correct the cell, or add the word to values of stage in leadsync.yaml. No lead was created',
      },
    ]);
    expect(
      planNewRow(5, cells, null, policy({ fields: fields('to-target') })).map(({ kind }) => kind),
    ).toEqual(['hold', 'create-lead']);
  });

  test('a field that only travels to the service overwrites what the table has no word for', () => {
    const state = pair({
      base: { companyName: 'Acme', stage: 'new' },
      lead: { companyName: 'Acme', stage: unmapped('lost') },
      row: { row: 2, cells: { companyName: 'Acme', stage: 'new' } },
    });
    expect(planPair(state, policy({ fields: fields('to-leads') }))).toMatchObject([
      { kind: 'update-lead', changes: { stage: { to: 'new', rule: 'one-way' } } },
    ]);
  });

  test('law: whatever both sides say, what is carried out leaves nothing to do but what is held', () => {
    const said = fc.constantFrom('neu', ' NEU', 'Angebot', 'verloren', '', 'gewonnen');
    const stored = fc.constantFrom('new', 'New', 'proposal', 'lost', '', 'won');
    const known = fc.constantFrom('new', 'proposal', 'won', 'lost', null);
    fc.assert(
      fc.property(said, stored, fc.option(known), (cell, value, base) => {
        const state = pair({
          base: base === null ? null : { companyName: 'Acme', stage: base },
          lead: { companyName: 'Acme', stage: leadWord(value || null, words) },
          row: { row: 2, cells: { companyName: 'Acme', stage: rowWord(cell || null, words) } },
        });
        const after = afterPlan(state, planPair(state, choices)).state;
        const again = planPair(after, choices);
        expect(again.filter(({ kind }) => kind !== 'hold')).toEqual([]);
        for (const one of [state, after])
          for (const action of planPair(one, choices))
            if (action.kind === 'update-row')
              expect(writtenWord(action.changes['stage']?.to as string | null, words)).toBeDefined();
      }),
      { numRuns: lawRuns(2000) },
    );
  });
});
