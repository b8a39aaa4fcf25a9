/**
 * 100,000 rows by 8 columns: create, read, 1,000 changes; time and peak memory of our target beside hucre alone.
 *
 *     npx node bench/xlsx.ts [rows]
 *
 * Every job runs in a process of its own, so that the peak of one is not that of another.
 */
import { execFile } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { openXlsx, saveXlsx, streamXlsxRows, writeXlsxStream } from 'hucre/xlsx';
import { defaultFields } from '../src/core/lead/mapping.ts';
import type { Values } from '../src/core/lead/value.ts';
import type { RowChange, Target } from '../src/ports/target.ts';
import { createXlsxTarget } from '../src/targets/xlsx/xlsx-target.ts';
import { localPlace } from '../src/targets/local/local-place.ts';

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
  createXlsxTarget(localPlace(path), {
    fields: defaultFields,
    idColumn: 'Lead ID',
    statusColumn: 'Sync',
    timeZone: 'Europe/Berlin',
  });

async function write(to: Target, changes: readonly RowChange[]): Promise<void> {
  const outcomes = await to.write(changes, signal);
  if (outcomes.some(({ status }) => status !== 'done')) throw new Error('a change was not done');
}

const everyHundredth = (rows: number) =>
  Array.from({ length: changed }, (_, n) => Math.floor((n * rows) / changed));

const jobs: Record<string, (path: string, rows: number) => Promise<void>> = {
  async 'leadsync create'(path, rows) {
    const to = target(path);
    await to.open({ create: true }, signal);
    for (let from = 0; from < rows; ) {
      const changes = Array.from({ length: Math.min(to.batchSize, rows - from) }, (_, at) => {
        const n = from + at;
        return { kind: 'append', key: String(n), leadId: `id-${n}`, values: lead(n) } as const;
      });
      await write(to, changes);
      from += changes.length;
    }
  },
  async 'leadsync read'(path, rows) {
    let seen = 0;
    const snapshot = await target(path).open({ create: false }, signal);
    for await (const batch of snapshot.rows) seen += batch.length;
    if (seen !== rows) throw new Error(`${seen} rows were read`);
  },
  'leadsync 1,000 changes': (path, rows) =>
    write(
      target(path),
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

interface Figures {
  readonly ms: number;
  /** Kilobytes. */
  readonly peak: number;
  /** The longest time that no timer could run, in milliseconds. */
  readonly held: number;
}

const script = fileURLToPath(import.meta.url);

async function inOwnProcess(name: string, path: string, rows: number): Promise<Figures> {
  const { stdout } = await promisify(execFile)(process.execPath, [script, 'job', name, path, String(rows)]);
  return JSON.parse(stdout) as Figures;
}

async function measure(rows: number): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'leadsync-bench-'));
  const fileOf = (program: string) => join(folder, `${program}.xlsx`);
  const print = async (label: string, { ms, peak, held }: Figures, file: string) => {
    const megabytes = (await stat(file)).size / 1e6;
    const cells = [(ms / 1000).toFixed(1), (peak / 1024).toFixed(0), held.toFixed(0), megabytes.toFixed(1)];
    process.stdout.write(`| ${label} | ${cells.join(' | ')} |\n`);
  };
  try {
    process.stdout.write(
      `| ${rows} rows x 8 columns | s | peak memory, MB | event loop held, ms | file, MB |\n`,
    );
    process.stdout.write('|---|---|---|---|---|\n');
    for (const name of Object.keys(jobs)) {
      const file = fileOf(name.split(' ')[0] ?? '');
      await print(name, await inOwnProcess(name, file, rows), file);
    }
    await print(
      'leadsync reads the file of hucre',
      await inOwnProcess('leadsync read', fileOf('hucre'), rows),
      fileOf('hucre'),
    );
    await print(
      'hucre reads the file of leadsync',
      await inOwnProcess('hucre read', fileOf('leadsync'), rows),
      fileOf('leadsync'),
    );
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function runJob(name: string, path: string, rows: number): Promise<Figures> {
  const job = jobs[name];
  if (job === undefined) throw new Error(`no job ${name}`);
  let [held, last] = [0, performance.now()];
  const look = () => {
    const now = performance.now();
    held = Math.max(held, now - last - 10);
    last = now;
  };
  const beat = setInterval(look, 10);
  const began = performance.now();
  await job(path, rows);
  const ms = performance.now() - began;
  look();
  clearInterval(beat);
  return { ms, held, peak: process.resourceUsage().maxRSS };
}

const [, , first, name = '', path = '', rows] = process.argv;
if (first === 'job') process.stdout.write(JSON.stringify(await runJob(name, path, Number(rows))));
else await measure(Number(first ?? 100_000));
