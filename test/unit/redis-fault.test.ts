import { expect, test } from 'vitest';
import { parseRedisAddress } from '../../src/config/redis-address.ts';
import { refusal } from '../../src/queue/redis-fault.ts';

const address = parseRedisAddress('redis://127.0.0.1');

test.each([
  ['a refused connection', Object.assign(new Error('connect'), { code: 'ECONNREFUSED' }), true],
  ['a server that says nothing, as ioredis tells it', new Error('Socket timeout.'), true],
  ['a reply of the server', Object.assign(new Error('NOPERM no'), { name: 'ReplyError' }), false],
  [
    'a server that is full',
    Object.assign(new Error('OOM command not allowed'), { name: 'ReplyError' }),
    true,
  ],
  ["an answer of BullMQ's", Object.assign(new Error('no lock'), { code: -2 }), false],
  ['a mistake of ours', new TypeError('undefined is not a function'), false],
  ['no error', 'away', false],
])('%s: whether it is an outage of Redis', (_, error, expected) => {
  expect(refusal(error, address) !== null).toBe(expected);
});
