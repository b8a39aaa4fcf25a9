import { execFile } from 'node:child_process';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { markText, readMark } from '../../src/core/lead/table-mark.ts';
import { anna, bert, headings, never, readAll, update, withRows } from '../contract/target-harness.ts';
import { makeXlsxHarness, type XlsxHarness } from '../contract/xlsx-harness.ts';
import { LibreOffice } from './judge/libreoffice.ts';

const run = promisify(execFile);

const first = { keeper: '0d0b4f6f', connection: 'main', generation: 7, nonce: 'c0ffee' };
const second = { ...first, generation: 8, nonce: 'decaf' };
const customType = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships/custom-properties';
const own = 'http://schemas.openxmlformats.org/officeDocument/2006/custom-properties';
const types = 'http://schemas.openxmlformats.org/officeDocument/2006/docPropsVTypes';

async function mark(harness: XlsxHarness, wanted: typeof first, from: string, to: string): Promise<void> {
  const change = update('id-a', { city: from }, { city: to });
  const text = markText(wanted);
  const outcomes = await harness.target().write([change], never(), { text, arrived: () => undefined });
  expect(outcomes).toMatchObject([{ status: 'done' }]);
}

async function marked(harness: XlsxHarness) {
  return readMark((await harness.target().open({ create: false }, never())).mark ?? null);
}

/** A workbook with properties of its user. */
function withProperties(harness: XlsxHarness, part: string, name = 'docProps/custom.xml'): void {
  const parts = harness.parts();
  const relation = `<Relationship Id="rId9" Type="${customType}" Target="/${name}"/>`;
  const override = `<Override PartName="/${name}" ContentType="application/vnd.openxmlformats-officedocument.custom-properties+xml"/>`;
  harness.write({
    ...parts,
    '_rels/.rels': (parts['_rels/.rels'] ?? '').replace('</Rel', `${relation}</Rel`),
    '[Content_Types].xml': (parts['[Content_Types].xml'] ?? '').replace('</Types', `${override}</Types`),
    [name]: part,
  });
}

const inWorkbook = (body: (harness: XlsxHarness) => Promise<void>) =>
  withRows(makeXlsxHarness, [headings, anna, bert], body);

test('properties of the user stay byte for byte, whatever prefix and part they have', () =>
  inWorkbook(async (harness) => {
    const mine = `<p:property fmtid="{D5CDD505-2E9C-101B-9397-08002B2CF9AE}" pid="7" name="leadsync"><t:lpwstr>mine &amp; "so"</t:lpwstr></p:property>`;
    const before = `<?xml version="1.0"?>\n<p:Properties xmlns:p="${own}" xmlns:t="${types}"><!-- kept -->${mine}`;
    const name = 'customProps/my.xml';
    withProperties(harness, `${before}</p:Properties>`, name);
    const { [name]: _, ...others } = harness.parts();
    await mark(harness, first, 'Aachen', 'Rome');
    await mark(harness, second, 'Rome', 'Oslo');
    expect(await marked(harness)).toEqual(second);
    const { [name]: after = '', ...now } = harness.parts();
    expect(after.startsWith(before)).toBe(true);
    expect(after.match(/<p:property /g)).toHaveLength(2);
    expect(after).toContain('pid="8" name="leadsync Leads"><t:lpwstr>');
    for (const part of ['[Content_Types].xml', '_rels/.rels']) expect(now[part]).toBe(others[part]);
  }));

test('a list of properties without any, as Gnumeric writes it, gets one', () =>
  inWorkbook(async (harness) => {
    withProperties(harness, `<Properties xmlns="${own}" xmlns:vt="${types}"/>`);
    await mark(harness, first, 'Aachen', 'Rome');
    expect(await marked(harness)).toEqual(first);
    expect(harness.parts()['docProps/custom.xml']).toMatch(
      /^<Properties [^>]*>\s*<property .*<\/Properties>$/s,
    );
  }));

test('each sheet has a mark of its own', () =>
  inWorkbook(async (harness) => {
    const parts = harness.parts();
    await mark(harness, first, 'Aachen', 'Rome');
    const renamed = (harness.parts()['xl/workbook.xml'] ?? '').replace('"Leads"', '"Käufer &amp; Co"');
    harness.write({ ...harness.parts(), 'xl/workbook.xml': renamed });
    expect(await marked(harness)).toBeNull();
    await mark(harness, second, 'Rome', 'Oslo');
    expect(await marked(harness)).toEqual(second);
    harness.write({ ...harness.parts(), 'xl/workbook.xml': parts['xl/workbook.xml'] ?? '' });
    expect(await marked(harness)).toEqual(first);
  }));

test('LibreOffice keeps the mark, by way of its own format too', { tags: 'soffice' }, () =>
  inWorkbook(async (harness) => {
    await mark(harness, first, 'Aachen', 'Rome');
    await using office = await LibreOffice.start();
    const sheet = `${await office.convert([harness.path], 'ods')}/leads.ods`;
    writeFileSync(harness.path, readFileSync(`${await office.convert([sheet], 'xlsx')}/leads.xlsx`));
    expect(await marked(harness)).toEqual(first);
    expect((await readAll(harness.target()))[0]?.cells['city']).toBe('Rome');
    await mark(harness, second, 'Rome', 'Oslo');
    expect(await marked(harness)).toEqual(second);
  }),
);

test('Gnumeric keeps the mark; CSV on the way loses it', { tags: 'ssconvert' }, () =>
  inWorkbook(async (harness) => {
    await mark(harness, first, 'Aachen', 'Rome');
    const through = async (...endings: string[]): Promise<void> => {
      let from = harness.path;
      for (const ending of endings) {
        const to = `${harness.folder}/saved.${ending}`;
        await run('ssconvert', [from, to]);
        from = to;
      }
      renameSync(from, harness.path);
    };
    await through('ods', 'xlsx');
    expect(await marked(harness)).toEqual(first);
    await through('csv', 'xlsx');
    expect(await marked(harness)).toBeNull();
    await mark(harness, second, 'Rome', 'Oslo');
    expect(await marked(harness)).toEqual(second);
  }),
);
