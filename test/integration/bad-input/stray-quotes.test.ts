import { writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { SyncReport } from '../../../src/sync/report.ts';
import { Workspace } from '../../support/workspace.ts';

const fields = { companyName: 'Company', city: 'City', stage: 'Stage' };
const firm = (nth: number): string => `Firm ${nth}`;

/** A table of eight leads in step, with a column of the person's own at the end. */
async function inStep(
  delimiter: string,
  onRowDeleted: 'restore' | 'delete-lead' = 'restore',
): Promise<Workspace> {
  const here = await Workspace.open({ connection: { fields, sync: { onRowDeleted } } });
  const leads = Array.from({ length: 8 }, (_, nth) =>
    here.sandbox.leads.add({ companyName: firm(nth), city: `City ${nth}`, stage: 'new' }),
  );
  write(here, [
    ['Lead ID', 'Company', 'City', 'Stage', 'Notes'].join(delimiter),
    ...leads.map(({ id }, nth) => [id, firm(nth), `City ${nth}`, 'new', ''].join(delimiter)),
  ]);
  expect(await here.sync()).toMatchObject({ status: 'succeeded' });
  return here;
}

const lines = (here: Workspace): string[] => here.sheet.text().trimEnd().split('\r\n');
const write = (here: Workspace, texts: readonly string[]): void =>
  writeFileSync(here.sheet.path, `${texts.join('\r\n')}\r\n`);
const put = (here: Workspace, line: number, change: (text: string) => string): void =>
  write(
    here,
    lines(here).map((text, nth) => (nth + 1 === line ? change(text) : text)),
  );

const untouched = { created: { leads: 0, rows: 0 }, updated: { leads: 0, rows: 0 }, deleted: { leads: 0, rows: 0 } };

function expectMisread(report: SyncReport, from: number, to: number): void {
  expect(report).toMatchObject({ status: 'stopped', ...untouched });
  const stops = report.problems.filter(({ code }) => code === 'guard.misread');
  expect(stops.map(({ message }) => message)).toEqual([expect.stringContaining(`lines ${from} to ${to}`)]);
}

test.each([
  [',', 'delete-lead'],
  [';', 'restore'],
  ['\t', 'delete-lead'],
] as const)(
  'two stray quotes in a note join rows (%j, %s): every night stops, and nothing is lost when they are mended',
  async (delimiter, onRowDeleted) => {
    await using here = await inStep(delimiter, onRowDeleted);
    const before = here.sheet.text();
    put(here, 5, (text) => `${text}"call back`);
    put(here, 7, (text) => `${text}wants pipe 12"`);
    const damaged = here.sheet.text();
    for (let night = 0; night < 3; night++) expectMisread(await here.sync(), 5, 7);
    expect(here.sheet.text()).toBe(damaged);
    expect(here.sandbox.leads.size).toBe(8);
    write(here, before.trimEnd().split('\r\n'));
    expect(await here.sync()).toMatchObject({ status: 'succeeded', ...untouched });
  },
);
