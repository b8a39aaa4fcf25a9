/**
 * Nights of a workbook with 100,000 rows on a local disk and on Apache (mod_dav) of the same machine: time and peak memory of
 * `leadsync sync`. With a number of MB, a picture of that size lies in the workbook.
 *
 *     npx node bench/webdav.ts [rows] [MB]
 *
 * The command runs in a process of its own with a Postgres of its own; Apache is another process, the Leads service is in this
 * one. The picture is put in by the program `zip`.
 */
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmodSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Sandbox, startSandbox } from '../src/demo/sandbox.ts';
import { startApache } from '../test/support/apache.ts';
import { measureSync } from './measure-sync.ts';

const [rows, megabytes] = [Number(process.argv[2] ?? 100_000), Number(process.argv[3] ?? 0)];
const folder = await mkdtemp(join(tmpdir(), 'leadsync-bench-'));
try {
  await using apache = await startApache();
  print('| place | night | s | peak memory, MB | file, MB | load |');
  print('|---|---|---|---|---|---|');
  await nights('local disk', join(folder, 'leads.xlsx'), join(folder, 'leads.xlsx'));
  await nights('WebDAV', `${apache.origin}/open/leads.xlsx`, join(apache.folder, 'leads.xlsx'));
} finally {
  await rm(folder, { recursive: true, force: true });
}

/** `file`: what lies at the address. */
async function nights(place: string, address: string, file: string): Promise<void> {
  await using service = await startSandbox({ leads: rows });
  const home = await mkdtemp(join(folder, 'home-'));
  const env = {
    // oxlint-disable-next-line node/no-process-env -- to find programs by
    PATH: process.env['PATH'],
    HOME: home,
    LEADS_BASE_URL: service.url,
    LEADS_API_KEY: service.apiKey,
    TARGET: address,
    DATA_DIR: join(home, 'data'),
    LOG_LEVEL: 'warn',
  };
  const night = async (name: string): Promise<void> => {
    const { report, seconds, peak } = await measureSync(home, env);
    if (report.status !== 'succeeded') throw new Error(`${name}: ${JSON.stringify(report)}`);
    const size = (statSync(file).size / 1e6).toFixed(1);
    const load = (loadavg()[0] ?? 0).toFixed(1);
    print(`| ${[place, name, seconds.toFixed(1), Math.round(peak / 1024), size, load].join(' | ')} |`);
  };
  await night('first sync');
  if (megabytes > 0) addPicture(file, home);
  // The first look at a file that somebody saved.
  if (megabytes > 0) await night(`${megabytes} MB more in the file`);
  await night('nothing changed');
  changeOneInHundred(service);
  await night('1 % changed');
  await night('nothing changed');
}

function addPicture(file: string, home: string): void {
  mkdirSync(join(home, 'xl', 'media'), { recursive: true });
  writeFileSync(join(home, 'xl/media/picture.png'), randomBytes(megabytes * 1_000_000));
  execFileSync('zip', ['-q', '-0', file, 'xl/media/picture.png'], { cwd: home });
  chmodSync(file, 0o666);
}

function changeOneInHundred({ leads }: Sandbox): void {
  for (const [at, { id }] of leads.list().entries())
    if (at % 100 === 0) leads.edit(id, { city: `Changed ${at}` });
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
