import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startSheetsSandbox } from '../../stand-ins/google-sheets/sheets-sandbox.ts';
import type { SheetsPerson } from '../../stand-ins/google-sheets/person.ts';
import { type HubSpotSandbox, startHubSpotSandbox } from '../../stand-ins/hubspot/hubspot-sandbox.ts';
import { advanceRun } from '../../../src/sync/run.ts';
import { LeadsyncError } from '../../../src/lib/errors.ts';
import { connectionName, Workspace } from '../../support/workspace.ts';
import { fields, idOf, nothing, switchAndBack, type Where } from './places-scene.ts';

async function sheetsScene(): Promise<{
  readonly workspace: Workspace;
  readonly person: SheetsPerson;
  readonly at: (tab: string) => Where;
  readonly spreadsheetId: string;
  readonly point: (tab: string, spreadsheet?: string) => void;
  [Symbol.asyncDispose](): Promise<void>;
}> {
  await using stack = new AsyncDisposableStack();
  const sheets = stack.use(await startSheetsSandbox({ quotas: null, timeZone: 'Europe/Berlin' }));
  const workspace = stack.use(
    await Workspace.open({ sandbox: { leads: 8 }, env: { GOOGLE_SHEETS_URL: sheets.url } }),
  );
  const { person, spreadsheetId } = sheets;
  const keyPath = join(workspace.folder, 'key.json');
  writeFileSync(keyPath, sheets.keyFile());
  workspace.env['GOOGLE_APPLICATION_CREDENTIALS'] = keyPath;
  const point = (tab: string, spreadsheet = spreadsheetId): void =>
    workspace.configure({ fields, target: { type: 'google-sheets', spreadsheet, tab, path: undefined } });
  const rowOf = (tab: string, leadId: string) =>
    (person.grid(tab) ?? []).findIndex((row) => row[0] === leadId);
  const at = (tab: string): Where => ({
    point: () => point(tab),
    city: (leadId) => person.grid(tab)?.[rowOf(tab, leadId)]?.[2],
    edit: (leadId, city) => person.type(tab, rowOf(tab, leadId), 2, city),
  });
  const owned = stack.move();
  return {
    workspace,
    person,
    at,
    point,
    spreadsheetId,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

test('Google Sheets: another tab and back', async () => {
  await using scene = await sheetsScene();
  await switchAndBack(scene.workspace, scene.at('Leads'), scene.at('Other'));
});

test('Google Sheets: a tab that was made by a run that ended before it noted which one is the same place', async () => {
  await using scene = await sheetsScene();
  const { workspace } = scene;
  scene.point('Leads');
  {
    await using app = await workspace.openApp();
    const context = app.contexts.get(connectionName);
    if (context === undefined) throw new Error('the connection is not configured');
    const { target } = context;
    const whileMissing = await target.place?.(new AbortController().signal);
    const replies = [Promise.resolve(whileMissing)];
    const cutOff = new LeadsyncError('target.unreachable', 'cut off', { retry: 'now' });
    Object.assign(target, { place: () => replies.pop() ?? Promise.reject(cutOff) });
    const request = { mode: 'sync', allow: ['first-leads'], maxAttempts: 3 } as const;
    expect(await advanceRun(context, request, new AbortController().signal)).toMatchObject({
      kind: 'again',
      why: 'fault',
    });
  }
  expect(await workspace.sync()).toMatchObject({ status: 'succeeded', created: { rows: 8 }, problems: [] });
  expect(await workspace.sync()).toMatchObject({ status: 'succeeded', updated: nothing, problems: [] });
});

test('Google Sheets: a copied tab that takes the name of the one that is kept stops the run', async () => {
  await using scene = await sheetsScene();
  const { workspace, person } = scene;
  scene.point('Leads');
  await workspace.sync();
  const id = idOf(workspace, 0);
  person.addTab('Copy');
  person.put('Copy', person.grid('Leads') ?? []);
  workspace.sandbox.leads.edit(id, { city: 'Ulm' });
  expect(await workspace.sync()).toMatchObject({ updated: { rows: 1 } });
  person.renameTab('Leads', 'Leads until today');
  person.renameTab('Copy', 'Leads');
  const run = await workspace.run();
  expect(run).toMatchObject({ status: 'stopped', refusals: [{ code: 'other-target' }] });
  expect(workspace.sandbox.leads.get(id)?.['city']).toBe('Ulm');
  person.renameTab('Leads', 'Copy');
  person.renameTab('Leads until today', 'Leads');
  expect(await workspace.sync()).toMatchObject({ status: 'succeeded', updated: nothing, problems: [] });
});

test('Google Sheets: a tab that was renamed, the setting with it, is the same place', async () => {
  await using scene = await sheetsScene();
  const { workspace, person } = scene;
  scene.point('Leads');
  await workspace.sync();
  const id = idOf(workspace, 0);
  await scene.at('Leads').edit(id, 'Ulm');
  person.renameTab('Leads', 'Customers');
  expect(await workspace.run()).toMatchObject({ report: { problems: [{ code: 'target.tab-renamed' }] } });
  scene.point('Customers');
  expect(await workspace.sync()).toMatchObject({
    status: 'succeeded',
    updated: { leads: 1, rows: 0 },
    problems: [],
  });
  expect(workspace.sandbox.leads.get(id)?.['city']).toBe('Ulm');
});

test('Google Sheets: a tab that is gone is not made anew; one that took its place goes on', async () => {
  await using scene = await sheetsScene();
  const { workspace, person } = scene;
  scene.point('Leads');
  await workspace.sync();
  const grid = person.grid('Leads') ?? [];
  person.addTab('Else');
  person.deleteTab('Leads');
  const run = await workspace.run();
  expect(run).toMatchObject({ status: 'stopped', refusals: [{ code: 'target-gone' }] });
  expect(person.grid('Leads')).toBeNull();
  workspace.sandbox.leads.edit(idOf(workspace, 0), { city: 'Ulm' });
  person.addTab('Leads');
  person.put('Leads', grid);
  expect(await workspace.sync()).toMatchObject({
    status: 'succeeded',
    created: nothing,
    updated: { leads: 0, rows: 1 },
    problems: [{ code: 'place.moved' }],
  });
});

test('Google Sheets: a copied spreadsheet that is made the target is another place, and the way back is open', async () => {
  await using scene = await sheetsScene();
  const { workspace, person } = scene;
  scene.point('Leads');
  await workspace.sync();
  const [a, b] = [idOf(workspace, 0), idOf(workspace, 1)];
  const copy = person.copySpreadsheet();
  workspace.sandbox.leads.edit(a, { city: 'Ulm' });
  await workspace.sync();
  scene.point('Leads', copy.spreadsheetId);
  expect((await workspace.cli('check', '--fix')).stdout).toContain('was a copy');
  expect(await workspace.run()).toMatchObject({ status: 'stopped', refusals: [{ code: 'other-target' }] });
  expect(workspace.sandbox.leads.get(a)?.['city']).toBe('Ulm');
  await scene.at('Leads').edit(b, 'Bonn');
  scene.point('Leads');
  expect(await workspace.sync()).toMatchObject({
    status: 'succeeded',
    updated: { leads: 1, rows: 0 },
    problems: [],
  });
});

test('Google Sheets: a quiet night costs two requests more, where it is and whether it moved', async () => {
  await using scene = await sheetsScene();
  const { workspace } = scene;
  scene.point('Leads');
  await workspace.sync();
  await workspace.sync();
  expect(await workspace.sync()).toMatchObject({ requests: { target: 6 } });
});

test('HubSpot: another portal and back', async () => {
  await using first = await startHubSpotSandbox({ limits: null });
  await using second = await startHubSpotSandbox({
    limits: null,
    portalId: 2,
    token: 'pat-na1-of-the-other-portal',
  });
  await using workspace = await Workspace.open({
    sandbox: { leads: 8 },
    env: { TOKEN_1: first.token, TOKEN_2: second.token },
  });
  const at = ({ url, person }: HubSpotSandbox, token: string): Where => {
    const companyOf = (leadId: string) =>
      person.companies().find(({ properties }) => properties['lead_id'] === leadId);
    return {
      point: () => {
        workspace.env['HUBSPOT_URL'] = url;
        workspace.configure({ target: { type: 'hubspot', token, path: undefined } });
      },
      city: (leadId) => companyOf(leadId)?.properties['city'] ?? undefined,
      edit: (leadId, city) => person.edit(companyOf(leadId)?.id ?? '', { city }),
    };
  };
  await switchAndBack(workspace, at(first, '${TOKEN_1}'), at(second, '${TOKEN_2}'));
  const { rows } = await workspace.database.pool.query('select identity from places order by 1');
  expect(rows).toEqual([{ identity: 'hubspot:1/companies' }, { identity: 'hubspot:2/companies' }]);
});
