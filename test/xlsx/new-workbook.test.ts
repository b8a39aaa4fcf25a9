import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { unzipSync } from 'fflate';
import { expect, test } from 'vitest';
import { createXlsxTarget } from '../../src/targets/xlsx/xlsx-target.ts';
import { localPlace } from '../../src/targets/local/local-place.ts';

const never = new AbortController().signal;

test('a new workbook offers the configured values as a list, and takes others with a warning', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'leadsync-xlsx-new-'));
  try {
    const path = join(folder, 'new.xlsx');
    const target = createXlsxTarget(localPlace(path), {
      idColumn: 'Lead ID',
      timeZone: 'UTC',
      fields: [
        { field: 'companyName', column: 'Company', type: 'text', direction: 'two-way' },
        {
          field: 'stage',
          column: 'Stage',
          type: 'text',
          direction: 'two-way',
          values: ['new', '"hot" & <won>'],
        },
        // Words of a table may be more than a list within a rule holds: they are left out.
        ...[['Wien, Linz'], ['x'.repeat(256)]].map((values, at) => ({
          field: `own${at}`,
          column: `Own ${at}`,
          type: 'text' as const,
          direction: 'two-way' as const,
          values,
        })),
      ],
    });
    await target.open({ create: true }, never);
    const part = unzipSync(await readFile(path))['xl/worksheets/sheet1.xml'];
    const sheet = new TextDecoder().decode(part);
    expect(sheet).toContain(
      '</sheetData><dataValidations count="1"><dataValidation type="list" errorStyle="warning" allowBlank="1" showErrorMessage="1" sqref="C2:C1048576"><formula1>&quot;new,&quot;&quot;hot&quot;&quot; &amp; &lt;won&gt;&quot;</formula1></dataValidation></dataValidations><pageSetup',
    );
    // It is still a table that rows can be added to.
    const append = {
      kind: 'append',
      key: 'a',
      leadId: '1',
      values: { companyName: 'Acme', stage: 'other' },
    } as const;
    expect(await target.write([append], never)).toEqual([{ key: 'a', status: 'done', row: 2 }]);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
