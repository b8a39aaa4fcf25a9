import { expect, test } from 'vitest';
import { mostOfRecord } from '../../../src/core/lead/text-size.ts';
import { MemoryLimit } from '../../support/memory-limit.ts';
import { Workspace } from '../../support/workspace.ts';

const fields = { companyName: 'Company', city: 'City', region: 'Region', segment: 'Segment' };

/** Each character takes two bytes of the memory. */
const longText = (nth: number): string => `${nth} ${'łąkę '.repeat(6_000)}`;

test('hundreds of leads with very long texts are synced within half of the memory of the shipped container', {
  tags: 'cgroup',
}, async () => {
  await using workspace = await Workspace.open({ connection: { fields } });
  for (let nth = 0; nth < 720; nth++) {
    const text = longText(nth);
    workspace.sandbox.leads.add({ companyName: `Acme ${nth}`, city: text, region: text, segment: text });
  }
  using limit = new MemoryLimit(512 * 1024 ** 2);
  const { code, stdout } = await workspace.start(['sync'], { before: limit.before }).ended;
  expect(stdout).toContain('720 of 720 records equal on both sides');
  expect(code).toBe(0);
});

test('a row with more text than leadsync takes of one stops the run, and is named with its column', async () => {
  await using workspace = await Workspace.open({ connection: { fields } });
  workspace.sandbox.leads.add({ companyName: 'Acme', city: 'Ulm' });
  await workspace.sync();
  workspace.sheet.edit(() => true, { City: 'Bonn', Region: 'x'.repeat(mostOfRecord + 1) });
  const { status, problems } = await workspace.sync();
  expect(status).toBe('failed');
  expect(problems).toMatchObject([{ code: 'target.too-large' }]);
  expect(problems[0]?.message).toMatch(/^row 2 has 1,000,009 characters.* 1,000,001 are in "Region"/);
  expect(workspace.sandbox.leads.list()[0]?.city).toBe('Ulm');
  workspace.sheet.edit(() => true, { Region: 'short' });
  await workspace.sync();
  expect(workspace.sandbox.leads.list()[0]).toMatchObject({ city: 'Bonn', region: 'short' });
});

test('a lead with more text than leadsync takes of one stops the run, and is named', async () => {
  await using workspace = await Workspace.open({ connection: { fields } });
  const nested = { deep: { list: Array.from({ length: 11 }, () => 'x'.repeat(mostOfRecord / 10)) } };
  const { id } = workspace.sandbox.leads.add({ companyName: 'Acme', segment: nested as never });
  const { status, problems, created } = await workspace.sync();
  expect([status, created]).toEqual(['failed', { leads: 0, rows: 0 }]);
  expect(problems).toMatchObject([{ code: 'leads.too-large' }]);
  expect(problems[0]?.message).toContain(`the lead ${id} has 1,100,`);
});
