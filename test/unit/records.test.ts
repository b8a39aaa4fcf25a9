import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Records } from '../../src/core/merge/records.ts';
import { lawRuns } from '../support/law-runs.ts';

function add(records: Records, id: string, text: string): number {
  const bytes = Buffer.from(`..${id}${text}`);
  const idEnd = 2 + Buffer.byteLength(id);
  return records.add(bytes, 2, idEnd, idEnd, bytes.length);
}

describe('records', () => {
  const text = fc.oneof(fc.string({ unit: 'grapheme' }), fc.constantFrom('', '{"a":1}', 'ä', '漢字🙂'));

  test('are found by their ids, with their texts, as in a map', () => {
    fc.assert(
      fc.property(fc.dictionary(text, text, { maxKeys: 60 }), fc.array(text), (wanted, others) => {
        const records = new Records();
        const entries = Object.entries(wanted);
        entries.forEach(([id, one], nth) => expect(add(records, id, one)).toBe(nth));
        expect(records.size).toBe(entries.length);
        for (const [nth, [id, one]] of entries.entries()) {
          expect([records.find(id), records.id(nth), records.text(nth)]).toEqual([nth, id, one]);
          expect(records.hasText(nth, one)).toBe(true);
          for (const other of others) expect(records.hasText(nth, other)).toBe(other === one);
        }
        for (const other of others) if (!Object.hasOwn(wanted, other)) expect(records.find(other)).toBe(-1);
      }),
      { numRuns: lawRuns(200) },
    );
  });

  test('many of them, and one that is larger than a chunk, stay where they are', () => {
    const records = new Records();
    const large = 'x'.repeat(20_000_000);
    for (let nth = 0; nth < 30_000; nth++) add(records, `lead-${nth}`, `text ${nth}`);
    add(records, 'large', large);
    add(records, 'last', 'short');
    expect(records.size).toBe(30_002);
    for (let nth = 0; nth < 30_000; nth++) expect(records.find(`lead-${nth}`)).toBe(nth);
    expect([records.text(12_345), records.hasText(30_000, large), records.text(30_001)]).toEqual([
      'text 12345',
      true,
      'short',
    ]);
  });

  test('ask for bytes before they take them', () => {
    const asked: number[] = [];
    const records = new Records((bytes) => {
      if (asked.push(bytes) > 3) throw new RangeError('no more');
    });
    expect(() => {
      for (let nth = 0; nth < 1_000_000; nth++) add(records, `lead-${nth}`, `text ${nth}`);
    }).toThrow(RangeError);
    expect(records.text(records.size - 1)).toBe(`text ${records.size - 1}`);
    expect(asked.reduce((sum, one) => sum + one, 0)).toBeGreaterThan(records.size * 20);
  });
});
