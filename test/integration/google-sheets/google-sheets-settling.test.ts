import { describe, expect, test } from 'vitest';
import { type GoogleSheetsHarness, makeGoogleSheetsHarness } from '../../contract/google-sheets-harness.ts';
import type { Target } from '../../../src/ports/target.ts';
import { append, contractFields, headings, never, update, verdict } from '../../contract/target-harness.ts';

const rows = [1, 2, 3].map((n) => [`id-${n}`, `N${n}`, '', 'new', '', '']);
const table = [headings, ...rows];
const won = [update('id-1', { city: 'new' }, { city: 'won' })];
const city = 3;
const isWrite = (method: string) => method === 'spreadsheets.values.batchUpdate';

async function setUp(): Promise<GoogleSheetsHarness> {
  const harness = await makeGoogleSheetsHarness();
  harness.edit(() => table);
  await harness.target().open({ create: true }, never());
  return harness;
}

/** Fails the next write, and `reads` reads after it. */
function failing({ sandbox }: GoogleSheetsHarness, kind: 'reset' | 'reset-after', reads = 0, act = () => {}) {
  let left: number | null = null;
  sandbox.before = ({ method }) => {
    if (isWrite(method)) {
      act();
      left = reads;
      return { kind };
    }
    if (left === null) return undefined;
    if (left-- > 0) return { kind: 'reset' };
    sandbox.before = null;
    return undefined;
  };
}

describe('what people type is theirs', () => {
  test('the same value in another row, after a write that failed', async () => {
    for (const reads of [0, 1]) {
      await using harness = await setUp();
      const target = harness.target();
      failing(harness, 'reset', reads);
      await expect(target.write(won, never())).rejects.toMatchObject({ code: 'target.unavailable' });
      harness.sandbox.person.type(harness.tab, 3, city, 'won');
      expect((await target.write(won, never())).map(verdict)).toEqual(['done']);
      expect(harness.show()?.map((row) => row[city])).toEqual(['City', 'won', 'new', 'won']);
    }
  });

  test('the same value in another row, and another in the row that was meant', async () => {
    await using harness = await setUp();
    const { person } = harness.sandbox;
    let isWritten = false;
    harness.sandbox.before = ({ method }) => {
      if (!isWritten || isWrite(method)) {
        isWritten ||= isWrite(method);
        return;
      }
      harness.sandbox.before = null;
      person.type(harness.tab, 1, city, 'lost');
      person.type(harness.tab, 3, city, 'won');
    };
    expect((await harness.target().write(won, never())).map(verdict)).toEqual(['row.changed']);
    expect(harness.show()?.map((row) => row[city])).toEqual(['City', 'lost', 'new', 'won']);
  });

  test('one of two values in the row itself, after a write of both that failed', async () => {
    await using harness = await setUp();
    const target = harness.target();
    failing(harness, 'reset', 1);
    const both = [update('id-1', { city: 'new', name: 'N1' }, { city: 'won', name: 'N1 GmbH' })];
    await expect(target.write(both, never())).rejects.toMatchObject({ code: 'target.unavailable' });
    harness.sandbox.person.type(harness.tab, 1, city, 'won');
    await target.write([update('id-2', { city: 'new' }, { city: 'lost' })], never());
    expect(harness.show()?.map((row) => row[city])).toEqual(['City', 'won', 'lost', 'new']);
  });
});

describe('new rows alone', () => {
  const added = [append('id-4', { name: 'N4', city: '=Köln', due: null })];
  /** Writes them while somebody does something; the reads that follow the write. */
  const writeWhile = async (harness: GoogleSheetsHarness, act: () => void, then = () => {}) => {
    let reads: number | null = null;
    harness.sandbox.before = ({ method }) => {
      if (method === 'spreadsheets.batchUpdate' && reads === null) {
        act();
        reads = 0;
      } else if (method === 'spreadsheets.values.batchGet' && reads !== null && reads++ === 0) then();
    };
    const outcomes = await harness.target().write(added, never());
    harness.sandbox.before = null;
    return { verdicts: outcomes.map(verdict), reads };
  };

  test('are looked at by themselves where they were put', async () => {
    await using harness = await setUp();
    expect(await writeWhile(harness, () => {})).toEqual({ verdicts: ['done'], reads: 1 });
    expect(harness.show()?.at(-1)).toEqual(['id-4', 'N4', '', '=Köln', '', '']);
  });

  test.each([
    [1, 3],
    [2, 4],
    [5, 3],
  ])(
    'are looked for in the whole tab when column %i was moved before %i at that moment, and set right',
    async (from, to) => {
      await using harness = await setUp();
      const { person } = harness.sandbox;
      const written = await writeWhile(harness, () => person.moveColumn(harness.tab, from, to));
      expect(written.verdicts).toEqual(['done']);
      expect(written.reads).toBeGreaterThan(1);
      const [shown, row] = [harness.show()?.[0] ?? [], harness.show()?.at(-1) ?? []];
      expect(headings.map((heading) => row[shown.indexOf(heading)])).toEqual([
        'id-4',
        'N4',
        '',
        '=Köln',
        '',
        '',
      ]);
    },
  );

  test('keep what somebody types into them before they are looked at, with their id', async () => {
    for (const columns of [null, [1, 3] as const]) {
      await using harness = await setUp();
      const { person } = harness.sandbox;
      const move = () => (columns === null ? undefined : person.moveColumn(harness.tab, ...columns));
      const name = () => harness.show()?.[0]?.indexOf(headings[1] ?? '') ?? 0;
      const written = await writeWhile(harness, move, () => person.type(harness.tab, 4, name(), 'N4 AG'));
      expect(written.verdicts).toEqual(['done']);
      const [shown, row] = [harness.show()?.[0] ?? [], harness.show()?.at(-1) ?? []];
      expect(headings.map((heading) => row[shown.indexOf(heading)])).toEqual([
        'id-4',
        'N4 AG',
        '',
        '=Köln',
        '',
        '',
      ]);
    }
  });
});

