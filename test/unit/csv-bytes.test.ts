import { statSync, utimesSync } from 'node:fs';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { RowChange } from '../../src/ports/target.ts';
import { makeCsvHarness, withFile } from '../contract/csv-harness.ts';
import { append, link, mark, readAll, remove, status, update, verdict } from '../contract/target-harness.ts';

const signal = new AbortController().signal;

/** What a file becomes by changes that must all be done. */
async function after(content: string, ...changes: RowChange[]): Promise<string> {
  await using harness = await makeCsvHarness();
  harness.write(content);
  const outcomes = await harness.target({ statusColumn: 'Sync' }).write(changes, signal);
  expect(outcomes.map((outcome) => outcome.status)).toEqual(changes.map(() => 'done'));
  return harness.read();
}

/** What a file becomes by adding a row to it with each of several writes of one target, and in which row each stands. */
async function grown(content: string, ...ids: string[]): Promise<{ text: string; rows: unknown[] }> {
  await using harness = await makeCsvHarness();
  harness.write(content);
  const target = harness.target({ statusColumn: 'Sync' });
  const rows: unknown[] = [];
  for (const id of ids) rows.push(...(await target.write([append(id, { city: 'Oslo' })], signal)));
  return { text: harness.read(), rows: rows.map((outcome) => (outcome as { row?: number }).row) };
}

const rome = update('a', { city: 'Bonn' }, { city: 'Rome' });

