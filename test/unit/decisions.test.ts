import { readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { decisionsPage } from '../docs/decisions-page.ts';
import { underEveryPolicy } from '../docs/every-policy.ts';
import { joined, type Line } from '../docs/table.ts';

test('docs/decisions.md is what `npm run docs` writes now', async () => {
  expect(await readFile(new URL('../../docs/decisions.md', import.meta.url), 'utf8')).toBe(decisionsPage());
});

describe('the tables of docs/decisions.md', () => {
  test('name the setting that decides, each of its values once, and no other', () => {
    const answers = underEveryPolicy((direction, { onLeadDeleted }) =>
      direction === 'to-leads' ? 'nothing' : onLeadDeleted === 'keep' ? 'kept' : `${direction} loses it`,
    );
    expect(answers).toEqual([
      'by `onLeadDeleted`<br>`mark`, `remove`, `ask`: two-way loses it<br>`keep`: kept',
      'by `onLeadDeleted`<br>`mark`, `remove`, `ask`: to-target loses it<br>`keep`: kept',
      'nothing',
    ]);
  });

  test('do not hide that two settings decide together', () => {
    expect(() =>
      underEveryPolicy(
        (_, { onConflict, onFirstSync }) => `${onConflict === 'hold' && onFirstSync === 'hold'}`,
      ),
    ).toThrow('onConflict and onFirstSync');
  });

  test('join lines of the same answers, and lose none', () => {
    const line = (lead: string, row: string, answer: string): Line => ({
      situation: [[lead], [row]],
      answers: [answer],
    });
    const lines = [line('a', 'x', '1'), line('a', 'y', '1'), line('b', 'x', '1'), line('b', 'y', '2')];
    expect(joined(lines)).toEqual([
      { situation: [['a'], ['x', 'y']], answers: ['1'] },
      { situation: [['b'], ['x']], answers: ['1'] },
      { situation: [['b'], ['y']], answers: ['2'] },
    ]);
  });
});
