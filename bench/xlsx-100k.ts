/**
 * 100,000 rows of 8 columns: create, read, 1,000 changes. Each step in a process of its own; hucre alone beside it.
 * Run: node bench/xlsx-100k.ts   (needs about 1 GB of memory for hucre's changes; prints a table)
 */
import { execFileSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { FieldMapping } from '../src/lead/mapping.ts';
import { createXlsxTarget } from '../src/targets/workbook/xlsx-target.ts';

const count = 100_000;
const columns = ['Company', 'Segment', 'City', 'Region', 'Stage', 'Next follow-up', 'Employees'];
const fields = columns.map(
  (column): FieldMapping => ({
    field: column,
    column,
    type: column === 'Next follow-up' ? 'instant' : 'text',
    direction: 'two-way',
  }),
);
const values = (n: number) => ({
  Company: `Company ${n} GmbH & Co. KG`,
  Segment: `Segment ${n % 12}`,
  City: `City ${n % 900}`,
  Region: `Region ${n % 16}`,
  Stage: n % 3 === 0 ? 'won' : 'qualified',
  'Next follow-up': new Date(Date.UTC(2026, 0, 1, 8) + n * 60_000).toISOString(),
  Employees: String(n % 5_000),
});
const idOf = (n: number) => `018cd95e-0000-7000-8000-${String(n).padStart(12, '0')}`;
const signal = new AbortController().signal;

async function step(name: string, path: string): Promise<void> {
  const target = createXlsxTarget({ path, fields, idColumn: 'Lead ID', timeZone: 'Europe/Berlin' });
  if (name === 'leadsync create') {
    await target.open({ create: true }, signal);
    for (let from = 0; from < count; from += target.batchSize) {
      const changes = Array.from({ length: target.batchSize }, (_, at) => {
        const leadId = idOf(from + at);
        return { kind: 'append', key: leadId, leadId, values: values(from + at) } as const;
      });
      await target.write(changes, signal);
    }
  } else if (name === 'leadsync read') {
    let rows = 0;
    const snapshot = await target.open({ create: false }, signal);
    for await (const batch of snapshot.rows) rows += batch.length;
    if (rows !== count) throw new Error(`${rows} rows`);
  } else if (name === 'leadsync 1,000 changes') {
    const changes = Array.from({ length: 1_000 }, (_, at) => {
      const leadId = idOf(at * 100);
      return { kind: 'update', key: leadId, leadId, expect: {}, values: { Stage: 'lost' } } as const;
    });
    const outcomes = await target.write(changes, signal);
    if (outcomes.some(({ status }) => status !== 'done')) throw new Error('not all were done');
  } else if (name === 'hucre create') {
    const { writeXlsx } = await import('hucre/xlsx');
    const rows = Array.from({ length: count }, (_, n) => [idOf(n), ...Object.values(values(n))]);
    await writeFile(
      path,
      await writeXlsx({ sheets: [{ name: 'Leads', rows: [['Lead ID', ...columns], ...rows] }] }),
    );
  } else if (name === 'hucre read') {
    const { streamXlsxRows } = await import('hucre/xlsx');
    let rows = 0;
    for await (const row of streamXlsxRows(await readFile(path))) rows += row === undefined ? 0 : 1;
    if (rows < count) throw new Error(`${rows} rows`);
  } else {
    const { openXlsx, saveXlsx } = await import('hucre/xlsx');
    const book = await openXlsx(await readFile(path));
    for (let n = 0; n < 1_000; n++) {
      const row = book.sheets[0]?.rows[1 + n * 100];
      if (row !== undefined) row[5] = 'lost';
    }
    await writeFile(path, await saveXlsx(book));
  }
}

const [, , name, path] = process.argv;
if (name !== undefined && path !== undefined) {
  const started = performance.now();
  let longest = 0;
  let last = started;
  const beat = setInterval(() => {
    longest = Math.max(longest, performance.now() - last - 10);
    last = performance.now();
  }, 10);
  await step(name, path);
  longest = Math.max(longest, performance.now() - last - 10);
  clearInterval(beat);
  const seconds = (performance.now() - started) / 1000;
  const megabytes = process.resourceUsage().maxRSS / 1024;
  const size = statSync(path).size / 1024 / 1024;
  const cells = [seconds.toFixed(1), megabytes.toFixed(0), longest.toFixed(0), size.toFixed(1)];
  process.stdout.write(`| ${name} | ${cells.join(' | ')} |\n`);
} else {
  const folder = mkdtempSync(join(tmpdir(), 'leadsync-bench-'));
  process.stdout.write('| | s | peak RSS, MB | event loop held, ms | file, MB |\n|---|---|---|---|---|\n');
  for (const program of ['leadsync', 'hucre']) {
    for (const what of ['create', 'read', '1,000 changes']) {
      const args = [fileURLToPath(import.meta.url), `${program} ${what}`, join(folder, `${program}.xlsx`)];
      execFileSync(process.execPath, args, { stdio: 'inherit' });
    }
  }
  rmSync(folder, { recursive: true });
}
