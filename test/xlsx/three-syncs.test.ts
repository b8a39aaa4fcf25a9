import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { Workspace } from '../support/workspace.ts';
import { corpus } from './corpus/corpus.ts';
import { type CorpusFile, localDate, people, sheetName } from './corpus/content.ts';
import { zip } from './corpus/zip.ts';
import { judgeFeatures } from './judge/features.ts';
import { compareParts, readParts } from './judge/parts.ts';
import { JudgedWorkbook } from './judge/workbook.ts';

const strings = 'xl/sharedStrings.xml';
const full = (await corpus()).filter((file) => file.full);

/** What another program writes that changes nothing but texts. */
function withTexts(workbook: Buffer, texts: Readonly<Record<string, string>>): Buffer {
  const parts = new Map(readParts(workbook));
  let shared = parts.get(strings)?.toString() ?? '';
  for (const [from, to] of Object.entries(texts)) shared = shared.replace(`>${from}<`, `>${to}<`);
  return zip(parts.set(strings, Buffer.from(shared)));
}

describe('three nights of the whole sync, with edits on both sides by day', () => {
  const inEach = async ({ content }: CorpusFile): Promise<void> => {
    await using workspace = await Workspace.open({
      connection: {
        target: { path: './leads.xlsx', statusColumn: 'Sync', timeZone: 'Europe/Berlin' },
        fields: {
          companyName: 'Company',
          city: 'City',
          nextFollowUpAt: { column: 'Next follow-up', type: 'instant' },
        },
        // Of so few leads every change is a large part.
        sync: { limits: { maxChanges: '100%' } },
      },
    });
    const { leads } = workspace.sandbox;
    const path = join(workspace.folder, 'leads.xlsx');
    const [anna, bert, cleo, dora] = people
      .filter(({ id }) => id !== '')
      .map(({ company, city, due }) =>
        leads.add({
          companyName: company,
          city,
          // Berlin is one hour ahead in winter, two in summer.
          nextFollowUpAt: due === '' ? null : berlin(due),
        }),
      );
    if (anna === undefined || bert === undefined || cleo === undefined || dora === undefined)
      throw new Error('four');
    let byHand = withTexts(content, { 'id-a': anna.id, 'id-b': bert.id, 'id-c': cleo.id, 'id-d': dora.id });
    await writeFile(path, byHand);

    // First night: the loose row becomes a lead. By day the service gets an edit and a new lead.
    expect(await workspace.sync()).toMatchObject({
      status: 'succeeded',
      held: 0,
      created: { leads: 1, rows: 0 },
    });
    const loose = leads.list().find(({ companyName }) => companyName === 'Loose Ltd');
    expect(loose?.city).toBe('Leeds');
    leads.edit(anna.id, { city: 'Rome', nextFollowUpAt: '2026-12-24T17:00:00.000Z' });
    const added = leads.add({ companyName: 'New & <One>', city: 'Rome' });

    // Second night; by day a person edits the workbook, and a lead is deleted.
    expect(await workspace.sync()).toMatchObject({
      status: 'succeeded',
      held: 0,
      created: { leads: 0, rows: 1 },
    });
    byHand = withTexts(byHand, { Köln: 'Cologne' });
    await writeFile(path, withTexts(await readFile(path), { Köln: 'Cologne' }));
    leads.remove(bert.id);

    // Third night; a deletion counts when two scans have seen it.
    await workspace.sync();
    expect(await workspace.sync()).toMatchObject({ held: 0 });
    expect(leads.get(cleo.id)?.city).toBe('Cologne');
    const last = await workspace.sync();
    expect(last).toMatchObject({
      status: 'succeeded',
      created: { leads: 0, rows: 0 },
      updated: { leads: 0, rows: 0 },
    });

    const [before, after] = [readParts(byHand), readParts(await readFile(path))];
    const book = new JudgedWorkbook(after);
    const { cells, part } = book.sheet(sheetName);
    const rowOf = (id: string) =>
      [...cells.values()].find(({ column, text }) => column === 'A' && text === id)?.row;
    const cell = (id: string, column: string) => cells.get(`${column}${rowOf(id)}`)?.text;
    expect([cell(anna.id, 'D'), cell(cleo.id, 'D'), cell(added.id, 'B')]).toEqual([
      'Rome',
      'Cologne',
      'New & <One>',
    ]);
    expect([rowOf(loose?.id ?? ''), cell(bert.id, 'J')]).toEqual([6, expect.stringMatching(/^deleted/)]);

    const lost = [...judgeFeatures(before, after, sheetName)].filter(([, { verdict }]) => verdict === 'lost');
    expect(lost).toEqual([]);
    const { changed, ...others } = compareParts(before, after);
    // The mark is a custom property: a part that most workbooks do not have, or one more line in it.
    const { added: parts, ...rest } = others;
    const properties = 'docProps/custom.xml';
    expect(rest).toEqual({ missing: [], reordered: false });
    expect([...parts, ...changed.filter((name) => name === properties)]).toEqual([properties]);
    const lists = parts.length > 0 ? ['[Content_Types].xml', '_rels/.rels'] : [];
    const marked = [properties, ...lists];
    const mayChange = new Set([part, book.workbookPart, ...book.related(part, 'table'), ...marked]);
    expect(changed.filter((name) => !mayChange.has(name))).toEqual([]);
  };
  for (const file of full) test(`${file.name}:`, { tags: file.by ?? [] }, () => inEach(file));
});

function berlin(local: string): string {
  const ahead = /-0[4-9]-|-03-30/.test(local) ? 2 : 1;
  return new Date(localDate(local).getTime() - ahead * 3_600_000).toISOString();
}
