import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { cellOf, notStorable, storedText } from '../../src/targets/hubspot/company-table.ts';

const mapped = (type: string, as: 'text' | 'instant' = 'text', more = {}) => ({
  type: as,
  property: { name: 'x', type, ...more },
});
const zone = 'America/New_York';

test.each([
  ['datetime', '1795264000871', '2026-11-21T12:26:40.871Z'],
  ['datetime', '2026-11-21T12:26:40.871Z', '2026-11-21T12:26:40.871Z'],
  ['datetime', '0', '1970-01-01T00:00:00.000Z'],
  ['datetime', '9'.repeat(16), { unreadable: '9'.repeat(16) }],
  // A day travels as midnight UTC and is meant in the portal's zone.
  ['date', '2026-11-21', '2026-11-21T05:00:00.000Z'],
  ['date', '1795219200000', '2026-11-21T05:00:00.000Z'],
  ['date', '2026-11-21T00:00:00Z', '2026-11-21T05:00:00.000Z'],
  ['string', '2026-11-21 12:00', '2026-11-21T17:00:00.000Z'],
  ['string', '1795264000871', { unreadable: '1795264000871' }],
  ['string', '', null],
])('%s %s read as an instant', (type, text, cell) => {
  expect(cellOf(text, mapped(type, 'instant'), zone)).toEqual(cell);
});

test.each([undefined, null, ''])('%s is none', (text) => {
  expect(cellOf(text, mapped('string'), zone)).toBeNull();
});

test('options that live elsewhere are not known, so none is refused', () => {
  expect(notStorable('anybody', mapped('enumeration', 'text', { options: [] }), zone)).toBeNull();
  expect(notStorable('anybody', mapped('enumeration'), zone)).toBeNull();
});

test('no more than twenty options are listed', () => {
  const options = Array.from({ length: 25 }, (_, n) => ({ value: `option ${n}` }));
  const reason = notStorable('x', mapped('enumeration', 'text', { options }), zone);
  expect(reason).toMatch(/"option 19", and 5 more\./);
  expect(reason).not.toContain('option 20');
});

test('what can be stored is read back as the same', () => {
  const value = fc.oneof(
    fc.string(),
    fc.date({ noInvalidDate: true }).map((date) => date.toISOString()),
    fc.date({ noInvalidDate: true }).map((date) => date.toISOString().slice(0, 10)),
    fc.double().map(String),
    fc.constantFrom('true', 'false', 'won', '2026-03-08T05:00:00.000Z', '2026-07-01T04:00:00.000Z'),
  );
  const kind = fc.constantFrom('string', 'datetime', 'date', 'number', 'bool', 'enumeration');
  fc.assert(
    fc.property(value, kind, fc.constantFrom('text' as const, 'instant' as const), (text, type, as) => {
      const one = mapped(type, as, { options: [{ value: 'won' }] });
      const isInstant = as === 'text' || /^[+-]?\d+-.*Z$/.test(text);
      if (!isInstant || notStorable(text, one, zone) !== null) return;
      expect(cellOf(storedText(text, one, zone), one, zone)).toBe(text === '' ? null : text);
    }),
  );
});