describe('bytes of a CSV file', () => {
  test('a new file: UTF-8 with a byte order mark, CRLF, commas', async () => {
    await using harness = await makeCsvHarness();
    await harness.target({ statusColumn: 'Sync' }).open({ create: true }, signal);
    expect(harness.read()).toBe('\uFEFFLead ID,Company,City,Next follow-up,Sync\r\n');
  });

  test.each(['', '\uFEFF', '\n', '\r\n \r\n', '\uFEFF\n'])(
    'an existing file without content (%j) gets headings',
    (content) =>
      withFile(content, async (harness) => {
        expect(await harness.target().open({ create: true }, signal)).toMatchObject({ created: true });
        expect(harness.read()).toBe('\uFEFFLead ID,Company,City,Next follow-up\r\n');
      }),
  );

  test.each([
    ['rows', 'Lead ID;City\nx;Bonn\n', 'n;Oslo\nm;Oslo\nö;Oslo\n', '', [3, 4, 5]],
    ['no row', 'Lead ID,City\r\n', 'n,Oslo\r\nm,Oslo\r\nö,Oslo\r\n', '', [2, 3, 4]],
    ['no line end', 'Lead ID;City\nx;Bonn', '\nn;Oslo\nm;Oslo\nö;Oslo\n', '', [3, 4, 5]],
    [
      'no line at all',
      'Lead ID,Company,City,Next follow-up',
      '\r\nn,,Oslo,\r\nm,,Oslo,\r\nö,,Oslo,\r\n',
      '',
      [2, 3, 4],
    ],
    ['blank lines at the end', 'Lead ID;City\nx;Bonn\n', 'n;Oslo\nm;Oslo\nö;Oslo\n', '\n;\n', [3, 4, 5]],
    ['all quoted', '"Lead ID";"City"\n', '"n";"Oslo"\n"m";"Oslo"\n"ö";"Oslo"\n', '', [2, 3, 4]],
    ['a line end in a cell', 'Lead ID;City\nx;"B\nonn"\n', 'n;Oslo\nm;Oslo\nö;Oslo\n', '', [3, 4, 5]],
  ])(
    'rows that are added one write after the other stand as if at once: %s',
    async (_, head, added, tail, rows) => {
      expect(await grown(head + tail, 'n', 'm', 'ö')).toEqual({ text: head + added + tail, rows });
    },
  );

  test.each([',', ';', '\t', '|'])(
    'delimiter %j, line ends and byte order mark are kept',
    async (delimiter) => {
      for (const lineEnd of ['\r\n', '\n', '\r']) {
        for (const bom of ['', '\uFEFF']) {
          const file = (...rows: string[][]) =>
            bom + rows.map((row) => row.join(delimiter) + lineEnd).join('');
          const [header, other] = [
            ['Lead ID', 'City', '"My, own"'],
            ['b', 'Linz', '"ü"'],
          ];
          expect(
            await after(file(header, ['a', 'Bonn', ''], other), rome, append('n', { city: 'Oslo' })),
          ).toBe(file(header, ['a', 'Rome', ''], other, ['n', 'Oslo', '']));
        }
      }
    },
  );

  test('each changed cell keeps its own quoting; all others keep every byte', async () => {
    const file = 'Lead ID,City,Company,Own\na,"Bonn",Ärger 😀 ,"1""2"\n\n , ,,=SUM(A1)\nb,Linz,"x\r\ny",\n';
    expect(await after(file, rome)).toBe(file.replace('"Bonn"', '"Rome"'));
    expect(await after(file, update('b', {}, { name: 'x,y', city: 'L"z' }))).toBe(
      file.replace('b,Linz,"x\r\ny"', 'b,"L""z","x,y"'),
    );
  });

  test('a file in which all is quoted stays so', async () => {
    const file = '"Lead ID","City","Own"\n"a","Bonn","1"\n';
    expect(await after(file, rome, append('n', {}))).toBe(
      '"Lead ID","City","Own"\n"a","Rome","1"\n"n","",""\n',
    );
    const headingsOnly = '"Lead ID","City"\na,Bonn\n';
    expect(await after(headingsOnly, append('n', {}))).toBe('"Lead ID","City"\na,Bonn\nn,\n');
  });

  test('a missing line end at the end stays missing, until rows come after it', async () => {
    const file = 'Lead ID,City\r\nb,Linz\r\na,Bonn';
    expect(await after(file, rome)).toBe('Lead ID,City\r\nb,Linz\r\na,Rome');
    expect(await after(file, append('n', {}))).toBe('Lead ID,City\r\nb,Linz\r\na,Bonn\r\nn,\r\n');
    expect(await after(file, remove('a', {}), append('n', {}))).toBe('Lead ID,City\r\nb,Linz\r\nn,\r\n');
    const all = 'Lead ID,Company,City,Next follow-up';
    expect(await after(all, append('n', {}))).toBe(`${all}\r\nn,,,\r\n`);
  });

  test('new rows go before blank lines at the end', async () => {
    expect(await after('Lead ID,City\na,Bonn\n,\n\n', append('n', {}))).toBe(
      'Lead ID,City\na,Bonn\nn,\n,\n\n',
    );
  });

  test('rows that are too short or too long are kept, and a short one is filled up as far as needed', async () => {
    const file = 'Lead ID,City,Company,Own,Sync\na\nb,Linz,B,1,,extra,cells\n';
    expect(await after(file, update('a', {}, { city: null, name: 'A' }))).toBe(file.replace('a\n', 'a,,A\n'));
    const whole = update('a', {}, { city: 'Bonn', name: null });
    expect(await after(file, whole, mark('a', {}, '-'))).toBe(file.replace('a\n', "a,Bonn,,,'-\n"));
    expect(await after('City,Lead ID\nBonn\n', link('a', { city: 'Bonn' }))).toBe('City,Lead ID\nBonn,a\n');
  });

  test('cells that a short row does not show are never made empty on the way to others', () =>
    withFile('Lead ID,City,Company,Own,Sync\na\n', async (harness) => {
      const target = harness.target({ statusColumn: 'Sync' });
      const changes = [update('a', {}, { name: 'A' }), mark('a', {}, 'gone'), status('a', 'in step')];
      const outcomes = await target.write(changes, signal);
      expect(outcomes.map(verdict)).toEqual(changes.map(() => 'target.cell-not-writable'));
      expect(harness.read()).toBe('Lead ID,City,Company,Own,Sync\na\n');
    }));

  test('a cell that a short row does not show is not taken for one that was emptied as it should be', () =>
    withFile('Lead ID,Company,City\na,A\nb,B\n', async (harness) => {
      const changes = [
        update('a', { city: 'Bonn' }, { city: null }),
        update('b', { name: 'B', city: 'Linz' }, { name: 'B', city: null }),
      ];
      const outcomes = await harness.target().write(changes, signal);
      expect(outcomes.map(verdict)).toEqual(['row.changed', 'row.changed']);
      expect(harness.read()).toBe('Lead ID,Company,City\na,A\nb,B\n');
    }));

  test('mixed line ends are rows as well, and stay', async () => {
    expect(await after('Lead ID,City\r\nb,Linz\na,Bonn\rc,Graz\r\n', rome)).toBe(
      'Lead ID,City\r\nb,Linz\na,Rome\rc,Graz\r\n',
    );
  });

  test('an edit is noticed that keeps the size and sets the time back', async () => {
    let asked = Infinity;
    for (let at = 1; at <= asked; at++) {
      await withFile('Lead ID,City\na,Bonn\nb,Linz\n', async (harness) => {
        utimesSync(harness.path, 1, 1);
        const interrupted = new AbortController().signal;
        asked = 0;
        interrupted.throwIfAborted = () => {
          if (++asked !== at) return;
          harness.write('Lead ID,City\na,Bonn\nb,Graz\n');
          utimesSync(harness.path, 1, 1);
        };
        expect(await harness.target().write([rome], interrupted)).toEqual([{ key: 'a', status: 'done' }]);
        if (at <= asked) expect(harness.read()).toBe('Lead ID,City\na,Rome\nb,Graz\n');
      });
    }
  });

  test('the delimiter is the one that gives the known headings, not the one that gives most cells', async () => {
    const file = 'Lead ID;City;one, two, three, four\na;Bonn;\n';
    expect(await after(file, rome)).toBe(file.replace('Bonn', 'Rome'));
  });

  test('a quote inside an unquoted cell is text', () =>
    withFile('Lead ID,Company\na,12" screen\n', async (harness) => {
      expect((await readAll(harness.target()))[0]?.cells).toEqual({ name: '12" screen' });
    }));

  test('headings and values that start like a formula', async () => {
    const file = 'Lead ID,City\na,=A1\n';
    expect(await after(file, update('a', { city: '=A1' }, { city: '=B1' }))).toBe("Lead ID,City\na,'=B1\n");
    expect(await after(file, update('a', {}, { city: '=A1' }))).toBe(file);
  });

  test('a row that is added while others are changed and taken out says where it stands', () =>
    withFile('Lead ID,City\na,Bonn\nb,Linz\nc,Graz\n\nfoot,note\n', async (harness) => {
      const changes = [remove('a', {}), update('b', {}, { city: 'Rome' }), append('n', {}), append('m', {})];
      const outcomes = await harness.target().write(changes, signal);
      const rows = (await readAll(harness.target())).map(({ leadId, row }) => [leadId, row]);
      expect(rows.slice(0, 4)).toEqual([
        ['b', 2],
        ['c', 3],
        ['n', 4],
        ['m', 5],
      ]);
      expect(outcomes.slice(2)).toEqual([
        { key: 'n', status: 'done', row: 4 },
        { key: 'm', status: 'done', row: 5 },
      ]);
    }));

  test('when nothing changes the file is not written', () =>
    withFile('Lead ID,City,Sync\na,Bonn,gone\n', async (harness) => {
      utimesSync(harness.path, 1, 1);
      const { ino } = statSync(harness.path);
      const changes = [
        update('a', {}, { city: 'Bonn' }),
        update('z', {}, { city: 'x' }),
        mark('a', {}, 'gone'),
      ];
      await harness.target({ statusColumn: 'Sync' }).write(changes, signal);
      expect(statSync(harness.path)).toMatchObject({ ino, mtimeMs: 1000 });
    }));

  test('rows longer than a chunk, and cells cut by its edge, arrive whole', async () => {
    const long = `"${'ä😀"",\n'.repeat(30_000)}"`;
    const rows = Array.from({ length: 2_000 }, (_, n) => `${n},Ort ${n},"ü, ""${n}"""\n`);
    const file = `Lead ID,City,Own\nb,${long},${long}\n${rows.join('')}a,Bonn,${long}\n`;
    expect(await after(file, rome)).toBe(file.replace('a,Bonn', 'a,Rome'));
  });

  test('law: whatever is in the other cells and rows, only the cell that changes changes', async () => {
    await using harness = await makeCsvHarness();
    const plain = fc.string({ unit: fc.constantFrom('a', ' ', "'", '=', 'ü', '😀', ';', '"'), maxLength: 4 });
    const cell = fc.oneof(
      plain.filter((text) => !text.startsWith('"')),
      fc
        .string({ unit: fc.constantFrom('a', ',', '\r', '\n', '"') })
        .map((text) => `"${text.replaceAll('"', '""')}"`),
    );
    const row = fc.array(cell, { minLength: 2, maxLength: 5 }).map((cells) => ['', ...cells].join(','));
    const lineEnd = fc.constantFrom('\r\n', '\n', '\r');
    await fc.assert(
      fc.asyncProperty(fc.array(row), fc.array(row), lineEnd, cell, async (before, behind, end, own) => {
        const file = (city: string) =>
          ['Lead ID,City,Own', ...before, `a,${city},${own}`, ...behind].join(end);
        harness.write(file('Bonn'));
        expect(await harness.target().write([rome], signal)).toEqual([{ key: 'a', status: 'done' }]);
        expect(harness.read()).toBe(file('Rome'));
      }),
    );
  });
});
