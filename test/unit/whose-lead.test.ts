import { expect, test } from 'vitest';
import { Secret } from '../../src/config/secret.ts';
import { whoseLead } from '../../src/reminders/plan/plan-reminders.ts';

const of = (leadId: string, key = 'one', baseUrl = 'https://a.example') =>
  whoseLead({ baseUrl, apiKey: new Secret(key), query: {}, pageSize: 0 }, leadId);
const uuid = '017f22e2-79b0-7cc3-98c4-dc0c0c07398f';

test('a UUID is one lead for every key of a service, any other id may be of two accounts', () => {
  expect(of(uuid, 'two')).toBe(of(uuid));
  expect(of('4711', 'two')).not.toBe(of('4711'));
  expect(of('4711')).toBe(of('4711'));
  expect(of(uuid, 'one', 'https://b.example')).not.toBe(of(uuid));
  expect(of('4711')).not.toContain('one');
});
