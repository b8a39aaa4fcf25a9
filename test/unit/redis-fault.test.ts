import { expect, test } from 'vitest';
import { isOfConnection } from '../../src/queue/redis-fault.ts';

test.each([
  ['a refused connection', Object.assign(new Error('connect'), { code: 'ECONNREFUSED' }), true],
  ['a server that says nothing, as ioredis tells it', new Error('Socket timeout.'), true],
  ['a reply of the server', Object.assign(new Error('NOPERM no'), { name: 'ReplyError' }), false],
  ["an answer of BullMQ's", Object.assign(new Error('no lock'), { code: -2 }), false],
  ['a mistake of ours', new TypeError('undefined is not a function'), false],
  ['no error', 'away', false],
])('%s: whether it is of the connection to Redis', (_, error, expected) => {
  expect(isOfConnection(error)).toBe(expected);
});
