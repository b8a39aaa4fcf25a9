import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { Secret } from '../../src/config/secret.ts';
import { LeadsyncError } from '../../src/lib/errors.ts';
import type { Lead } from '../../src/core/lead/lead.ts';
import { LeadsClient } from '../../src/leads-api/leads-client.ts';
import type { LeadsPort, Throttle } from '../../src/ports/leads-service.ts';
import { MemoryThrottle } from '../support/memory-throttle.ts';

/** A Leads service with some leads in it, and what the suite must know of it besides what its API tells. */
export interface LeadsServiceHarness extends AsyncDisposable {
  readonly baseUrl: string;
  readonly apiKey: string;
  /** The ids of all leads that are stored now. */
  ids(): readonly string[];
  /** From now on each `every`-th request is answered 429 with this Retry-After. */
  limitRate(every: number, seconds: number): void;
  /** Requests so far, and how many of them came before a Retry-After had passed. */
  counts(): { readonly requests: number; readonly early: number };
}

const never = new AbortController().signal;
const nobody = '01890a5d-ac96-774b-bcce-b302099a8057';
const written = {
  companyName: 'Ωmega "Söhne" 🦊 & Co; KG',
  segment: 'Solar\nand wind',
  city: '00501',
  region: '=1+1',
  stage: 'contacted',
  nextFollowUpAt: '2026-11-21T08:30:00.000Z',
};

/** What every Leads service, whatever it answers to the open points, must look like through the port. */
export function describeLeadsPort(name: string, start: () => Promise<LeadsServiceHarness>): void {
  describe(`leads port on ${name}`, () => {
    test.each([null, 7, 1000])('a scan with limit %j yields every lead and ends', async (limit) => {
      await using service = await start();
      await using leads = connect(service);
      const found = await scan(leads, limit);
      expect([...found.keys()].toSorted()).toEqual(service.ids().toSorted());
      expect(leads.requests).toBe(service.counts().requests);
    });

    test('a lead is created, read, updated and deleted with its values kept', async () => {
      await using service = await start();
      await using leads = connect(service);
      const before = new Set(service.ids());

      const created = await leads.create(written, never);
      const [id = '', ...others] = service.ids().filter((each) => !before.has(each));
      expect(others).toEqual([]);
      if (created !== null) expect(created.id).toBe(id);
      if (created !== null && 'fields' in created) expect(shown(created)).toEqual(written);
      expect(shown(await leads.get(id, never))).toEqual(written);

      const changes = { stage: 'qualified', city: 'Graz', nextFollowUpAt: null };
      const updated = await leads.update(id, changes, never);
      const expected = { ...written, ...changes };
      if (updated !== null) expect(shown(updated)).toEqual(expected);
      const read = await leads.get(id, never);
      expect(read?.id).toBe(id);
      expect(shown(read)).toEqual(expected);
      expect(shown((await scan(leads, null)).get(id) ?? null)).toEqual(expected);

      expect(await leads.delete(id, never)).toBe(true);
      expect(service.ids()).not.toContain(id);
      expect(await leads.get(id, never)).toBeNull();
      expect(await leads.delete(id, never)).toBe(false);
      expect(new Set(service.ids())).toEqual(before);
    });

    test('an id that nobody has is null, rejected and false', async () => {
      await using service = await start();
      await using leads = connect(service);
      expect(await leads.get(nobody, never)).toBeNull();
      await expect(leads.update(nobody, { city: 'Graz' }, never)).rejects.toMatchObject({
        code: 'leads.rejected',
        retry: 'never',
      });
      expect(await leads.delete(nobody, never)).toBe(false);
    });

    test('a wrong key is leads.unauthenticated everywhere, and changes nothing', async () => {
      await using service = await start();
      await using leads = connect({ baseUrl: service.baseUrl, apiKey: 'wrong-key' });
      const [id = ''] = service.ids();
      const calls = [
        leads.list({ cursor: null, limit: null }, never),
        leads.get(id, never),
        leads.create(written, never),
        leads.update(id, written, never),
        leads.delete(id, never),
      ];
      const expected = { code: 'leads.unauthenticated', retry: 'never', status: 401 };
      for (const end of await Promise.allSettled(calls)) expect(end).toMatchObject({ reason: expected });
      expect(service.ids()).toContain(id);
    });

    test('with Retry-After no request is early, of none of three clients that share a throttle', async () => {
      await using service = await start();
      service.limitRate(4, 1);
      const throttle = new MemoryThrottle();
      await using one = connect(service, throttle);
      await using two = connect(service, throttle);
      const ids = service.ids().slice(0, 3);
      for (const [index, id] of ids.entries()) {
        const leads = index % 2 === 0 ? one : two;
        expect((await patiently(() => leads.get(id, never)))?.id).toBe(id);
      }
      await using three = connect(service, throttle);
      expect((await scan(three, 10)).size).toBe(service.ids().length);
      expect(service.counts().early).toBe(0);
      expect(one.requests + two.requests + three.requests).toBe(service.counts().requests);
    });
  });
}

function connect(
  service: Pick<LeadsServiceHarness, 'baseUrl' | 'apiKey'>,
  throttle: Throttle = new MemoryThrottle(),
): LeadsPort & AsyncDisposable {
  const { baseUrl, apiKey } = service;
  return new LeadsClient({ baseUrl, apiKey: new Secret(apiKey), query: {}, throttle });
}

/** All leads by id, as a sync would page: without `limit` when a service rejects it. */
async function scan(leads: LeadsPort, limit: number | null): Promise<Map<string, Lead>> {
  const found = new Map<string, Lead>();
  const cursors = new Set<string>();
  let asked = limit;
  let cursor: string | null = null;
  for (;;) {
    const page = await patiently(() => leads.list({ cursor, limit: asked }, never)).catch(
      (error: unknown) => {
        if (asked === null || !(error instanceof LeadsyncError) || error.code !== 'leads.rejected')
          throw error;
        return null;
      },
    );
    if (page === null) {
      asked = null;
      continue;
    }
    expect(page.invalidItems).toBe(0);
    for (const lead of page.leads) found.set(lead.id, lead);
    if (page.nextCursor === null) return found;
    expect(cursors).not.toContain(page.nextCursor);
    cursors.add(page.nextCursor);
    cursor = page.nextCursor;
  }
}

/** Repeats a call for as long as it is rate limited, each time after exactly the wait it was told. */
async function patiently<T>(call: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await call();
    } catch (error) {
      if (!(error instanceof LeadsyncError) || error.code !== 'leads.rate-limited') throw error;
      await wait(error.retryAfterMs);
    }
  }
}

/** The fields that were written, in one form: absent is null, an instant is its moment. */
function shown(lead: Lead | null): Record<string, unknown> {
  return Object.fromEntries(
    Object.keys(written).map((field) => {
      const value = lead?.fields[field] ?? null;
      const isInstant = field === 'nextFollowUpAt' && typeof value === 'string';
      return [field, isInstant ? new Date(value).toISOString() : value];
    }),
  );
}
