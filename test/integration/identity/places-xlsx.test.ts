import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Workspace } from '../../support/workspace.ts';
import { nothing, pointTo, inStep, idOf, codes } from './places-scene.ts';

test('xlsx: another sheet of the workbook, and a sheet that was renamed, the setting with it', async () => {
  await using workspace = await Workspace.open({ sandbox: { leads: 8 } });
  pointTo(workspace, './leads.xlsx');
  await workspace.sync();
  const path = join(workspace.folder, 'leads.xlsx');
  const { strFromU8, strToU8, unzipSync, zipSync } = await import('fflate');
  const change = (changed: (parts: Record<string, Uint8Array>) => void): void => {
    const parts = unzipSync(readFileSync(path));
    changed(parts);
    writeFileSync(path, zipSync(parts));
  };
  const text = (parts: Record<string, Uint8Array>, name: string, edit: (was: string) => string): void => {
    parts[name] = strToU8(edit(strFromU8(parts[name] ?? new Uint8Array())));
  };
  const sheetName = /<sheet [^>]*name="([^"]*)"/.exec(
    strFromU8(unzipSync(readFileSync(path))['xl/workbook.xml'] ?? new Uint8Array()),
  )?.[1];
  if (sheetName === undefined) throw new Error('no sheet');
  // The first sheet, named: the same place.
  pointTo(workspace, './leads.xlsx', { sheet: sheetName });
  workspace.sandbox.leads.edit(idOf(workspace, 0), { city: 'Ulm' });
  expect(await workspace.sync()).toMatchObject({
    status: 'succeeded',
    created: nothing,
    updated: { leads: 0, rows: 1 },
  });

  change((parts) =>
    text(parts, 'xl/workbook.xml', (was) => was.replace(`name="${sheetName}"`, 'name="Customers"')),
  );
  const run = await workspace.run();
  expect(run).toMatchObject({ status: 'failed', report: { problems: [{ code: 'target.unreadable' }] } });
  pointTo(workspace, './leads.xlsx', { sheet: 'Customers' });
  workspace.sandbox.leads.edit(idOf(workspace, 1), { city: 'Bonn' });
  const moved = await workspace.sync();
  expect(moved).toMatchObject({ status: 'succeeded', created: nothing, updated: { leads: 0, rows: 1 } });
  expect(codes(moved)).toEqual(['place.moved']);

  // A copy of the sheet in the same workbook is another place.
  change((parts) => {
    parts['xl/worksheets/copy.xml'] = parts['xl/worksheets/sheet1.xml'] ?? new Uint8Array();
    text(parts, 'xl/workbook.xml', (was) =>
      was.replace('</sheets>', '<sheet name="Copy" sheetId="77" r:id="rId77"/></sheets>'),
    );
    text(parts, 'xl/_rels/workbook.xml.rels', (was) =>
      was.replace(
        '</Relationships>',
        '<Relationship Id="rId77" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet" Target="worksheets/copy.xml"/></Relationships>',
      ),
    );
    text(parts, '[Content_Types].xml', (was) =>
      was.replace(
        '</Types>',
        '<Override PartName="/xl/worksheets/copy.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml"/></Types>',
      ),
    );
  });
  const id = idOf(workspace, 2);
  workspace.sandbox.leads.edit(id, { city: 'Jena' });
  expect(await workspace.sync()).toMatchObject({ status: 'succeeded', updated: { leads: 0, rows: 1 } });
  pointTo(workspace, './leads.xlsx', { sheet: 'Copy' });
  expect(await workspace.run()).toMatchObject({ status: 'stopped', refusals: [{ code: 'other-target' }] });
  pointTo(workspace, './leads.xlsx', { sheet: 'Customers' });
  expect(await workspace.sync()).toMatchObject({ status: 'succeeded', updated: nothing, problems: [] });
  expect(workspace.sandbox.leads.get(id)?.['city']).toBe('Jena');
});

test('xlsx: another workbook and back', async () => {
  await using workspace = await inStep(8, './leads.xlsx');
  const id = idOf(workspace, 0);
  pointTo(workspace, './other.xlsx');
  expect(codes(await workspace.sync())).toEqual(['place.first-sync']);
  workspace.sandbox.leads.edit(id, { city: 'Ulm' });
  await workspace.sync();
  pointTo(workspace, './leads.xlsx');
  expect(await workspace.sync()).toMatchObject({ status: 'succeeded', updated: { leads: 0, rows: 1 } });
  expect(workspace.sandbox.leads.get(id)?.['city']).toBe('Ulm');
});
