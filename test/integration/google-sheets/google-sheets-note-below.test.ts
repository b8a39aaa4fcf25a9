import { expect, test } from 'vitest';
import { makeGoogleSheetsHarness } from '../../contract/google-sheets-harness.ts';
import { anna, append, bert, headings, never, readAll, verdict } from '../../contract/target-harness.ts';

test('new rows come above a note below the table, which stays apart from it', async () => {
  await using harness = await makeGoogleSheetsHarness();
  const note = ['', 'Ask Eva about these', '', '', ''];
  const blank = note.map(() => '');
  harness.edit(() => [headings, anna, bert, blank, note]);
  await harness.target().open({ create: true }, never());
  const outcomes = await harness.target().write([append('id-c', { name: 'Cleo' })], never());
  expect(outcomes.map(verdict)).toEqual(['done']);
  const rows = (await readAll(harness.target())).map(({ row, leadId }) => [row, leadId]);
  expect(rows).toEqual([
    [2, 'id-a'],
    [3, 'id-b'],
    [4, 'id-c'],
    [6, null],
  ]);
});
