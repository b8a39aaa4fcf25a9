import { describe, expect, test } from 'vitest';
import { makeGoogleSheetsHarness } from '../../contract/google-sheets-harness.ts';
import { append, headings, never, update, verdict } from '../../contract/target-harness.ts';

const bare = ['id-a', 'Anna AG', '', '', '', ''];

describe('values that the spreadsheet refuses', () => {
  test('are isolated by halving, held with its words, and not searched for again', async () => {
    await using harness = await makeGoogleSheetsHarness();
    const rows = Array.from({ length: 16 }, (_, n) => bare.with(0, `id-${n}`));
    harness.edit(() => [headings, ...rows]);
    harness.sandbox.person.setValidation('Leads', 'D2:D100', ['Rome', 'Bonn']);
    const target = harness.target();
    const changes = [
      ...rows.map(([id = ''], n) =>
        update(id, { city: null }, { city: n === 11 ? 'Atlantis' : 'Rome', name: `New ${n}` }),
      ),
      append('id-n', { city: 'Rome' }),
      append('id-m', { city: 'Nowhere' }),
    ];
    const outcomes = await target.write(changes, never());
    expect(outcomes.map(verdict)).toEqual(
      changes.map((_, n) => (n === 11 || n === 17 ? 'target.value-not-storable' : 'done')),
    );
    expect(outcomes[11]).toMatchObject({ status: 'held', message: expect.stringContaining('D13') });
    // Of the refused row the other cell is written.
    expect(harness.show()?.[12]).toEqual(['id-11', 'New 11', '', '', '', '']);
    expect(
      harness
        .show()
        ?.map(([id]) => id)
        .slice(16),
    ).toEqual(['id-15', 'id-n']);

    const from = harness.sandbox.requests.length;
    expect(await target.write(changes, never())).toEqual(outcomes);
    expect(harness.sandbox.requests.slice(from).every(({ kind }) => kind !== 'write')).toBe(true);
    // Another value of the same cell is another matter.
    const other = update('id-11', { city: null }, { city: 'Bonn' });
    expect((await target.write([other], never())).map(verdict)).toEqual(['done']);
  });

  test('beyond a number are held as a group, within the quota', async () => {
    let now = 0;
    const clock = { now: () => now, random: () => 0.5 };
    await using harness = await makeGoogleSheetsHarness({ quotas: { reads: 60, writes: 60 }, clock });
    const ids = Array.from({ length: 300 }, (_, n) => `id-${n}`);
    harness.edit(() => [headings, ...ids.map((id) => bare.with(0, id))]);
    harness.sandbox.person.setValidation('Leads', 'D2:D400', ['Rome']);
    const target = harness.target({ clock, perMinute: { read: 60, write: 60 } });
    await target.open({ create: true }, never());
    // Refused are all with an odd number, which every small group has.
    const changes = ids.map((id, n) => update(id, { city: null }, { city: n % 2 ? 'Atlantis' : 'Rome' }));
    let attempts = 0;
    const outcomes = await (async () => {
      for (;;) {
        try {
          attempts++;
          return await target.write(changes, never());
        } catch (error) {
          if (attempts > 3) throw error;
          now += 61_000;
        }
      }
    })();
    expect(harness.sandbox.requests.filter(({ kind }) => kind === 'write').length).toBeLessThan(60);
    const held = outcomes.filter(({ status }) => status === 'held');
    expect(held.length).toBeGreaterThanOrEqual(150);
    expect(outcomes.filter((_, n) => n % 2 === 1).map(verdict)).toEqual(
      Array.from({ length: 150 }, () => 'target.value-not-storable'),
    );
    expect(held.at(-1)).toMatchObject({ message: expect.stringContaining('in a group too large') });
    // What is said to be done is there.
    const cities = harness
      .show()
      ?.slice(1)
      .map((row) => row[3]);
    expect(cities).toEqual(outcomes.map(({ status }) => (status === 'done' ? 'Rome' : '')));
  });

  test('stay found after a fault in the middle of the search', async () => {
    await using harness = await makeGoogleSheetsHarness();
    const ids = Array.from({ length: 8 }, (_, n) => `id-${n}`);
    harness.edit(() => [headings, ...ids.map((id) => bare.with(0, id))]);
    harness.sandbox.person.setValidation('Leads', 'D2:D100', ['Rome']);
    const changes = ids.map((id) => update(id, { city: null }, { city: 'Atlantis' }));
    const target = harness.target();
    let writes = 0;
    harness.sandbox.before = ({ method }) =>
      method === 'spreadsheets.values.batchUpdate' && ++writes === 12 ? { status: 503 } : undefined;
    await expect(target.write(changes, never())).rejects.toMatchObject({ code: 'target.unavailable' });
    expect((await target.write(changes, never())).map(verdict)).toEqual(
      ids.map(() => 'target.value-not-storable'),
    );
    // 15 are needed to find eight of eight; none is found twice but that of which the reply was lost.
    expect(writes).toBeLessThan(20);
  });

  test('are tried again in the next run: somebody may have corrected the rule', async () => {
    await using harness = await makeGoogleSheetsHarness();
    harness.edit(() => [headings, bare]);
    harness.sandbox.person.setValidation('Leads', 'D2:D100', ['Rome']);
    const target = harness.target();
    const changes = [update('id-a', { city: null }, { city: 'Atlantis' })];
    expect((await target.write(changes, never())).map(verdict)).toEqual(['target.value-not-storable']);
    harness.sandbox.person.setValidation('Leads', 'D2:D100', null);
    await target.open({ create: false }, never());
    expect((await target.write(changes, never())).map(verdict)).toEqual(['target.value-not-storable']);
    await target.open({ create: true }, never());
    expect((await target.write(changes, never())).map(verdict)).toEqual(['done']);
  });
});
