import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { appendFileSync, readFileSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { systemClock } from '../../../src/ports/clock.ts';
import { CompanyListing } from '../../../src/targets/hubspot/company-listing.ts';
import { HubSpotApi } from '../../../src/targets/hubspot/hubspot-api.ts';
import { HubSpotHttp } from '../../../src/targets/hubspot/hubspot-http.ts';
import { lockFile, lockPathOf } from '../../../src/targets/local/file-lock.ts';
import { assertNotOpenInEditor } from '../../../src/targets/local/local-place.ts';
import { createPostgresTableTarget } from '../../../src/targets/postgres/postgres-table-target.ts';
import { Secret } from '../../../src/config/secret.ts';
import { Workspace } from '../../support/workspace.ts';
import { json, never, startServer } from '../leads-api/leads-api-server.ts';

/** What a terminal takes for a command, in 7 and in 8 bits, and what turns the direction of writing. */
const commands = ['\u001b]0;owned\u0007', '\u009b2J', '\u202e'];

test('ids that cannot be stored or shown are held, and harm no other row; no command gets to the terminal', async () => {
  await using workspace = await Workspace.open({ sandbox: { leads: 2 } });
  await workspace.sync();
  const rest = ','.repeat(Object.keys(workspace.sheet.rows()[0] ?? {}).length - 1);
  // One that begins with a sign is a note.
  const ids = [`x${randomBytes(6_000).toString('base64')}`, `x${commands.join('y')}`];
  appendFileSync(workspace.sheet.path, ids.map((id) => `${id}${rest}\r\n`).join(''));
  const [edited = { id: '' }] = workspace.sandbox.leads.list();
  workspace.sheet.edit((row) => row['Lead ID'] === edited.id, { City: commands.join('z') });
  workspace.sandbox.leads.edit(edited.id, { city: 'Ulm' });
  const { problems } = await workspace.sync();
  expect(problems.map(({ code }) => code).toSorted()).toEqual([
    'conflict.both-edited',
    'row.orphan',
    'row.orphan',
  ]);
  const [shown, asJson] = await Promise.all([
    workspace.cli('conflicts'),
    workspace.cli('conflicts', '--json'),
  ]);
  for (const { stdout, stderr } of [shown, asJson]) {
    expect(stdout.length).toBeLessThan(5_000);
    expect(stdout + stderr).not.toMatch(/[^\P{Cc}\n\t]|\p{Bidi_Control}/u);
  }
  // Escaped or not, it is the same JSON.
  expect(JSON.stringify(asJson.json())).toContain(JSON.stringify(commands.join('z')).slice(1, -1));
});

test('a row of as many cells as fit into its bytes is refused before it fills the memory', async () => {
  await using workspace = await Workspace.open();
  await workspace.sync();
  appendFileSync(workspace.sheet.path, `x${','.repeat(4_000_000)}\r\n`);
  const before = process.memoryUsage().rss;
  expect((await workspace.sync()).problems).toMatchObject([{ code: 'target.unreadable' }]);
  expect(process.memoryUsage().rss - before).toBeLessThan(200_000_000);
});

test('a Postgres table of more than fits into the memory is not read', async () => {
  await using workspace = await Workspace.open();
  await workspace.database.pool.query(
    `create table public.big as select n::text as lead_id, repeat('x', 3000) as company from generate_series(1, 10) n`,
  );
  const read = async (mostBytes: number): Promise<number> => {
    const target = createPostgresTableTarget({
      url: new Secret(workspace.database.url),
      table: 'public.big',
      idColumn: 'lead_id',
      fields: [{ field: 'companyName', column: 'company', type: 'text', direction: 'two-way' }],
      timeZone: 'UTC',
      isZoneSet: true,
      mostBytes,
    });
    const { rows } = await target.open({ create: false, purpose: 'test' }, never);
    let count = 0;
    for await (const batch of rows) count += batch.length;
    return count;
  };
  expect(await read(40_000)).toBe(10);
  await expect(read(30_000)).rejects.toMatchObject({ code: 'target.too-large', retry: 'never' });
});

test.each([
  ['empty pages', 0],
  ['companies', 2],
])('a list of HubSpot that never ends with its %s is given up', async (_name, perPage) => {
  await using server = await startServer((response, _request, count) => {
    const results = Array.from({ length: perPage }, (_, n) => ({ id: `${count}${n}`, properties: {} }));
    json(response, 200, { results, paging: { next: { after: String(count) } } });
  });
  await using http = new HubSpotHttp({
    apiUrl: server.url,
    accessToken: new Secret('token'),
    idColumn: 'lead_id',
    fields: [],
    timeZone: 'UTC',
    clock: systemClock,
  });
  const listing = new CompanyListing(systemClock, false, 5_500);
  const api = new HubSpotApi(http, never);
  await expect(listing.read('test', [], () => true, api)).rejects.toMatchObject({
    code: 'target.too-large',
    retry: 'never',
  });
  expect(server.seen).toHaveLength(perPage === 0 ? 6 : 4);
});

test('what others put in the place of a lock is not read to its end, waited for, or written through', async () => {
  await using workspace = await Workspace.open();
  const path = join(workspace.folder, 'a.csv');
  const secret = join(workspace.folder, 'secret');
  writeFileSync(secret, 'untouched');
  utimesSync(secret, 1, 1);
  const makers = [
    (at: string) => symlinkSync('/dev/zero', at),
    (at: string) => symlinkSync(secret, at),
    (at: string) => symlinkSync(join(workspace.folder, 'not-there'), at),
    (at: string) => void execFileSync('mkfifo', [at]),
  ];
  for (const make of makers) {
    make(lockPathOf(path));
    // Nobody holds it, so it is taken over at once, or after its silence.
    await lockFile(path).then(
      (lock) => lock[Symbol.asyncDispose](),
      () => execFileSync('rm', [lockPathOf(path)]),
    );
  }
  expect(readFileSync(secret, 'utf8')).toBe('untouched');
  execFileSync('mkfifo', [join(workspace.folder, '~$a.csv')]);
  await expect(assertNotOpenInEditor(path)).rejects.toMatchObject({ name: 'LeadsyncError' });
});
