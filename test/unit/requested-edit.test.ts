import { expect, test } from 'vitest';
import { isWholeCalendar, judgeEdit } from '../../src/core/merge/requested-edit.ts';

const [from, to, other] = [
  '2031-03-03T08:00:00.000Z',
  '2031-03-04T08:00:00.000Z',
  '2031-03-05T08:00:00.000Z',
];

test.each([
  [from, false, 'patch'],
  [to, false, 'unchanged'],
  [other, false, 'conflict'],
  [null, false, 'conflict'],
  [{ unreadable: 'soon' }, false, 'conflict'],
  [from, true, 'patch'],
  [to, true, 'applied'],
  // As a service may store it.
  ['2031-03-04T08:00:00.500Z', true, 'applied'],
  [other, true, 'conflict'],
] as const)('a lead that shows %j, tried before: %s: %s', (shown, wasTried, verdict) => {
  expect(judgeEdit({ from, to }, shown, wasTried)).toBe(verdict);
});

test.each([
  [10, 10, false],
  [11, 54, true],
  [11, 55, false],
  [50, 0, true],
])('%i edits of %i follow-ups look like a whole calendar: %s', (edits, followUps, isWhole) => {
  expect(isWholeCalendar({ requestedBy: 'anna@example.com', edits, followUps })).toBe(isWhole);
});
