import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Redactor } from '../../src/lib/redact.ts';
import { secretForms } from '../support/secret-forms.ts';

const secret = 'sk/live+7f3a&9c"0b==';

describe('a secret is removed', () => {
  test.each(Object.entries(secretForms))('%s', (_form, written) => {
    const clean = new Redactor([secret]).text(`said ${written(secret)}, and more`);
    expect(clean).toMatch(/^said .*\[secret\].*, and more$/);
    expect(clean).not.toContain(written(secret).slice(3, -6));
  });

  test('from whatever texts stand around it, in one or more forms, and the rest stays', () => {
    const around = fc.stringMatching(/^[ .,:ÄÖÜ€\u{1f600}]{0,8}$/u);
    const form = fc.constantFrom(...Object.values(secretForms).slice(0, 13));
    const key = fc.stringMatching(/^[!-~]{12,40}$/).filter((text) => !/\\|%[\da-f]{2}|&/i.test(text));
    fc.assert(
      fc.property(key, around, form, around, form, around, (own, a, one, b, other, c) => {
        const clean = new Redactor([own]).text([a, one(own), ` ${b} `, other(own), c].join(''));
        expect(clean).toBe([a, '[secret]', ` ${b} `, '[secret]', c].join(''));
      }),
    );
  });
});

test('JSON stays JSON when its escapes hold a secret', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.stringMatching(/^[!-~]{8,20}$/), (value, own) => {
      const text = JSON.stringify({ value, [own]: [`"${own}\\`, own] }).replaceAll('/', '\\/');
      const clean = JSON.parse(new Redactor([own]).text(text)) as object;
      expect(JSON.stringify(clean)).not.toContain(JSON.stringify(own).slice(1, -1));
      expect(Object.keys(clean)).toHaveLength(2);
    }),
    { numRuns: 300 },
  );
});

test('from parsed JSON, also in lists of 200,000 levels', () => {
  const deep = '['.repeat(200_000);
  const value: unknown = JSON.parse(
    `{"a":["${secret.replace('"', '\\"')}"],"b":${deep}${deep.replaceAll('[', ']')}}`,
  );
  expect(new Redactor([secret]).json(value)).toHaveProperty('a.0', '[secret]');
});

test('texts without it stay as they are', () => {
  const redactor = new Redactor([secret, '']);
  for (const text of ['', 'sk/live', '\\\\\\u00', '%', '%zz&#x;&nope;', btoa('sk/live+7f')])
    expect(redactor.text(text)).toBe(text);
  expect(redactor.json({ a: [1, null, true, `x${secret}`] })).toEqual({ a: [1, null, true, 'x[secret]'] });
});
