import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Formats of files: they know nothing of places. */
const formats = ['src/targets/csv', 'src/targets/xlsx'];

/** What each room of the house imports from others, from the bottom up. */
const rooms: Readonly<Record<string, readonly string[]>> = {
  // Helpers that all rooms may use, but the core.
  'src/lib': [],
  'src/core/lead': [],
  'src/core/merge': ['src/core/lead'],
  // Shares nothing with what it audits.
  'src/core/audit': ['src/core/lead'],
  'src/ports': ['src/core/lead'],
  'src/config': ['src/core/lead'],
  'src/http': ['src/ports'],
  'src/leads-api': ['src/core/lead', 'src/ports', 'src/config', 'src/http'],
  'src/targets/shared': ['src/core/lead', 'src/ports'],
  ...Object.fromEntries(
    formats.map((format) => [
      format,
      ['src/core/lead', 'src/ports', 'src/targets/shared', 'src/targets/file'],
    ]),
  ),
  'src/targets/file': [
    'src/core/lead',
    'src/ports',
    'src/http',
    'src/targets/shared',
    ...formats,
    'src/targets/local',
    'src/targets/webdav',
    'src/targets/msgraph',
    'src/config',
  ],
  // Places know nothing of cells.
  'src/targets/local': ['src/targets/file'],
  'src/targets/remote': ['src/targets/file'],
  'src/targets/webdav': ['src/ports', 'src/http', 'src/targets/file', 'src/targets/remote'],
  'src/targets/msgraph': ['src/ports', 'src/config', 'src/http', 'src/targets/file', 'src/targets/remote'],
  'src/targets/google-sheets': ['src/core/lead', 'src/ports', 'src/http', 'src/targets/shared'],
  'src/targets/hubspot': ['src/core/lead', 'src/ports', 'src/config', 'src/http', 'src/targets/shared'],
  'src/targets/postgres': ['src/core/lead', 'src/ports', 'src/config', 'src/postgres', 'src/targets/shared'],
  'src/postgres': [],
  'src/store': ['src/core/lead', 'src/core/merge', 'src/core/audit', 'src/ports', 'src/postgres'],
  'src/review': ['src/core/lead', 'src/core/merge', 'src/config', 'src/store'],
  'src/sync': [
    'src/core/lead',
    'src/core/merge',
    'src/core/audit',
    'src/ports',
    'src/config',
    'src/postgres',
    'src/store',
    'src/review',
  ],
  'src/queue': ['src/config', 'src/postgres'],
  'src/reminders': ['src/core/lead', 'src/ports', 'src/config', 'src/http', 'src/store'],
  'src/caldav': [
    'src/core/lead',
    'src/ports',
    'src/config',
    'src/http',
    'src/store',
    'src/review',
    'src/reminders',
  ],
  'src/alerts': ['src/ports', 'src/config', 'src/http', 'src/store', 'src/queue', 'src/reminders'],
  'src/ops': [
    'src/core/lead',
    'src/core/merge',
    'src/ports',
    'src/config',
    'src/postgres',
    'src/store',
    'src/review',
    'src/sync',
    'src/queue',
    'src/reminders',
    'src/alerts',
    'jobs',
  ],
  // These two know each other: a job calls the worker, which registers the jobs. Lint forbids cycles of files.
  jobs: ['src/config', 'src/store', 'src/queue', 'src/reminders', 'src/worker'],
  'src/worker': [
    'src/core/lead',
    'src/ports',
    'src/config',
    'src/store',
    'src/sync',
    'src/queue',
    'src/reminders',
    'src/caldav',
    'src/alerts',
    'src/ops',
    'jobs',
  ],
  'src/demo': ['src/core/lead', 'test/stand-ins'],
  'src/setup': ['src/core/lead', 'src/ports', 'src/config', 'src/leads-api', 'src/targets', 'src/reminders'],
  'src/cli': [
    'src/core/lead',
    'src/core/merge',
    'src/ports',
    'src/config',
    'src/store',
    'src/review',
    'src/sync',
    'src/queue',
    'src/reminders',
    'src/caldav',
    'src/alerts',
    'src/ops',
    'src/worker',
    'src/demo',
    'src/postgres',
    'src/setup',
    'jobs',
  ],
};

