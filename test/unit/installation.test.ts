import { expect, test } from 'vitest';
import { isSameInstallation } from '../../src/store/keeper.ts';

const one = {
  machine: 'a',
  jobs: null,
  connections: ['leads'],
  traits: ['key', 'place'],
  services: ['service'],
};

test.each([
  ['another machine', { machine: 'b' }, true],
  ['another key', { traits: ['key-2', 'place'] }, true],
  ['another place', { traits: ['key', 'place-2'] }, true],
  ['one more connection', { traits: ['key', 'place', 'key-2'] }, true],
  ['nothing in common', { traits: ['key-2', 'place-2'] }, false],
  ['its jobs elsewhere', { jobs: 'Redis' }, false],
])('%s', (_name, changes, isSame) => {
  expect(isSameInstallation(one, { ...one, ...changes }, false)).toBe(isSame);
  expect(isSameInstallation({ ...one, ...changes }, one, false)).toBe(isSame);
});

test('one Redis under two names is one place', () => {
  expect(isSameInstallation({ ...one, jobs: 'redis.local' }, { ...one, jobs: '10.0.0.1' }, true)).toBe(true);
});
