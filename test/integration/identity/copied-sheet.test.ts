import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { strFromU8, strToU8, unzipSync, zipSync } from 'fflate';
import { expect, test } from 'vitest';
import { Workspace } from '../../support/workspace.ts';
import { idOf, nothing, pointTo } from './places-scene.ts';

const relationships = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const sheetPart = 'xl/worksheets/sheet1.xml';

type Parts = Record<string, Uint8Array>;

const textOf = (parts: Parts, part: string): string => strFromU8(parts[part] ?? new Uint8Array());

/** Changes the workbook as another program does. */
function change(workspace: Workspace, edits: (parts: Parts) => Readonly<Record<string, string>>): void {
  const path = join(workspace.folder, 'leads.xlsx');
  const parts = unzipSync(readFileSync(path));
  for (const [part, text] of Object.entries(edits(parts))) parts[part] = strToU8(text);
  writeFileSync(path, zipSync(parts));
}

/** Puts a copy of the sheet in front of it, where Excel puts one unless told otherwise. */
function copyToFront(workspace: Workspace): void {
  change(workspace, (parts) => ({
    'xl/worksheets/copy.xml': textOf(parts, sheetPart).replace(/<tableParts.*?<\/tableParts>/s, ''),
    'xl/workbook.xml': textOf(parts, 'xl/workbook.xml').replace(
      '<sheets>',
      '<sheets><sheet name="Leads (2)" sheetId="77" r:id="rId77"/>',
    ),
    'xl/_rels/workbook.xml.rels': textOf(parts, 'xl/_rels/workbook.xml.rels').replace(
      '</Relationships>',
      `<Relationship Id="rId77" Type="${relationships}/worksheet" Target="worksheets/copy.xml"/></Relationships>`,
    ),
    '[Content_Types].xml': textOf(parts, '[Content_Types].xml').replace(
      '</Types>',
      '<Override PartName="/xl/worksheets/copy.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml"/></Types>',
    ),
  }));
}

test('a copy of the sheet is put in front of it: edits in the sheet itself are still carried over, and the copy stays', async () => {
  await using workspace = await Workspace.open({ sandbox: { leads: 8 } });
  const [first, second] = [idOf(workspace, 0), idOf(workspace, 1)];
  workspace.sandbox.leads.edit(first, { city: 'Aachen' });
  pointTo(workspace, './leads.xlsx');
  await workspace.sync();
  copyToFront(workspace);
  let copy = '';
  change(workspace, (parts) => {
    copy = textOf(parts, 'xl/worksheets/copy.xml');
    return { [sheetPart]: textOf(parts, sheetPart).replace('>Aachen<', '>Jena<') };
  });
  workspace.sandbox.leads.edit(second, { city: 'Ulm' });

  expect(await workspace.sync()).toMatchObject({
    status: 'succeeded',
    created: nothing,
    updated: { leads: 1, rows: 1 },
  });
  expect(workspace.sandbox.leads.get(first)?.city).toBe('Jena');
  change(workspace, (parts) => {
    expect(textOf(parts, sheetPart)).toContain('>Ulm<');
    expect(textOf(parts, 'xl/worksheets/copy.xml')).toBe(copy);
    return {};
  });
  expect(await workspace.sync()).toMatchObject({ status: 'succeeded', updated: nothing });
});

test('a sheet that another connection keeps is not taken for that of a connection that names none', async () => {
  await using workspace = await Workspace.open({ sandbox: { leads: 8 } });
  pointTo(workspace, './leads.xlsx');
  await workspace.sync();
  copyToFront(workspace);
  change(workspace, (parts) => {
    const other = textOf(parts, 'docProps/custom.xml').replaceAll('&quot;main&quot;', '&quot;other&quot;');
    expect(other).toContain('&quot;other&quot;');
    return { 'docProps/custom.xml': other };
  });
  workspace.sandbox.leads.edit(idOf(workspace, 0), { city: 'Ulm' });
  await workspace.sync();
  change(workspace, (parts) => {
    expect(textOf(parts, 'xl/worksheets/copy.xml')).toContain('>Ulm<');
    return {};
  });
});

test('of two sheets with the mark of the connection the one that was marked last is used', async () => {
  await using workspace = await Workspace.open({ sandbox: { leads: 8 } });
  const id = idOf(workspace, 0);
  workspace.sandbox.leads.edit(id, { city: 'Aachen' });
  pointTo(workspace, './leads.xlsx');
  await workspace.sync();
  copyToFront(workspace);
  change(workspace, (parts) => {
    const custom = textOf(parts, 'docProps/custom.xml');
    const [own = ''] = /<property [^>]*name="leadsync Leads".*?<\/property>/s.exec(custom) ?? [];
    const older = own
      .replace('leadsync Leads', 'leadsync Leads (2)')
      .replace(/pid="\d+"/, 'pid="99"')
      .replace(/generation&quot;:\d+/, 'generation&quot;:0');
    expect(older).toContain('generation&quot;:0');
    return {
      'docProps/custom.xml': custom.replace(own, older + own),
      [sheetPart]: textOf(parts, sheetPart).replace('>Aachen<', '>Jena<'),
    };
  });
  expect(await workspace.sync()).toMatchObject({ updated: { leads: 1, rows: 0 } });
  expect(workspace.sandbox.leads.get(id)?.city).toBe('Jena');
});
