import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { strFromU8, strToU8, unzipSync, zipSync } from 'fflate';
import { expect, test } from 'vitest';
import { Workspace } from '../../support/workspace.ts';

const part = 'xl/worksheets/sheet1.xml';

/** Changes the sheet of the workbook as another program does. */
function change(here: Workspace, edit: (sheet: string) => string): void {
  const path = join(here.folder, 'leads.xlsx');
  const parts = unzipSync(readFileSync(path));
  parts[part] = strToU8(edit(strFromU8(parts[part] ?? new Uint8Array())));
  writeFileSync(path, zipSync(parts));
}

const textCell = (place: string, text: string): string =>
  `<c r="${place}" t="inlineStr"><is><t xml:space="preserve">${text}</t></is></c>`;

test.each(['restore', 'delete-lead'] as const)(
  'xlsx: rows are cut and pasted into one cell (%s): every night stops and says where; a note that names one holds it',
  async (onRowDeleted) => {
    const target = { path: './leads.xlsx' };
    await using here = await Workspace.open({
      sandbox: { leads: 6 },
      connection: { target, sync: { onRowDeleted } },
    });
    await here.sync();
    const ids = here.sandbox.leads.list().map(({ id }) => id);
    let whole = '';
    const without = (rows: readonly number[], cell: string): void =>
      change(here, (sheet) => {
        whole = whole === '' ? sheet : whole;
        const left = whole.replaceAll(/<row r="(\d+)".*?<\/row>/gs, (row, number) =>
          rows.includes(Number(number)) ? '' : row,
        );
        return left.replace(/(<row r="2".*?)<\/row>/s, `$1${cell}</row>`);
      });
    const untouched = { created: { leads: 0, rows: 0 }, deleted: { leads: 0, rows: 0 } };

    without([5, 6], textCell('Z2', `${ids[3]}\tFirm\tUlm\n${ids[4]}\tFirm\tBonn`));
    for (let night = 0; night < 3; night++) {
      const report = await here.sync();
      expect(report).toMatchObject({
        status: 'stopped',
        ...untouched,
        problems: [{ code: 'guard.misread' }],
      });
      expect(report.problems[0]?.message).toContain('Z2');
    }
    without([5], textCell('Z2', `see ${ids[3]}`));
    for (let night = 0; night < 3; night++)
      expect(await here.sync()).toMatchObject({
        status: 'partial',
        ...untouched,
        problems: [{ code: 'row.in-cell', leadId: ids[3] }],
      });
    without([], textCell('Z2', `see ${ids[3]}`));
    expect(await here.sync()).toMatchObject({ status: 'succeeded', ...untouched });
    expect(here.sandbox.leads.size).toBe(6);
  },
);
