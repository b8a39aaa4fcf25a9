import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  findCreatedLead,
  findLead,
  findUpdatedLead,
  idFromLocation,
  readPage,
} from '../../src/leads-api/read-reply.ts';

// The shapes one by one are in test/integration/leads-api/leads-api.test.ts; these are the laws.

const fieldName = fc
  .string()
  .filter((name) => name !== 'id' && name !== '__proto__' && name !== 'nextCursor');
const fields = fc.dictionary(fieldName, fc.jsonValue({ maxDepth: 2 }), { noNullPrototype: true });
const id = fc.string({ minLength: 1 });

test('fields pass through a page untouched, whatever they are', () => {
  fc.assert(
    fc.property(
      fc.array(fc.record({ id, fields })),
      fc.option(fc.string({ minLength: 1 })),
      (leads, nextCursor) => {
        const items = leads.map((lead) => ({ ...lead.fields, id: lead.id }));
        const json: unknown = JSON.parse(JSON.stringify({ items, nextCursor }));
        expect(readPage(json)).toEqual({
          leads: JSON.parse(JSON.stringify(leads)),
          nextCursor,
          invalidItems: 0,
        });
      },
    ),
  );
});

test('no JSON makes a reader throw, and an id that is found is a text', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fields, (json, written) => {
      for (const found of [
        findLead(json, 'a'),
        findUpdatedLead(json, 'a', written),
        findCreatedLead(json, written),
      ]) {
        expect(found === null || found.id !== '').toBe(true);
      }
      const page = readPage(json);
      expect(page === null || page.invalidItems >= 0).toBe(true);
    }),
  );
});

test('a Location made from an id gives it back', () => {
  const usable = fc.string({ minLength: 1, unit: 'grapheme' }).filter((text) => text !== 'leads');
  fc.assert(
    fc.property(usable, fc.constantFrom('', '/', '?x=/y', '#a/b'), (text, tail) => {
      expect(idFromLocation(`https://x.example/p/v1/leads/${encodeURIComponent(text)}${tail}`)).toBe(text);
    }),
  );
  expect(idFromLocation(undefined)).toBeNull();
  expect(idFromLocation('')).toBeNull();
});
