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
