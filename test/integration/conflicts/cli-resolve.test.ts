import { readdirSync, readFileSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { strFromU8, unzipSync } from 'fflate';
import { describe, expect, test } from 'vitest';
import { answersTo } from '../../../src/review/decide-held.ts';
import { listConflicts } from '../../../src/store/conflicts.ts';
import type { SyncReport } from '../../../src/sync/report.ts';
import { connectionName, Workspace } from '../../support/workspace.ts';
import { portOf } from '../leads-api/leads-api-server.ts';

interface Conflict {
  readonly id: string;
  readonly code: string;
  readonly company?: string;
  readonly leadId?: string;
  readonly field?: string;
  readonly resolution: string | null;
}

async function conflicts(workspace: Workspace): Promise<Conflict[]> {
  return (await workspace.cli('conflicts', '--json')).json<{ conflicts: Conflict[] }>().conflicts;
}

describe('resolve', () => {
  test('decides each kind of held item by the side that can be right, and refuses the rest with what helps', async () => {
    await using workspace = await Workspace.open({
      sandbox: { stages: ['new', 'qualified', 'won', 'lost'] },
    });
    const { sandbox, sheet } = workspace;
    const follow = '2031-01-05T09:00:00.000Z';
    const ids: Record<string, string> = {};
    for (const name of ['both', 'date', 'empty', 'stage', 'soon', 'gone'])
      ids[name] = sandbox.leads.add({
        companyName: name,
        city: 'Ulm',
        stage: 'new',
        nextFollowUpAt: follow,
      }).id;
    await workspace.sync();
    const edit = (name: string, cells: Record<string, string>): void =>
      sheet.edit((row) => row['Lead ID'] === ids[name], cells);
    edit('both', { City: 'Bonn' });
    sandbox.leads.edit(ids['both'] ?? '', { city: 'Köln' });
    edit('date', { 'Next follow-up': 'next Tuesday' });
    edit('empty', { Company: '' });
    edit('stage', { Stage: 'maybe' });
    sandbox.leads.edit(ids['soon'] ?? '', { nextFollowUpAt: 'soon' });
    sheet.add({ 'Lead ID': 'nobody-knows', Company: 'Orphan AG' });
    sheet.add({ 'Lead ID': '', Company: 'Refused AG', Stage: 'maybe' });
    sheet.add({ 'Lead ID': '', Company: '', City: 'Ulm' });
    sheet.add({ 'Lead ID': ids['gone'] ?? '', Company: 'a copy' });
    expect((await workspace.sync()).status).toBe('partial');

    const held = await conflicts(workspace);
    const sides: Record<string, readonly string[]> = {
      'conflict.both-edited': ['lead', 'row'],
      'row.unreadable': ['lead'],
      'row.company-name-empty': ['lead'],
      'lead.field-refused': ['lead'],
      'lead.unreadable': ['row'],
      'row.orphan': [],
      'row.duplicate-id': [],
      'lead.create-refused': ['row'],
    };
    expect(new Set(held.map(({ code }) => code))).toEqual(new Set(Object.keys(sides)));
    // Headed by its company, also where the record is no pair.
    expect(new Map(held.map(({ code, company }) => [code, company]))).toEqual(
      new Map([
        ['conflict.both-edited', 'both'],
        ['row.unreadable', 'date'],
        ['row.company-name-empty', undefined],
        ['lead.field-refused', 'stage'],
        ['lead.unreadable', 'soon'],
        ['row.orphan', 'Orphan AG'],
        ['row.duplicate-id', 'gone'],
        ['lead.create-refused', 'Refused AG'],
      ]),
    );
    const app = await listConflicts(workspace.database.pool, connectionName);
    for (const item of app) {
      // A new row without a company name has no lead whose value could be used.
      const isNameless = item.leadId === '' && item.code === 'row.company-name-empty';
      expect(answersTo(item, []), item.code).toEqual(isNameless ? [] : sides[item.code]);
    }
    const resolve = (item: Conflict, use: string) =>
      workspace.cli('resolve', item.id, '--use', use, '--json');
    const refused = held.filter(
      ({ code, leadId }) =>
        sides[code]?.length === 0 || (leadId === undefined && code === 'row.company-name-empty'),
    );
    expect(refused).toHaveLength(3);
    await Promise.all([
      ...refused.map(async (item) => {
        const result = await resolve(item, 'lead');
        const said = `${item.code}: ${result.stdout}${result.stderr}`;
        expect(result.code, said).toBe(2);
        const { error } = result.json<{ error: { code: string; message: string; help: string } }>();
        expect(error.code, said).toBe('usage.not-decidable');
        expect(error.message).toContain(`[${item.code}]`);
        expect(error.help).toContain('Nothing was changed');
      }),
      ...held
        .filter((item) => !refused.includes(item))
        .map(async (item) => {
          const result = await resolve(item, sides[item.code]?.[0] ?? '');
          expect(result.code, item.code + result.stderr).toBe(0);
        }),
    ]);
    const decided = await conflicts(workspace);
    for (const item of decided) {
      const [only] = refused.some(({ id }) => id === item.id) ? [] : (sides[item.code] ?? []);
      expect(item.resolution, item.code).toBe(only === 'row' ? 'target' : (only ?? null));
    }

    const report = await workspace.sync();
    expect(report.problems.map(({ code }) => code).toSorted()).toEqual(
      held
        .filter((item) => item.leadId === undefined || sides[item.code]?.length === 0)
        .map(({ code }) => code)
        .toSorted(),
    );
    const row = (name: string) => sheet.rows().find((cells) => cells['Lead ID'] === ids[name]);
    expect(row('both')?.['City']).toBe('Köln');
    expect(row('date')?.['Next follow-up']).toBe(follow);
    expect(row('empty')?.['Company']).toBe('empty');
    expect(row('stage')?.['Stage']).toBe('new');
    expect(sandbox.leads.get(ids['soon'] ?? '')?.nextFollowUpAt).toBe(follow);
    const last = await workspace.sync();
    expect(last.updated).toEqual({ leads: 0, rows: 0 });
  });

  test('an edit that meets a delete is refused with what helps', async () => {
    await using workspace = await Workspace.open({ sandbox: { leads: 3 } });
    const { sandbox, sheet } = workspace;
    await workspace.sync();
    const [lead] = sandbox.leads.list();
    const id = lead?.id ?? '';
    sheet.edit((row) => row['Lead ID'] === id, { City: 'Bonn' });
    sandbox.leads.remove(id);
    await workspace.sync();
    await workspace.sync();
    const [item] = await conflicts(workspace);
    expect(item).toMatchObject({ code: 'conflict.edit-meets-delete', leadId: id });
    const result = await workspace.cli('resolve', item?.id ?? '', '--use', 'target', '--json');
    expect(result.code).toBe(2);
    expect(result.json()).toMatchObject({ error: { code: 'usage.not-decidable', help: expect.any(String) } });
  });

  test('the row cannot win a field that only goes to the row', async () => {
    await using workspace = await Workspace.open({
      sandbox: { leads: 2 },
      connection: {
        fields: {
          companyName: 'Company',
          nextFollowUpAt: { column: 'Next follow-up', direction: 'to-target' },
        },
      },
    });
    await workspace.sync();
    const [lead] = workspace.sandbox.leads.list();
    workspace.sandbox.leads.edit(lead?.id ?? '', { nextFollowUpAt: 'soon' });
    await workspace.sync();
    const [item] = await conflicts(workspace);
    expect(item).toMatchObject({ code: 'lead.unreadable', field: 'nextFollowUpAt' });
    const refused = await workspace.cli('resolve', item?.id ?? '', '--use', 'target', '--json');
    expect(refused.code).toBe(2);
    expect(refused.json()).toMatchObject({ error: { code: 'usage.not-decidable' } });
  });
});

describe('check', () => {
  interface Checked {
    readonly ok: boolean;
    readonly checks: readonly { name: string; ok: boolean; message: string; code?: string; help?: string }[];
  }

  async function check(workspace: Workspace, env: NodeJS.ProcessEnv = {}): Promise<[number | null, Checked]> {
    const result = await workspace.start(['check', '--json'], { env }).ended;
    expect(result.stdout, result.stderr).toMatch(/^\{.*\}\n$/);
    return [result.code, result.json<Checked>()];
  }

  test('says what is well, a line each, and writes nothing', async () => {
    await using workspace = await Workspace.open({ sandbox: { leads: 2 } });
    const [code, said] = await check(workspace);
    expect(code).toBe(0);
    expect(said).toMatchObject({
      ok: true,
      checks: [
        { name: 'configuration', ok: true },
        { name: 'database and queue', ok: true },
        { name: 'main: service', ok: true },
        { name: 'main: target', ok: true },
        { name: 'clocks', ok: true },
        { name: 'mail', ok: true },
        { name: 'alerts', ok: true, message: expect.stringContaining('no alerts are configured') },
      ],
    });
    expect(readdirSync(workspace.folder)).not.toContain('leads.csv');
    expect(workspace.sandbox.log.every(({ method }) => method === 'GET')).toBe(true);
    const people = await workspace.cli('check');
    expect(people.stdout.split('\n').filter((line) => line.startsWith('ok '))).toHaveLength(7);
  });

  test('each failing line has a code and a sentence, the others are still looked at', async () => {
    await using workspace = await Workspace.open({ sandbox: { leads: 2 } });
    const { sandbox, sheet } = workspace;
    const dead = createServer();
    await new Promise<void>((resolve) => dead.listen(0, '127.0.0.1', resolve));
    const deadPort = portOf(dead);
    await new Promise((resolve) => dead.close(resolve));
    const fails = async (name: string, expected: string, env: NodeJS.ProcessEnv = {}): Promise<void> => {
      const [exit, { ok, checks }] = await check(workspace, env);
      expect({
        exit,
        ok,
        failed: checks.filter((line) => !line.ok).map((line) => [line.name, line.code]),
      }).toEqual({
        exit: 1,
        ok: false,
        failed: [[name, expected]],
      });
    };
    await fails('main: service', 'leads.unauthenticated', { LEADS_API_KEY: 'wrong' });
    await fails('mail', 'mail.unavailable', { SMTP_URL: `smtp://127.0.0.1:${deadPort}` });
    await fails('database and queue', 'database.unreachable', {
      DATABASE_URL: `postgres://nobody:hidden-password@127.0.0.1:${deadPort}/nothing`,
    });
    sheet.write([['Company'], ['Acme']]);
    await fails('main: target', 'target.id-column-missing');
    sheet.write([['Lead ID', 'Company']]);
    await fails('main: columns', 'target.column-missing');
    sheet.write([['Lead ID', 'Company', 'Segment', 'City', 'Region', 'Stage', 'Next follow-up']]);
    sandbox.set({ permissions: [] });
    await fails('main: service', 'leads.forbidden');
    sandbox.set({ permissions: ['leads:read'] });
    workspace.configure({ target: { path: './no/such/folder/leads.csv' } });
    await fails('main: target', 'target.not-writable');
    workspace.configure({});
    await sandbox.close();
    await fails('main: service', 'leads.unreachable');
  });
});

test('demo --dir X --json: one object, and what it names is there', async () => {
  await using workspace = await Workspace.open();
  const folder = join(workspace.folder, 'shown');
  const result = await workspace.start(['demo', '--dir', folder, '--json'], {
    env: { DATABASE_URL: undefined, LEADS_API_KEY: undefined },
  }).ended;
  expect(result.code, result.stderr).toBe(0);
  expect(result.stdout).toMatch(/^\{.*\}\n$/);
  const said = result.json<{ folder: string; file: string; reminders: string[]; reports: SyncReport[] }>();
  expect(said.folder).toBe(folder);
  expect(said.reports.map(({ status }) => status)).toEqual([
    'succeeded',
    'partial',
    'succeeded',
    'succeeded',
  ]);
  expect(said.reports.at(-1)).toMatchObject({
    created: { leads: 0, rows: 0 },
    updated: { leads: 0, rows: 0 },
    deleted: { leads: 0, rows: 0 },
  });
  // One is the demo's own; seeded follow-ups of today may have fallen due as well.
  expect(said.reminders.length).toBeGreaterThan(0);
  for (const file of said.reminders) expect(readFileSync(file, 'utf8')).toMatch(/^To: you@example.com\r$/m);
  const sheet = unzipSync(readFileSync(said.file))['xl/worksheets/sheet1.xml'] ?? new Uint8Array();
  expect(strFromU8(sheet)).toContain('<row r="122"');
  expect(readdirSync(folder)).not.toContain('postgres');
});

test('neither the key nor a password is in any output or file, at LOG_LEVEL=trace', async () => {
  await using workspace = await Workspace.open({ sandbox: { leads: 30, maxLimit: 10 } });
  const secrets = { key: 'sk-live-Zx81-secret', token: 'tok-9d7f-secret', password: 'pw-55aa-secret' };
  const { sandbox } = workspace;
  sandbox.set({ apiKey: secrets.key });
  // The test server trusts every client on this machine, so any password will do.
  const database = new URL(workspace.database.url);
  if (database.password === '') database.password = secrets.password;
  const password = decodeURIComponent(database.password);
  const smtp = createServer((socket: Socket) => socket.end('554 no service\r\n'));
  await new Promise<void>((resolve) => smtp.listen(0, '127.0.0.1', resolve));
  const env = {
    LOG_LEVEL: 'trace',
    LEADS_API_KEY: secrets.key,
    ADMIN_TOKEN: secrets.token,
    DATABASE_URL: database.href,
    SMTP_URL: `smtp://user:${secrets.password}@127.0.0.1:${portOf(smtp)}`,
  };
  let all = '';
  const run = async (args: string[], more: NodeJS.ProcessEnv = {}): Promise<number | null> => {
    const result = await workspace.start(args, { env: { ...env, ...more } }).ended;
    all += result.stdout + result.stderr;
    return result.code;
  };
  try {
    expect(await run(['sync'])).toBe(0);
    expect(await run(['check'])).toBe(1);
    expect(await run(['plan', '--json'])).toBe(0);
    expect(await run(['status'])).toBe(0);
    sandbox.set({ faults: [{ kind: 'revoked', when: { every: 1 }, on: [] }] });
    expect(await run(['sync', '--json'])).toBe(4);
    database.port = String(portOf(smtp));
    expect(await run(['sync'], { DATABASE_URL: database.href })).toBe(1);
    expect(await run(['sync'], { DATABASE_URL: `postgres://u:${secrets.password}@127.0.0.1:99999/x` })).toBe(
      2,
    );
    expect(await run(['sync'], { LEADS_API_KEY: `${secrets.key} with blanks` })).toBe(2);
  } finally {
    smtp.close();
  }
  expect(all).toContain('leads.unauthenticated');
  for (const secret of [secrets.key, secrets.token, secrets.password, password])
    expect(all).not.toContain(secret);
});
