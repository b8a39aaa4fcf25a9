import { expect, test } from 'vitest';
import type { Unreadable } from '../../src/core/lead/value.ts';
import {
  deleteQuestions,
  holdMessage,
  isDeleteQuestion,
  unreadableAdvice,
} from '../../src/core/merge/holds.ts';
import type { HoldCode } from '../../src/core/merge/merge-field.ts';

const mapping = {
  field: 'stage',
  column: 'Phase',
  type: 'text',
  words: [
    ['Gewonnen', 'won'],
    ['Verloren', 'lost'],
  ],
} as const;

const codes: Readonly<Record<HoldCode, true>> = {
  'conflict.both-edited': true,
  'conflict.first-sight': true,
  'row.unreadable': true,
  'lead.unreadable': true,
  'row.unmapped': true,
  'lead.unmapped': true,
  'row.company-name-empty': true,
  'row.garbled': true,
  'lead.field-refused': true,
  'row.put-back': true,
  'lead.put-back': true,
};

test('each reason to hold a field has its own sentence, which names the column and shows both sides', () => {
  const sentences = (Object.keys(codes) as HoldCode[]).map((code) => {
    const row = code === 'row.company-name-empty' ? null : 'from the row';
    const sentence = holdMessage(code, mapping, 'from the lead', row);
    expect(sentence).toContain('Phase');
    expect(sentence).toContain('"from the lead"');
    if (row !== null) expect(sentence).toContain('"from the row"');
    return sentence;
  });
  expect(new Set(sentences).size).toBe(sentences.length);
});

const whys: Readonly<Record<NonNullable<Unreadable['why']> | 'unknown', true>> = {
  formula: true,
  error: true,
  merged: true,
  shifted: true,
  skipped: true,
  large: true,
  unmapped: true,
  unknown: true,
};

test('each reason why a cell cannot be read has its own advice, which shows the cell', () => {
  const all = Object.keys(whys).map((why) => {
    const cell = {
      unreadable: 'so',
      ...(why !== 'unknown' && { why: why as NonNullable<Unreadable['why']> }),
    };
    const advice = unreadableAdvice(cell, mapping);
    expect(advice).toContain('"so"');
    return advice;
  });
  expect(new Set(all).size).toBe(all.length);
});

test('of a word without a partner it says the nearest one, and what to correct', () => {
  const advice = unreadableAdvice({ unreadable: 'Gewonen', why: 'unmapped' }, mapping);
  expect(advice).toContain(
    '(nearest: "Gewonnen", which is "won"). Correct the cell, or add the word to values of stage',
  );
  const sentence = holdMessage('lead.unmapped', mapping, { unreadable: 'lots', why: 'unmapped' }, null);
  expect(sentence).toContain(
    '(nearest: "lost", which is "Verloren"). Correct the lead, or add the word to values of stage',
  );
  const { words: _, ...without } = mapping;
  expect(unreadableAdvice({ unreadable: 'Gewonen', why: 'unmapped' }, without)).toContain(
    'of the service. Correct',
  );
});

test('of what is held the two deletes ask a person what was meant', () => {
  expect([...Object.values(deleteQuestions), 'row.put-back'].map(isDeleteQuestion)).toEqual([
    true,
    true,
    false,
  ]);
});