describe('a write of which the reply was lost, on rows that were moved', () => {
  const moving =
    ({ sandbox, tab }: GoogleSheetsHarness) =>
    () =>
      sandbox.person.moveRows(tab, 1, 1, 4);
  const moved = [headings, rows[1] ?? [], rows[2] ?? [], rows[0] ?? []];
  const hit = moved.with(1, (rows[1] ?? []).with(city, 'won'));

  test('is put right at once', async () => {
    await using harness = await setUp();
    failing(harness, 'reset-after', 0, moving(harness));
    await expect(harness.target().write(won, never())).rejects.toMatchObject({ code: 'target.unavailable' });
    expect(harness.show()).toEqual(moved);
  });

  const processes = [
    ['of the same process', (_: GoogleSheetsHarness, target: Target) => target],
    ['of another one, when this one has died', (harness: GoogleSheetsHarness) => harness.target()],
  ] as const;

  test.each(processes)('or by the next write %s', async (_, next) => {
    await using harness = await setUp();
    const target = harness.target();
    failing(harness, 'reset-after', 1, moving(harness));
    await expect(target.write(won, never())).rejects.toMatchObject({ code: 'target.unavailable' });
    expect(harness.show()).toEqual(hit);
    // A run that goes on does not read the table again before it writes.
    expect((await next(harness, target).write(won, never())).map(verdict)).toEqual(['done']);
    expect(harness.show()).toEqual(moved.with(3, (rows[0] ?? []).with(city, 'won')));
  });

  test.each(processes)('or by the next reading %s, which sees the rows as they were', async (_, next) => {
    await using harness = await setUp();
    const target = harness.target();
    failing(harness, 'reset-after', 1, moving(harness));
    await expect(target.write(won, never())).rejects.toMatchObject({ code: 'target.unavailable' });
    expect(harness.show()).toEqual(hit);
    const { rows: read } = await next(harness, target).open({ create: true }, never());
    expect(harness.show()).toEqual(moved);
    const cities = [];
    for await (const batch of read) cities.push(...batch.map(({ cells }) => cells['city']));
    expect(cities).toEqual(moved.slice(1).map((row) => row[city]));
    // It is done with: what people type later is theirs.
    harness.sandbox.person.type(harness.tab, 1, city, 'won');
    await harness.target().open({ create: true }, never());
    expect(harness.show()?.[1]?.[city]).toBe('won');
  });

  test('but not by a plan, which writes nothing', async () => {
    await using harness = await setUp();
    const target = harness.target();
    failing(harness, 'reset-after', 1, moving(harness));
    await expect(target.write(won, never())).rejects.toMatchObject({ code: 'target.unavailable' });
    await harness.target().open({ create: false }, never());
    expect(harness.show()).toEqual(hit);
  });

  test('an id that landed in another row, with the death of the process, is taken out of it again: no lead is made twice', async () => {
    await using harness = await setUp();
    harness.sandbox.person.type(harness.tab, 4, 1, 'New one');
    failing(harness, 'reset-after', 1, () => harness.sandbox.person.moveRows(harness.tab, 4, 1, 1));
    const empty = {
      ...Object.fromEntries(contractFields.map(({ field }) => [field, null])),
      name: 'New one',
    };
    const link = { kind: 'link', key: 'k', leadId: 'id-4', expect: empty, values: {} } as const;
    await expect(harness.target().write([link], never())).rejects.toMatchObject({
      code: 'target.unavailable',
    });
    expect(harness.show()?.map(([id]) => id)).toEqual(['Lead ID', '', 'id-1', 'id-2', 'id-4']);
    await harness.target().open({ create: true }, never());
    expect(harness.show()?.map(([id]) => id)).toEqual(['Lead ID', '', 'id-1', 'id-2', 'id-3']);
  });
});

describe('cells of others that were hit are named', () => {
  test('when they were put back', async () => {
    await using harness = await setUp();
    harness.sandbox.before = ({ method }) => {
      if (!isWrite(method)) return;
      harness.sandbox.before = null;
      harness.sandbox.person.moveRows(harness.tab, 1, 1, 4);
    };
    const [outcome] = await harness.target().write(won, never());
    expect(outcome).toMatchObject({ status: 'deferred', message: expect.stringContaining('D2.') });
    expect(harness.show()?.map((row) => row[city])).toEqual(['City', 'new', 'new', 'new']);
  });

  test('when that is refused, with what they showed', async () => {
    await using harness = await setUp();
    const { person } = harness.sandbox;
    harness.sandbox.before = ({ method }) => {
      if (!isWrite(method)) return;
      harness.sandbox.before = null;
      person.moveRows(harness.tab, 1, 1, 4);
      person.setValidation(harness.tab, 'D2:D100', ['won']);
    };
    const [outcome] = await harness.target().write(won, never());
    expect(outcome).toMatchObject({ status: 'deferred', message: expect.stringContaining('D2 ("new")') });
  });

  test('when people go on moving rows, with what they showed', async () => {
    await using harness = await setUp();
    const { person } = harness.sandbox;
    harness.sandbox.before = ({ method }) => {
      if (isWrite(method) || method === 'spreadsheets.batchUpdate') person.moveRows(harness.tab, 1, 1, 4);
    };
    const [outcome] = await harness.target().write(won, never());
    expect(outcome).toMatchObject({
      status: 'deferred',
      message: expect.stringContaining('could not be restored'),
    });
  });
});
