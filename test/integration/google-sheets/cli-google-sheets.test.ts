import { generateKeyPairSync } from 'node:crypto';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { keyCodes } from '../../../src/alerts/problems-of.ts';
import { expect, test, vi } from 'vitest';
import type { SyncReport } from '../../../src/sync/report.ts';
import { columnLetters } from '../../../src/targets/shared/cell-name.ts';
import { oneObject } from '../../support/cli.ts';
import { Workspace } from '../../support/workspace.ts';
import { Scene } from './cli-google-sheets-scene.ts';

// Each test starts many processes.
vi.setConfig({ testTimeout: 180_000 });

test('check, plan, sync, edits on both sides, a conflict: through a Google spreadsheet', async () => {
  await using scene = await Scene.open();
  const { sheets, workspace } = scene;
  const { leads } = workspace.sandbox;

  const check = await scene.cli('check');
  expect(check.code, check.stdout).toBe(0);
  expect(check.stdout).toContain(`main: account: ${sheets.accountEmail}; share`);
  expect(check.stdout).toContain('0 rows, all mapped columns exist or will be created');
  const plan = await scene.cli('plan');
  expect(plan.code).toBe(0);
  expect(plan.stdout).toContain('create-row');
  expect(scene.writes).toBe(0);
  expect(sheets.person.grid('Leads')).toBeNull();

  const first = await scene.syncByCommand();
  expect(first).toMatchObject({ status: 'succeeded', created: { leads: 0, rows: 5 } });
  const [inSheet, inService, onBoth] = leads.list();
  if (!inSheet || !inService || !onBoth) throw new Error('too few leads');
  expect(scene.shown(inSheet.id, 'Company')).toBe(inSheet.companyName);

  scene.type(inSheet.id, 'City', 'Lübeck');
  scene.type(inSheet.id, 'Next follow-up', '2027-07-01 09:30');
  leads.edit(inService.id, { city: '=1+2' });
  scene.type(onBoth.id, 'Stage', 'won');
  leads.edit(onBoth.id, { stage: 'lost' });
  sheets.person.type('Leads', 6, 1, 'Bäckerei Sonnenhof GmbH');
  sheets.person.sortRange('Leads', 'A2:G7', 1, false);

  const second = await scene.cli('sync');
  expect(second.code, second.stdout + second.stderr).toBe(3);
  expect(leads.get(inSheet.id)).toMatchObject({ city: 'Lübeck', nextFollowUpAt: '2027-07-01T07:30:00.000Z' });
  expect(scene.shown(inService.id, 'City')).toBe('=1+2');
  expect(scene.shown(onBoth.id, 'Stage')).toBe('won');
  expect(leads.get(onBoth.id)?.stage).toBe('lost');
  const made = leads.list().find(({ companyName }) => companyName === 'Bäckerei Sonnenhof GmbH');
  expect(scene.shown(made?.id ?? '', 'Company')).toBe('Bäckerei Sonnenhof GmbH');

  const { conflicts } = oneObject(await scene.cli('conflicts', '--json')) as { conflicts: { id: string }[] };
  expect(conflicts).toMatchObject([{ leadId: onBoth.id, field: 'stage', lead: 'lost', target: 'won' }]);
  expect((await scene.cli('resolve', conflicts[0]?.id ?? '', '--use', 'target')).code).toBe(0);
  expect(await scene.syncByCommand()).toMatchObject({ status: 'succeeded', updated: { leads: 1, rows: 0 } });
  expect(leads.get(onBoth.id)?.stage).toBe('won');

  const writes = scene.writes;
  expect(await scene.syncByCommand()).toMatchObject({ status: 'succeeded', held: 0 });
  expect(scene.writes).toBe(writes);
  scene.expectNoSecret();
});

