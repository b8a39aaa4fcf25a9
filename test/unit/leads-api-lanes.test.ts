import { describe, expect, test } from 'vitest';
import { type Lane, Lanes } from '../../src/leads-api/lanes.ts';

const never = new AbortController().signal;

/** Lets what may go on go on. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await Promise.resolve();
}

/** What has its turn of what came, by number. */
function line(lanes: Lanes) {
  const places: { readonly lane: Lane; hasTurn: boolean }[] = [];
  return {
    join: (signal = never): Promise<void> => {
      const place = { lane: lanes.join(), hasTurn: false };
      places.push(place);
      return place.lane.turn(signal).then(() => void (place.hasTurn = true));
    },
    leave: (number: number) => places[number]?.lane[Symbol.dispose](),
    place: (number: number) => places[number]?.lane,
    withTurn: () => places.flatMap(({ hasTurn }, number) => (hasTurn ? [number] : [])),
  };
}

/** `-` a reply of a service that is not known to limit us, `x` a limit. */
function play(signs: string): number {
  const lanes = new Lanes();
  for (const sign of signs) {
    if (sign === 'x') lanes.limit();
    else lanes.replied();
  }
  return lanes.open;
}

describe('one more lane opens after four replies for each that is open, at most four; a limit leaves one', () => {
  test.each([
    ['', 1],
    ['---', 1],
    ['----', 2],
    ['-----------', 2],
    ['------------', 3],
    ['-----------------------', 3],
    ['------------------------', 4],
    ['-'.repeat(1000), 4],
    ['x', 1],
    ['---x---', 1],
    ['---x----', 2],
    [`${'-'.repeat(24)}x`, 1],
    [`${'-'.repeat(24)}xxx----`, 2],
  ])('%s: %i', (signs, open) => expect(play(signs)).toBe(open));
});

test('turns come in order, as many as there are lanes; who gives up leaves the line', async () => {
  const lanes = new Lanes();
  const waiting = line(lanes);
  const stop = new AbortController();
  void waiting.join();
  const givenUp = waiting.join(stop.signal);
  void waiting.join();
  void waiting.join();
  await settle();
  expect(waiting.withTurn()).toEqual([0]);
  stop.abort('given up');
  await expect(givenUp).rejects.toBe('given up');
  waiting.leave(1);
  await settle();
  expect(waiting.withTurn()).toEqual([0]);
  for (let reply = 0; reply < 4; reply++) lanes.replied();
  await settle();
  expect(waiting.withTurn()).toEqual([0, 2]);
  waiting.leave(2);
  await settle();
  expect(waiting.withTurn()).toEqual([0, 2, 3]);
});

test('after a limit those under way go on, and the next one waits for all of them; so does one of them that looks again', async () => {
  const lanes = new Lanes();
  for (let reply = 0; reply < 24; reply++) lanes.replied();
  const waiting = line(lanes);
  for (let number = 0; number < 6; number++) void waiting.join();
  await settle();
  expect(waiting.withTurn()).toEqual([0, 1, 2, 3]);
  lanes.limit();
  let mayGoOn = false;
  void waiting
    .place(3)
    ?.turn(never)
    .then(() => (mayGoOn = true));
  for (const number of [0, 1]) waiting.leave(number);
  await settle();
  expect([waiting.withTurn(), mayGoOn]).toEqual([[0, 1, 2, 3], false]);
  waiting.leave(2);
  await settle();
  expect([waiting.withTurn(), mayGoOn]).toEqual([[0, 1, 2, 3], true]);
  waiting.leave(3);
  await settle();
  expect(waiting.withTurn()).toEqual([0, 1, 2, 3, 4]);
});
