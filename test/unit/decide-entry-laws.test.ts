import fc from 'fast-check';
import { expect, test } from 'vitest';
import { CalendarWorld, type Move } from './calendar-world.ts';

const who = fc.nat(1);
const moves = fc.array(
  fc.oneof<fc.Arbitrary<Move>[]>(
    fc.record({ kind: fc.constantFrom('move', 'move', 'delete', 'complete', 'restore'), who }),
    fc.record({
      kind: fc.constantFrom('serve', 'clear', 'carry-out', 'carry-out', 'sync', 'sync', 'resolve'),
    }),
    fc.record({ kind: fc.constant('pass'), who, cut: fc.boolean(), meanwhile: fc.boolean() }),
  ),
  { maxLength: 30 },
);
const world = fc.tuple(fc.boolean(), moves);

test('no date that a person chose in a calendar is lost: the service gets it, or it is a conflict', () => {
  fc.assert(
    fc.property(world, ([keepsMarks, played]) => {
      const one = new CalendarWorld(keepsMarks);
      for (const move of played) one.play(move);
      const chosen = one.people.flatMap((person) => person.chosen ?? []);
      one.rest();
      const requested = one.edits.map(({ to }) => to);
      for (const date of chosen) expect(requested).toContain(date);
    }),
    { numRuns: 2_000 },
  );
});

test('when nobody edits any more, the calendars show the agreed date, and no pass writes again', () => {
  fc.assert(
    fc.property(world, ([keepsMarks, played]) => {
      const one = new CalendarWorld(keepsMarks);
      for (const move of played) one.play(move);
      one.rest();
      expect(one.agreed).toBe(one.service);
      for (const { entry, known } of one.people) {
        if (one.agreed === null) expect(entry === null || entry.isDone).toBe(true);
        else if (known?.ended === 'deleted') expect(entry).toBe(null);
        else if (known?.ended === 'completed') expect(entry?.isDone).toBe(true);
        else expect(entry?.at).toBe(one.agreed);
      }
      const { writes, edits } = one;
      const before = [writes, edits.length];
      one.rest();
      expect([one.writes, one.edits.length]).toEqual(before);
    }),
    { numRuns: 2_000 },
  );
});

test('an entry is never written over a date that the person chose after it was read', () => {
  const one = new CalendarWorld(true);
  one.play({ kind: 'pass', who: 0, cut: false, meanwhile: false });
  one.play({ kind: 'serve' });
  one.play({ kind: 'sync' });
  one.play({ kind: 'pass', who: 0, cut: false, meanwhile: true });
  expect(one.people[0]?.entry?.at).toBe(one.people[0]?.chosen);
});
