import { expect, test } from 'vitest';
import { makeCsvHarness } from './csv-harness.ts';
import { describeFileTarget } from './target.ts';
import { anna, headings, never, readAll, withRows } from './target-harness.ts';

describeFileTarget('csv', makeCsvHarness, ['marks']);

test('csv: headings are looked for in the first 20 rows, as in a workbook', async () => {
  const above = (rows: number) => [...Array.from({ length: rows }, () => ['', '']), headings, anna];
  await withRows(makeCsvHarness, above(19), async (harness) => {
    expect(await readAll(harness.target())).toMatchObject([{ row: 21, leadId: 'id-a' }]);
  });
  await withRows(makeCsvHarness, above(20), async (harness) => {
    const opened = harness.target().open({ create: true }, never());
    await expect(opened).rejects.toMatchObject({ code: 'target.header-missing' });
  });
});

test('csv: rows that were added are known to stand, unless anybody else was at the file', () =>
  withRows(makeCsvHarness, [headings], async (harness) => {
    const target = harness.target();
    const add = (leadId: string) =>
      target.write([{ kind: 'append', key: leadId, leadId, values: {} }], never());
    await add('z');
    expect(await target.addedRows?.(never()), 'what stood there before is not known').toBe(0);
    for await (const _ of (await target.open({ create: false }, never())).rows);
    await add('a');
    await add('b');
    expect(await target.addedRows?.(never())).toBe(2);
    // Written again, as after what became of it was lost: it is one row.
    await add('b');
    await add('c');
    expect(await target.addedRows?.(never())).toBe(3);
    for await (const _ of (await target.open({ create: false }, never())).rows);
    await add('d');
    expect(await target.addedRows?.(never())).toBe(1);
    harness.edit((grid) => grid.slice(0, -1));
    expect(await target.addedRows?.(never())).toBe(0);
    await add('e');
    expect(await target.addedRows?.(never())).toBe(0);
  }));
