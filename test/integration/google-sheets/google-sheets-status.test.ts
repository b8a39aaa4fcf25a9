import { expect, test } from 'vitest';
import type { RowChange } from '../../../src/ports/target.ts';
import { makeGoogleSheetsHarness } from '../../contract/google-sheets-harness.ts';
import {
  anna,
  append,
  bert,
  headings,
  link,
  loose,
  looseCells,
  never,
  status,
  verdict,
} from '../../contract/target-harness.ts';

const told = (change: RowChange, text: string): RowChange => ({ ...change, status: text }) as RowChange;

test('a status cell that Google refuses keeps neither an id nor a new row from being written', async () => {
  await using harness = await makeGoogleSheetsHarness();
  harness.edit(() => [headings, anna, loose]);
  harness.sandbox.person.setValidation('Leads', 'F2:F100', ['fine']);
  const changes = [
    told(link('id-l', looseCells, { city: 'Lyon' }), 'in step'),
    told(append('id-n', { name: 'New' }), 'in step'),
    status('id-a', 'in step'),
  ];
  const target = harness.target({ statusColumn: 'Sync' });
  const outcomes = await target.write(changes, never());
  expect(outcomes.map(verdict)).toEqual(['done', 'done', 'target.value-not-storable']);
  expect(harness.show()?.slice(1)).toEqual([
    anna,
    loose.with(0, 'id-l').with(3, 'Lyon'),
    ['id-n', 'New', '', '', '', ''],
  ]);
});

test('copies of a row are told of it while people move them', async () => {
  await using harness = await makeGoogleSheetsHarness();
  harness.edit(() => [headings, bert, anna, anna.with(2, 'copy'), anna.with(2, 'second copy')]);
  const { sandbox } = harness;
  sandbox.before = ({ method }) => {
    if (method !== 'spreadsheets.values.batchUpdate') return;
    sandbox.before = null;
    sandbox.person.insertRows('Leads', 1);
  };
  const target = harness.target({ statusColumn: 'Sync' });
  const changes = [status('id-a', 'in step'), status('id-a', 'held: copy', true)];
  for (let run = 0; run < 2; run++)
    expect((await target.write(changes, never())).map(verdict)).toEqual(['done', 'done']);
  expect(harness.show()?.slice(2)).toEqual([
    bert,
    anna.with(5, 'in step'),
    anna.with(2, 'copy').with(5, 'held: copy'),
    anna.with(2, 'second copy').with(5, 'held: copy'),
  ]);
  const { length } = sandbox.requests;
  await target.write(changes, never());
  expect(sandbox.requests.slice(length).map(({ kind }) => kind)).toEqual(['read', 'read', 'read']);
});
