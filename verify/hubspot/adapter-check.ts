import { setTimeout as sleep } from 'node:timers/promises';
import type { Secret } from '../../src/config/secret.ts';
import { LeadsyncError } from '../../src/lib/errors.ts';
import type { FieldMapping } from '../../src/core/lead/mapping.ts';
import { systemClock } from '../../src/ports/clock.ts';
import { createHubSpotTarget } from '../../src/targets/hubspot/hubspot-target.ts';
import type { RowChange, RowOutcome } from '../../src/ports/target.ts';
import { same, Skipped } from '../check.ts';
import type { PortalCheck } from './portal-check.ts';

const signal = new AbortController().signal;
const windowMs = 10_000;
/** Codes of faults that say nothing about what was tried. */
const untried = ['target.unavailable', 'target.busy', 'target.unauthenticated', 'target.forbidden'];

/** leadsync's own adapter, with the unique property and others that are made here as its mapping. */
export function adapterCheck(apiUrl: string, accessToken: Secret): PortalCheck {
  return {
    title: 'the adapter adds, changes, reads and removes companies, and a second look finds what it wrote',
    async run(scratch) {
      const field = (name: string, column: string, type: 'text' | 'instant'): FieldMapping => ({
        field: name,
        column,
        type,
        direction: 'two-way',
      });
      await using target = createHubSpotTarget({
        apiUrl,
        accessToken,
        timeZone: 'UTC',
        clock: systemClock,
        idColumn: scratch.idProperty,
        fields: [
          field('companyName', 'name', 'text'),
          field('stage', await scratch.own('stage'), 'text'),
          field('nextFollowUpAt', await scratch.own('moment'), 'instant'),
        ],
      });
      const write = async (changes: readonly RowChange[]): Promise<string[]> =>
        (await patiently(() => target.write(changes, signal))).map(told);
      const rows = async (purpose: string) => {
        const snapshot = await patiently(() => target.open({ create: false, purpose }, signal));
        const seen = new Map<string | null, unknown>();
        for await (const batch of snapshot.rows) for (const row of batch) seen.set(row.leadId, row.cells);
        return seen;
      };
      const [one, other] = [scratch.unique(), scratch.unique()];
      const first = {
        companyName: `${scratch.mark} ${one}`,
        stage: 'New',
        nextFollowUpAt: '2026-07-01T07:30:00.123Z',
      };
      const second = { ...first, companyName: `${scratch.mark} ${other}`, nextFollowUpAt: null };
      const append = (leadId: string, values: typeof second | typeof first): RowChange => ({
        kind: 'append',
        key: leadId,
        leadId,
        values,
      });
      same('two are added', await write([append(one, first), append(other, second)]), ['done', 'done']);
      const seen = await rows('added');
      same('the first is read as', seen.get(one), first);
      same('the second is read as', seen.get(other), second);
      const values = { stage: 'Won', nextFollowUpAt: null };
      const update: RowChange = { kind: 'update', key: one, leadId: one, expect: first, values };
      const remove: RowChange = { kind: 'remove', key: other, leadId: other, expect: second };
      same('one is changed, one is removed', await write([update, remove]), ['done', 'done']);
      const after = await rows('changed');
      same('the first is read as', after.get(one), { ...first, ...values });
      same('the second is there', after.has(other), false);
      const [again = ''] = await write([append(other, second)]);
      same('the removed one, added again, is', again.split(':')[0], 'held row.archived');
      return `${target.requests} requests`;
    },
  };
}

function told(outcome: RowOutcome): string {
  return outcome.status === 'done' ? 'done' : `${outcome.status} ${outcome.code}: ${outcome.message}`;
}

/** Repeats what the limit of ten seconds cuts short. */
async function patiently<T>(request: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await request();
    } catch (error) {
      if (error instanceof LeadsyncError && untried.includes(error.code)) throw new Skipped(error.message);
      if (!(error instanceof LeadsyncError) || error.code !== 'target.rate-limited') throw error;
      const waitMs = error.retryAfterMs ?? windowMs;
      if (waitMs > 6 * windowMs) throw new Skipped(error.message);
      await sleep(waitMs);
    }
  }
}
