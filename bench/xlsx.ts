/**
 * 100,000 rows by 8 columns: create, read, 1,000 changes; time and peak memory of our target beside hucre alone.
 *
 *     npx node bench/xlsx.ts [rows]
 *
 * Every job runs in a process of its own, so that the peak of one is not that of another.
 */
import { execFile } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { copyFile, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { openXlsx, saveXlsx, streamXlsxRows, writeXlsxStream } from 'hucre/xlsx';
import { defaultFields } from '../src/lead/mapping.ts';
import type { Values } from '../src/lead/value.ts';
import type { RowChange } from '../src/targets/target.ts';
import { createXlsxTarget } from '../src/targets/workbook/xlsx-target.ts';

const changed = 1_000;
const columns = ['Lead ID', ...defaultFields.map(({ column }) => column), 'Sync'];
const lead = (n: number): Values => ({
  companyName: `Company ${n} & Sons`,
  segment: ['Enterprise', 'Mid-market', 'Small'][n % 3] ?? '',
  city: `City ${n % 997}`,
  region: `Region ${n % 17}`,
  stage: ['new', 'qualified', 'won', 'lost'][n % 4] ?? '',
  nextFollowUpAt: new Date(Date.UTC(2026, 10, 21, 8) + (n % 10_000) * 60_000).toISOString(),
});
const signal = new AbortController().signal;

const target = (path: string) =>
  createXlsxTarget({
    path,
    fields: defaultFields,
    idColumn: 'Lead ID',
    statusColumn: 'Sync',
    timeZone: 'Europe/Berlin',
  });

async function write(path: string, changes: readonly RowChange[]): Promise<void> {
  const ours = target(path);
  for (let n = 0; n < changes.length; n += ours.batchSize) {
    const outcomes = await ours.write(changes.slice(n, n + ours.batchSize), signal);
    if (outcomes.some(({ status }) => status !== 'done')) throw new Error('a change was not done');
  }
}

const everyHundredth = (rows: number) =>
  Array.from({ length: changed }, (_, n) => Math.floor((n * rows) / changed));

const jobs: Record<string, (path: string, rows: number) => Promise<void>> = {
  async 'leadsync create'(path, rows) {
    await target(path).open({ create: true }, signal);
    await write(
      path,
      Array.from({ length: rows }, (_, n) => ({
        kind: 'append' as const,
        key: String(n),
        leadId: `id-${n}`,
        values: lead(n),
      })),
    );
  },
  async 'leadsync read'(path, rows) {
    let seen = 0;
    const snapshot = await target(path).open({ create: false }, signal);
    for await (const batch of snapshot.rows) seen += batch.length;
    if (seen !== rows) throw new Error(`${seen} rows were read`);
  },
  'leadsync 1,000 changes': (path, rows) =>
    write(
      path,
      everyHundredth(rows).map((n) => ({
        kind: 'update',
        key: String(n),
        leadId: `id-${n}`,
        expect: { city: lead(n)['city'] ?? null },
        values: { city: 'Rome', nextFollowUpAt: '2027-01-01T00:00:00.000Z' },
      })),
    ),
  async 'hucre create'(path, rows) {
    function* all() {
      for (let n = 0; n < rows; n++) {
        const { nextFollowUpAt, ...texts } = lead(n);
        yield [`id-${n}`, ...Object.values(texts), new Date(nextFollowUpAt ?? 0), null];
      }
    }
    const bytes = writeXlsxStream(all(), { name: 'Leads', columns: columns.map((header) => ({ header })) });
    await pipeline(Readable.from(bytes), createWriteStream(path));
  },
  async 'hucre read'(path, rows) {
    let seen = -1;
    for await (const _ of streamXlsxRows(await readFile(path))) seen++;
    if (seen !== rows) throw new Error(`${seen} rows were read`);
  },
  async 'hucre 1,000 changes'(path, rows) {
    const workbook = await openXlsx(await readFile(path), { readStyles: true });
    const sheet = workbook.sheets[0];
    if (sheet === undefined) throw new Error('no sheet');
    for (const n of everyHundredth(rows)) {
      const row = sheet.rows[n + 1];
      if (row === undefined) throw new Error(`no row ${n}`);
      row[3] = 'Rome';
      const cell = sheet.cells?.get(`${n + 1},3`);
      if (cell !== undefined) cell.value = 'Rome';
    }
    await writeFile(path, await saveXlsx(workbook));
  },
};

async function measure(): Promise<void> {
  const rows = Number(process.argv[2] ?? 100_000);
  const folder = await mkdtemp(join(tmpdir(), 'leadsync-bench-'));
  try {
    const lines = [
      `| ${rows} rows x 8 columns | seconds | peak memory, MB | file, MB |`,
      '|---|---|---|---|',
    ];
    for (const name of Object.keys(jobs)) {
      const path = join(folder, `${name.split(' ')[0]}.xlsx`);
      const script = fileURLToPath(import.meta.url);
      const { stdout } = await promisify(execFile)(process.execPath, [
        script,
        'job',
        name,
        path,
        String(rows),
      ]);
      const { ms, peak } = JSON.parse(stdout) as { ms: number; peak: number };
      const size = (await stat(path)).size;
      lines.push(
        `| ${name} | ${(ms / 1000).toFixed(1)} | ${(peak / 1024).toFixed(0)} | ${(size / 1e6).toFixed(1)} |`,
      );
    }
    // Both kinds of file, each read by the other.
    for (const [reader, file] of [
      ['leadsync', 'hucre'],
      ['hucre', 'leadsync'],
    ] as const) {
      const path = join(folder, `${file}.xlsx`);
      await copyFile(path, join(folder, 'copy.xlsx'));
      const script = fileURLToPath(import.meta.url);
      const job = [script, 'job', `${reader} read`, join(folder, 'copy.xlsx'), String(rows)];
      const { ms, peak } = JSON.parse((await promisify(execFile)(process.execPath, job)).stdout) as {
        ms: number;
        peak: number;
      };
      lines.push(
        `| ${reader} reads the file of ${file} | ${(ms / 1000).toFixed(1)} | ${(peak / 1024).toFixed(0)} | |`,
      );
    }
    process.stdout.write(`${lines.join('\n')}\n`);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function runJob([name = '', path = '', rows = '']: readonly string[]): Promise<void> {
  const job = jobs[name];
  if (job === undefined) throw new Error(`no job ${name}`);
  const began = performance.now();
  await job(path, Number(rows));
  const result = { ms: performance.now() - began, peak: process.resourceUsage().maxRSS };
  process.stdout.write(JSON.stringify(result));
}

await (process.argv[2] === 'job' ? runJob(process.argv.slice(3)) : measure());
