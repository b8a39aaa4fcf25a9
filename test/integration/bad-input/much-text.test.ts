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

test('a row with more text than leadsync takes of one is held with its column, and the others are synced', async () => {
  await using workspace = await Workspace.open({ connection: { fields } });
  const { leads } = workspace.sandbox;
  const { id } = leads.add({ companyName: 'Acme', city: 'Ulm' });
  leads.add({ companyName: 'Bolt', city: 'Ulm' });
  await workspace.sync();
  const large = { City: 'Bonn', Region: 'x'.repeat(mostOfRecord + 1) };
  workspace.sheet.edit(({ Company }) => Company === 'Acme', large);
  workspace.sheet.edit(({ Company }) => Company === 'Bolt', { City: 'Kiel' });
  leads.add({ companyName: 'Cord' });
  const { status, problems } = await workspace.sync();
  expect(status).toBe('partial');
  expect(problems).toMatchObject([{ code: 'row.too-large', leadId: id, row: 2 }]);
  expect(problems[0]?.message).toMatch(
    /^row 2 has 1,000,009 characters, 1,000,001 of them in "Region", .* 1,000,000 /,
  );
  const cities = (): unknown[] => leads.list().map(({ companyName, city }) => [companyName, city]);
  expect(cities()).toEqual([
    ['Acme', 'Ulm'],
    ['Bolt', 'Kiel'],
    ['Cord', ''],
  ]);
  expect(workspace.sheet.rows()).toMatchObject([large, { City: 'Kiel' }, { Company: 'Cord' }]);
  workspace.sheet.edit(({ Company }) => Company === 'Acme', { Region: 'short' });
  expect(await workspace.sync()).toMatchObject({ status: 'succeeded', problems: [] });
  expect(leads.list()[0]).toMatchObject({ city: 'Bonn', region: 'short' });
});

test('a lead with more text than leadsync takes of one is held, no row is deleted, and the others are synced', async () => {
  await using workspace = await Workspace.open({ connection: { fields } });
  const { leads } = workspace.sandbox;
  const known = leads.add({ companyName: 'Bolt' });
  await workspace.sync();
  const nested = { deep: { list: Array.from({ length: 11 }, () => 'x'.repeat(mostOfRecord / 10)) } };
  const { id } = leads.add({ companyName: 'Acme', segment: nested as never });
  leads.add({ companyName: 'Cord' });
  leads.edit(known.id, { city: 'x'.repeat(mostOfRecord) });
  for (let night = 0; night < 3; night++) {
    const { status, problems } = await workspace.sync();
    expect(status).toBe('partial');
    expect(problems.map(({ code }) => code)).toEqual(['lead.too-large', 'lead.too-large']);
    expect(new Set(problems.map(({ leadId }) => leadId))).toEqual(new Set([id, known.id]));
    expect(workspace.sheet.rows().map(({ Company, City }) => [Company, City])).toEqual([
      ['Bolt', ''],
      ['Cord', ''],
    ]);
  }
});
