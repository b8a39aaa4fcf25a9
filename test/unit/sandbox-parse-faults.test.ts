import { describe, expect, test } from 'vitest';
import { LeadsyncError } from '../../src/lib/errors.ts';
import { parseFaults } from '../../src/demo/faults.ts';

describe('parseFaults', () => {
  test.each([
    ['503', [{ kind: 'status', status: 503, when: { every: 1 }, on: [] }]],
    [
      '429:every=5,retryAfter=2',
      [{ kind: 'status', status: 429, retryAfter: { seconds: 2 }, when: { every: 5 }, on: [] }],
    ],
    ['429', [{ kind: 'status', status: 429, retryAfter: { seconds: 1 }, when: { every: 1 }, on: [] }]],
    [
      '429:retryAfter=date+3',
      [{ kind: 'status', status: 429, retryAfter: { dateInSeconds: 3 }, when: { every: 1 }, on: [] }],
    ],
    [
      '429:retryAfter=none',
      [{ kind: 'status', status: 429, retryAfter: 'none', when: { every: 1 }, on: [] }],
    ],
    ['503:rate=0.1', [{ kind: 'status', status: 503, when: { rate: 0.1 }, on: [] }]],
    ['slow:ms=50,once=3', [{ kind: 'slow', ms: 50, when: { once: 3 }, on: [] }]],
    ['slow', [{ kind: 'slow', ms: 3000, when: { every: 1 }, on: [] }]],
    ['revoked:after=20', [{ kind: 'revoked', when: { after: 20 }, on: [] }]],
    ['lost-reply:on=POST+update', [{ kind: 'lost-reply', when: { every: 1 }, on: ['POST', 'update'] }]],
    [
      ' reset : every=9 ; huge:every=6;',
      [
        { kind: 'reset', when: { every: 9 }, on: [] },
        { kind: 'huge', when: { every: 6 }, on: [] },
      ],
    ],
    ['', []],
  ])('%j', (spec, faults) => {
    expect(parseFaults(spec)).toEqual(faults);
  });

  test.each([
    ['explode', 'no fault "explode"'],
    ['200', 'no fault "200"'],
    ['500:every=0', 'every cannot be "0"'],
    ['500:every=two', 'every cannot be "two"'],
    ['500:every=2,once=3', 'only one of'],
    ['500:every=2,every=3', 'twice'],
    ['500:rate=2', 'rate cannot be "2"'],
    ['500:retryAfter=1', 'no setting "retryAfter"'],
    ['429:retryAfter=tomorrow', 'retryAfter cannot be "tomorrow"'],
    ['reset:ms=3', 'no setting "ms"'],
    ['slow:ms=-1', 'ms cannot be "-1"'],
    ['reset:on=PUT', 'on cannot be "PUT"'],
    ['reset:every', 'not NAME=VALUE'],
  ])('%j is refused, and what is allowed is listed', (spec, why) => {
    let thrown: unknown;
    try {
      parseFaults(`503;${spec}`);
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toBeInstanceOf(LeadsyncError);
    expect(thrown).toMatchObject({ code: 'sandbox.faults-invalid' });
    expect(String(thrown)).toContain(why);
    expect(String(thrown)).toContain('expired-cursor');
  });
});
