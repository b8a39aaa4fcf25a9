import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { followUpLinks, openLink, encryptLink } from '../../src/reminders/links/link-token.ts';

const key = randomBytes(32);
const link = {
  connection: 'main',
  leadId: '018f0000-0000-7000-8000-000000000001',
  recipient: 'anna@example.com',
  dueAt: Date.parse('2027-11-17T08:00:00Z'),
  expiresAt: Date.parse('2027-12-17T08:00:00Z'),
};

test('a token is read with its key alone, is the same each time, and shows nothing of what it stands for', () => {
  const token = encryptLink(key, link);
  expect(openLink(key, token)).toEqual(link);
  expect(encryptLink(key, link)).toBe(token);
  expect(openLink(randomBytes(32), token)).toBeNull();
  const raw = Buffer.from(token, 'base64url').toString('latin1');
  for (const part of ['main', 'anna', '018f', 'example']) expect(token + raw).not.toContain(part);
});

test('a token that was changed anywhere, cut or lengthened is none', () => {
  const sealed = Buffer.from(encryptLink(key, link), 'base64url');
  fc.assert(
    fc.property(fc.nat(sealed.length - 1), fc.integer({ min: 1, max: 255 }), (place, flip) => {
      const forged = Buffer.from(sealed);
      forged[place] = (forged[place] ?? 0) ^ flip;
      expect(openLink(key, forged.toString('base64url'))).toBeNull();
    }),
  );
  fc.assert(fc.property(fc.string({ maxLength: 300 }), (text) => openLink(key, text) === null));
  expect(openLink(key, sealed.subarray(0, -1).toString('base64url'))).toBeNull();
  expect(openLink(key, `${encryptLink(key, link)}=`)).toBeNull();
});

test('a link works for 30 days after the follow-up is due; of one that is overdue, after the mail', () => {
  const maker = { key, publicUrl: 'https://leadsync.example.com/app' };
  const { page, week } = followUpLinks(maker, link, link.dueAt - 1_000);
  expect(page).toMatch(/^https:\/\/leadsync\.example\.com\/app\/follow-up\/[\w-]+$/);
  expect(week).toBe(`${page}?do=week`);
  const expiryOf = (url: string) => openLink(key, url.split('/').at(-1) ?? '')?.expiresAt;
  expect(expiryOf(page)).toBe(link.expiresAt);
  const late = link.dueAt + 40 * 24 * 3_600_000;
  expect(expiryOf(followUpLinks(maker, link, late).page)).toBe(late + 30 * 24 * 3_600_000);
});
