import { mkdtempSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { describeProblem } from '../../src/cli/output.ts';
import { replaceFile } from '../../src/cli/out-file.ts';
import {
  approvedLines,
  assertSameSettings,
  readPlanFile,
  refuseToOverwrite,
  writePlanFile,
} from '../../src/cli/plan-file.ts';
import { describePlan } from '../../src/cli/plan-output.ts';
import type { ConnectionConfig } from '../../src/config/config.ts';
import { loadConfig } from '../../src/config/load.ts';
import type { Action } from '../../src/store/actions.ts';
import type { Run } from '../../src/store/runs.ts';
import { failedReport } from '../../src/sync/report.ts';

const run = { id: 7, connection: 'main', undoOf: null, createdAt: 0, refusals: [], status: 'succeeded' };
const action = {
  id: 41,
  kind: 'update-lead',
  leadId: 'lead-1',
  row: 2,
  changes: { stage: { from: 'new', to: 'won' } },
  reason: 'row-edited',
  expect: {},
  fingerprint: 'stage:hash',
};

let folder: string;
let path: string;
let connection: ConnectionConfig;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'leadsync-plan-file-'));
  path = join(folder, 'plan.json');
  const env = { LEADS_BASE_URL: 'https://leads.example', LEADS_API_KEY: 'key', TARGET: './leads.csv' };
  const [first] = (await loadConfig({ env, cwd: folder })).connections;
  if (first === undefined) throw new Error('no connection');
  connection = first;
  const plan = { run: run as unknown as Run, actions: [action as unknown as Action] };
  await writePlanFile(path, { ...plan, companies: new Map([[action.leadId, 'Acme']]) }, connection);
});

afterEach(() => rmSync(folder, { recursive: true }));

const rewrite = (change: (text: string) => string): void =>
  writeFileSync(path, change(readFileSync(path, 'utf8')));

test('a plan is for its owner alone to read', async () => {
  writeFileSync(path, 'an older one', { mode: 0o644 });
  await replaceFile(path, 'customers');
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(readdirSync(folder)).toEqual(['plan.json']);
});

test('a byte order mark and the line ends of Windows change nothing', () => {
  rewrite((text) => `\uFEFF${text.replaceAll('\n', '\r\n')}`);
  const plan = readPlanFile(path);
  assertSameSettings(plan, connection);
  expect(approvedLines(plan, null)).toMatchObject([{ id: '41', fingerprint: 'stage:hash' }]);
});

test('two lines of one id are refused whole, naming it', () => {
  const plan = readPlanFile(path);
  expect(() => approvedLines({ ...plan, actions: [...plan.actions, ...plan.actions] }, null)).toThrow(
    expect.objectContaining({ code: 'usage.plan-doubled', message: expect.stringContaining('41') }),
  );
});

test.each([
  ['service', 'https://leads.example'],
  ['target', 'leads.csv'],
])('a %s that was changed by hand in the file is refused whole', (key, value) => {
  rewrite((text) => text.replace(value, `other-${value}`));
  expect(() => assertSameSettings(readPlanFile(path), connection)).toThrow(
    expect.objectContaining({ code: 'usage.plan-edited', message: expect.stringContaining(key) }),
  );
});

test.each(['/dev/zero', '/dev/full', tmpdir()])('%s is not read as a plan', (device) => {
  expect(() => readPlanFile(device)).toThrow(expect.objectContaining({ code: 'usage.plan-unreadable' }));
});

test.each(['', '/dev/zero', '/dev/full', tmpdir(), '/no/such/folder/plan.json'])(
  '--out "%s" is refused before the scan, with help',
  (out) => {
    expect(() => refuseToOverwrite(out)).toThrow(
      expect.objectContaining({ code: 'usage.plan-out', help: expect.stringContaining('--out') }),
    );
  },
);

test('--out may name a plan or a new file, and leaves nothing behind', () => {
  refuseToOverwrite(path);
  refuseToOverwrite(join(folder, 'new.json'));
  expect(readdirSync(folder)).toEqual(['plan.json']);
});

test('a plan that cannot be written is told with help, and no temporary file is left', async () => {
  const taken = join(folder, 'taken');
  mkdirSync(taken);
  await expect(replaceFile(taken, 'text')).rejects.toMatchObject({
    code: 'plan.not-written',
    help: expect.stringContaining('--out'),
  });
  expect(readdirSync(folder).toSorted()).toEqual(['plan.json', 'taken']);
});

test('the plan of a scan that failed says why, not that there is nothing to do', () => {
  const report = failedReport('main', { code: 'leads.unreachable', message: 'it does not answer' }, 1);
  const text = describePlan(
    {
      run: { ...run, status: 'failed', report } as unknown as Run,
      actions: [],
      problems: report.problems,
      companies: new Map(),
      fields: [],
    },
    'UTC',
  );
  expect(text).toContain('it does not answer [leads.unreachable]');
  expect(text).not.toMatch(/0 actions|nothing to do/);
});

test('a problem names the place as far as its sentence does not', () => {
  const problem = { code: 'c', message: 'row 12 is no date', leadId: 'lead-1', row: 1, field: 'stage' };
  expect(describeProblem(problem)).toBe('row 12 is no date (row 1, stage, lead lead-1) [c]');
  expect(describeProblem(problem, 'Acme')).toBe('Acme: row 12 is no date (row 1, stage) [c]');
  expect(describeProblem({ ...problem, message: 'row 1 of Acme' }, 'Acme')).toBe('row 1 of Acme (stage) [c]');
  expect(describeProblem({ ...problem, row: 12, message: 'row 12 of lead-1: stage' })).toBe(
    'row 12 of lead-1: stage [c]',
  );
  expect(describeProblem({ code: 'c', message: 'plain' })).toBe('plain [c]');
});
