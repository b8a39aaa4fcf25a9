import { expect, test } from 'vitest';
import { LeadOrder } from '../../src/demo/lead-table.ts';

const show = (places: LeadOrder) => Array.from({ length: places.length }, (_, place) => places.at(place));

test('a removed lead leaves its place empty, wherever it was moved to', () => {
  const places = new LeadOrder();
  for (const id of ['a', 'b', 'c', 'd']) places.add(id);
  places.swap(0, 2);
  expect(show(places)).toEqual(['c', 'b', 'a', 'd']);
  places.remove('a');
  places.remove('c');
  places.remove('unknown');
  expect(show(places)).toEqual([undefined, 'b', undefined, 'd']);
  places.swap(0, 3);
  places.remove('d');
  places.add('a');
  expect(show(places)).toEqual([undefined, 'b', undefined, undefined, 'a']);
});
