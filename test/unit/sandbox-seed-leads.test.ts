import { expect, test } from 'vitest';
import { seedLeads } from '../../src/demo/seed-leads.ts';

const now = Date.UTC(2026, 9, 14, 8, 30);
const request = { count: 1000, seed: 7, now, idKind: 'uuid7' } as const;
const leads = seedLeads(request);

test('the same seed gives the same leads, another seed others', () => {
  expect(seedLeads(request)).toEqual(leads);
  const others = seedLeads({ ...request, seed: 8 });
  expect(others.filter((lead, index) => lead.companyName === leads[index]?.companyName).length).toBeLessThan(
    100,
  );
});

test('on another day only the follow-ups differ', () => {
  const later = seedLeads({ ...request, now: now + 86_400_000 });
  expect(later.map((lead) => ({ ...lead, nextFollowUpAt: null }))).toEqual(
    leads.map((lead) => ({ ...lead, nextFollowUpAt: null })),
  );
});

test('ids are unique, time-ordered UUIDs of version 7 from before now', () => {
  const ids = leads.map((lead) => lead.id);
  expect(new Set(ids).size).toBe(1000);
  expect(ids.toSorted()).toEqual(ids);
  for (const id of ids) {
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16)).toBeLessThan(now);
  }
});

test('the other kind of id is a UUID that tells no time', () => {
  const ids = seedLeads({ ...request, idKind: 'other' }).map((lead) => lead.id);
  expect(new Set(ids).size).toBe(1000);
  expect(ids.toSorted()).not.toEqual(ids);
  for (const id of ids)
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
});

test('follow-ups: some none, some on the day of now, some past, some to come', () => {
  const days = leads.map((lead) => lead.nextFollowUpAt?.slice(0, 10));
  const count = (test: (day: string | undefined) => boolean): number => days.filter(test).length;
  expect(count((day) => day === undefined)).toBeGreaterThan(100);
  expect(count((day) => day === '2026-10-14')).toBeGreaterThan(20);
  expect(count((day) => day !== undefined && day < '2026-10-14')).toBeGreaterThan(20);
  expect(count((day) => day !== undefined && day > '2026-10-14')).toBeGreaterThan(200);
});

test.each([
  ['umlauts', /[äöüß]/],
  ['apostrophes', /'/],
  ['commas', /,/],
  ['quotes', /"/],
  ['what looks like a formula', /^[=+@-]/],
])('some names have %s', (_, pattern) => {
  expect(leads.filter((lead) => pattern.test(lead.companyName)).length).toBeGreaterThan(0);
});

test('names are unique', () => {
  expect(new Set(leads.map((lead) => lead.companyName)).size).toBe(1000);
});