test('demo --target google-sheets --json: the same story on a sheet, none over quota, no key left behind', async () => {
  await using workspace = await Workspace.open();
  const folder = join(workspace.folder, 'shown');
  const result = await workspace.start(['demo', '--target', 'google-sheets', '--dir', folder, '--json'], {
    env: { DATABASE_URL: undefined, LEADS_API_KEY: undefined },
  }).ended;
  expect(result.code, result.stderr).toBe(0);
  const said = oneObject(result) as unknown as {
    readonly sheet: readonly string[][];
    readonly requests: object;
    readonly reports: readonly SyncReport[];
  };
  const statuses = said.reports.map(({ status }) => status);
  expect(statuses).toEqual(['succeeded', 'partial', 'succeeded', 'succeeded']);
  const none = { leads: 0, rows: 0 };
  expect(said.reports.at(-1)).toMatchObject({ created: none, updated: none, deleted: none });
  // The headings, 120 leads, and the row that somebody typed, which has its id.
  expect(said.sheet).toHaveLength(122);
  expect(said.sheet.at(-1)).toEqual([
    expect.stringMatching(/^[\w-]{8,}$/),
    'Bäckerei Sonnenhof GmbH',
    'Retail',
    'Freiburg',
    'BW',
    'new',
    '',
  ]);
  expect(said.requests).toMatchObject({ write: 4, token: 1, overQuota: 0 });
  expect(readdirSync(folder)).toEqual(['outbox']);
});

test('merging two cells empties no field of a lead, and what is typed after the merge was undone is an edit', async () => {
  await using scene = await Scene.open({}, 4);
  await scene.sync();
  const { person } = scene.sheets;
  const [headings = [], ...rows] = person.grid('Leads') ?? [];
  const column = headings.indexOf('City');
  const id = rows[1]?.[headings.indexOf('Lead ID')] ?? '';
  const cities = () => scene.workspace.sandbox.leads.list().map(({ city }) => city);
  const before = cities();
  const letter = columnLetters(column);
  person.merge('Leads', `${letter}2:${letter}3`);
  expect(await scene.sync()).toMatchObject({ status: 'partial', updated: { leads: 0, rows: 0 }, held: 1 });
  expect(cities()).toEqual(before);
  person.unmerge('Leads', `${letter}2:${letter}3`);
  scene.type(id, 'City', 'Ulm');
  expect(await scene.sync()).toMatchObject({ status: 'succeeded', updated: { leads: 1, rows: 0 } });
  expect(scene.workspace.sandbox.leads.list().find((lead) => lead.id === id)?.city).toBe('Ulm');
});

test('a cell that a merge emptied gets its value back when the cells are set apart: nobody has emptied it', async () => {
  await using scene = await Scene.open({}, 4);
  await scene.sync();
  const { person } = scene.sheets;
  const before = person.grid('Leads');
  const letter = columnLetters(before?.[0]?.indexOf('City') ?? 0);
  const cities = () => scene.workspace.sandbox.leads.list().map(({ city }) => city);
  const inService = cities();
  person.merge('Leads', `${letter}2:${letter}3`);
  expect(await scene.sync()).toMatchObject({ status: 'partial', held: 1 });
  person.unmerge('Leads', `${letter}2:${letter}3`);
  expect(await scene.sync()).toMatchObject({ status: 'succeeded', updated: { leads: 0, rows: 1 } });
  expect(cities()).toEqual(inService);
  expect(person.grid('Leads')).toEqual(before);
  expect(await scene.sync()).toMatchObject({ status: 'succeeded', updated: { leads: 0, rows: 0 } });
});

test('a value that the service stored in another spelling, in a column that is protected: sent once, then held', async () => {
  await using scene = await Scene.open({}, 2);
  await scene.sync();
  const { sandbox } = scene.workspace;
  sandbox.set({ trimText: true });
  const [lead] = sandbox.leads.list();
  scene.sheets.person.protect('Leads', 'D:D');
  scene.type(lead?.id ?? '', 'City', '  Kiel ');
  expect(await scene.sync()).toMatchObject({ status: 'partial', updated: { leads: 1, rows: 0 }, held: 1 });
  const again = { status: 'partial', updated: { leads: 0, rows: 0 }, held: 1 };
  expect(await scene.sync()).toMatchObject(again);
  expect(await scene.sync()).toMatchObject(again);
  const { conflicts } = oneObject(await scene.cli('conflicts', '--json')) as { conflicts: object[] };
  expect(conflicts).toMatchObject([
    { code: 'lead.field-refused', field: 'city', lead: 'Kiel', target: '  Kiel ' },
  ]);
  scene.sheets.person.unprotect('Leads');
  expect((await scene.cli('resolve', '--all', '--use', 'lead')).code).toBe(0);
  expect(await scene.sync()).toMatchObject({ status: 'succeeded', updated: { leads: 0, rows: 1 } });
  expect(scene.shown(lead?.id ?? '', 'City')).toBe('Kiel');
});