/** Packages that one room alone knows. */
const packages: Readonly<Record<string, string>> = {
  bullmq: 'src/queue',
  ioredis: 'src/queue',
  '@bull-board': 'src/queue',
  '@googleapis/sheets': 'src/targets/google-sheets',
  'google-auth-library': 'src/targets/google-sheets',
  '@azure/msal-node': 'src/targets/msgraph',
  hono: 'src/ops src/queue',
  nodemailer: 'src/reminders',
  '@xmldom/xmldom': 'src/http',
  'ical.js': 'src/caldav src/reminders',
};

/** Puts the parts together; in no room. */
const builder = 'src/app.ts';

const knowBuilder = ['src/cli', 'src/ops', 'src/worker', 'src/demo', 'jobs'];

const files = ['src', 'jobs'].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => `${folder}/${name}`),
);

const migrations = readdirSync(join(root, 'src/store/migrations')).map(
  (name) => `src/store/migrations/${name}`,
);

test.each(Object.keys(rooms))('%s imports from the rooms below it alone', (room) => {
  const own = files.filter((file) => roomOf(file) === room);
  expect(own).not.toEqual([]);
  const wrong = own.flatMap((file) =>
    imports(file)
      .filter((path) => !mayImport(room, path))
      .map((path) => `${file}: ${path}`),
  );
  expect(wrong).toEqual([]);
});

test('every file is in a room', () => {
  expect(files.filter((file) => roomOf(file) === null)).toEqual([builder]);
});

test('no file imports itself by way of others, not even for a type', () => {
  const left = new Map(files.map((file) => [file, imports(file)] as const));
  for (let before = 0; before !== left.size; ) {
    before = left.size;
    for (const [file, paths] of left) if (!paths.some((path) => left.has(path))) left.delete(file);
  }
  expect([...left.keys()]).toEqual([]);
});

test('baselines move in two files alone: after an outcome, and after a scan', () => {
  const movers = /\b(?:adoptScan|copyPairs|makeKeptMoves|moveBaselines)\b/;
  const moving = files.filter(
    (file) => !file.startsWith('src/store/') && movers.test(readFileSync(join(root, file), 'utf8')),
  );
  expect(moving).toEqual(['src/sync/commit-scan.ts', 'src/sync/commit.ts']);
});

test('pairs are written in one file alone, which keeps what a baseline leaves behind', () => {
  const writing = /\b(?:update|insert into|delete from|truncate|copy)\s+(?:leadsync\.)?pairs\b/i;
  const sources = [...files, ...migrations];
  const others = sources.filter((file) => writing.test(readFileSync(join(root, file), 'utf8')));
  expect(others).toEqual(['src/store/baselines.ts']);
});

// A worker loads a module once for all of its test files: the second file would go without.
test('what test files share registers no hooks as it is loaded', () => {
  const shared = readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' }).filter(
    (file) => file.endsWith('.ts') && !file.endsWith('.test.ts'),
  );
  const hooks = /^(?:before|after)(?:Each|All)\(/m;
  expect(shared.filter((file) => hooks.test(readFileSync(join(root, 'test', file), 'utf8')))).toEqual([]);
});

function mayImport(room: string, path: string): boolean {
  if (!/^(?:src|jobs|test)\//.test(path)) {
    if (room.startsWith('src/core/'))
      return ['node:crypto', 'node:url', 'temporal-polyfill', 'fastest-levenshtein'].includes(path);
    const owner = Object.entries(packages).find(
      ([name]) => path === name || path.startsWith(`${name}/`),
    )?.[1];
    return owner === undefined || owner.split(' ').includes(room);
  }
  const other = roomOf(path);
  if (other === room) return true;
  if (other === 'src/lib') return !room.startsWith('src/core/');
  if (path === builder) return knowBuilder.includes(room);
  return (rooms[room] ?? []).some((known) => path.startsWith(`${known}/`));
}

function roomOf(path: string): string | null {
  return Object.keys(rooms).find((room) => path.startsWith(`${room}/`)) ?? null;
}

/** What a file imports: paths from the root, and packages. */
function imports(file: string): string[] {
  const text = readFileSync(join(root, file), 'utf8');
  return [...text.matchAll(/^(?:import|export)\b[^'"]*?from '([^']+)';|\bimport\('([^']+)'\)/gm)].map(
    ([, one, other]) => {
      const path = one ?? other ?? '';
      return path.startsWith('.') ? join(dirname(file), path) : path;
    },
  );
}
