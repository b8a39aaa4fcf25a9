import { expect, test } from 'vitest';
import { makeCsvHarness } from './csv-harness.ts';
import { describeFileTarget } from './target.ts';
import { headings, never, withRows } from './target-harness.ts';

describeFileTarget('csv', makeCsvHarness, ['marks']);

test('csv: headings below an empty first row are not looked for', () =>
  withRows(makeCsvHarness, [['', ''], headings], async (harness) => {
    const opened = harness.target().open({ create: true }, never());
    await expect(opened).rejects.toMatchObject({ code: 'target.header-missing' });
  }));