test('check says when it cannot be told whether the account may write', async () => {
  await using scene = await Scene.open({}, 1);
  await scene.sync();
  expect(await scene.checked('access')).toBeUndefined();
  scene.sheets.before = ({ method }) => (method === 'drive.files.get' ? { status: 403 } : undefined);
  expect(await scene.checked('access')).toMatchObject({
    ok: true,
    message: expect.stringContaining('could not tell'),
  });
});

test('what keeps a sync from the spreadsheet: exit 1, a code, what to do, nothing written', async () => {
  await using scene = await Scene.open({}, 3);
  await scene.sync();
  const { sheets, workspace } = scene;
  const { person } = sheets;
  const { accountEmail } = sheets;
  const stranger = JSON.parse(sheets.keyFile()) as Record<string, string>;
  const revoked = join(workspace.folder, 'revoked.json');
  // Google knows keys by what they sign: one that was deleted signs as if it were somebody else's.
  const deleted = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
  const pem = deleted.export({ type: 'pkcs8', format: 'pem' });
  writeFileSync(revoked, JSON.stringify({ ...stranger, private_key: pem }));
  const broken = join(workspace.folder, 'broken.json');
  writeFileSync(broken, JSON.stringify({ ...stranger, private_key: 'PRIVATE KEY' }));
  interface Case {
    readonly code: string;
    readonly help: string;
    /** The line of `check` that says so. */
    readonly line?: string;
    readonly env?: NodeJS.ProcessEnv;
    readonly break?: () => void;
    readonly mend?: () => void;
  }
  const credentials = (path: string | undefined) => ({ GOOGLE_APPLICATION_CREDENTIALS: path });
  const howTo = 'Create a key for a service account';
  const cases: readonly Case[] = [
    { code: 'target.credentials-missing', line: 'account', help: howTo, env: credentials('/no/such.json') },
    { code: 'target.credentials-invalid', line: 'account', help: howTo, env: credentials(broken) },
    { code: 'target.unauthenticated', help: 'still exists', env: credentials(revoked) },
    {
      code: 'target.forbidden',
      help: `Share the spreadsheet with ${accountEmail} as editor`,
      break: () => person.setShared(false),
      mend: () => person.setShared(true),
    },
    {
      code: 'target.forbidden',
      line: 'access',
      help: 'as editor, not as viewer',
      break: () => person.setShared('reader'),
      mend: () => person.setShared(true),
    },
    {
      code: 'target.not-found',
      help: accountEmail,
      break: () => scene.pointTo('1NoSuchSpreadsheet'),
      mend: () => scene.pointTo(sheets.spreadsheetId),
    },
    {
      code: 'target.tab-renamed',
      help: '"Deals"',
      break: () => person.renameTab('Leads', 'Deals'),
      mend: () => person.renameTab('Deals', 'Leads'),
    },
    {
      code: 'target.trashed',
      help: 'out of the trash',
      break: () => person.setTrashed(true),
      mend: () => person.setTrashed(false),
    },
  ];
  const [lead] = workspace.sandbox.leads.list();
  workspace.sandbox.leads.edit(lead?.id ?? '', { city: 'Ulm' });
  const writes = scene.writes;
  for (const { code, help, line = 'target', env = {}, break: damage, mend } of cases) {
    damage?.();
    const [checked, sync] = await Promise.all([
      scene.checked(line, env),
      scene.cliWith(env, 'sync', '--json'),
    ]);
    expect(checked, code).toMatchObject({ ok: false, code, help: expect.stringContaining(help) });
    expect(sync.code, code).toBe(keyCodes.has(code) ? 4 : 1);
    expect(oneObject(sync), code).toMatchObject({ status: 'failed', problems: [{ code }] });
    mend?.();
  }
  // Nothing but the write that was refused.
  expect(scene.writes).toBe(writes + 1);
  expect(await scene.sync()).toMatchObject({ status: 'succeeded', updated: { rows: 1 } });
  scene.expectNoSecret();
});
