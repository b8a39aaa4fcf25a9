import { expect, test } from 'vitest';
import { describeLine, passed } from '../../src/cli/check-line.ts';

test('a line of check is broken between its clauses, and nowhere else', () => {
  expect(describeLine(passed('mail', 'it answers; nothing was sent'))).toBe(
    'ok    mail: it answers; nothing was sent',
  );
  const clause = (letter: string): string => `${letter.repeat(50)};`;
  const message = ['a', 'b', 'c', 'd'].map(clause).join(' ');
  expect(describeLine(passed('main: target', message), 110).split('\n')).toEqual([
    `ok    main: target: ${clause('a')}`,
    `          ${clause('b')} ${clause('c')}`,
    `          ${clause('d')}`,
  ]);
  const [one = ''] = describeLine(passed('place', '/a/path.without/spaces'.repeat(9)), 110).split('\n');
  expect(one).toHaveLength('ok    place: '.length + 9 * 22);
});
