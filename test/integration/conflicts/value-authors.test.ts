import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { strToU8, unzipSync, zipSync } from 'fflate';
import { describe, expect, test, vi } from 'vitest';
import { type HubSpotSandboxOptions, startHubSpotSandbox } from '../../stand-ins/hubspot/hubspot-sandbox.ts';
import { allScopes } from '../../stand-ins/hubspot/operations.ts';
import { heldList } from '../../../src/ops/pages/conflicts.ts';
import { listConflicts } from '../../../src/store/conflicts.ts';
import { createXlsxTarget } from '../../../src/targets/xlsx/xlsx-target.ts';
import { localPlace } from '../../../src/targets/local/local-place.ts';
import { Scene } from '../google-sheets/cli-google-sheets-scene.ts';
import { connectionName, Workspace } from '../../support/workspace.ts';

vi.setConfig({ testTimeout: 120_000 });

const never = new AbortController().signal;
const anna = { userId: 7, firstName: 'Anna', lastName: 'Meyer', email: 'anna@example.com' };

interface Told {
  readonly fields: Readonly<
    Record<string, { readonly held: object | null; readonly history: readonly object[] }>
  >;
}

const heldIn = ({ database }: Workspace) => listConflicts(database.pool, connectionName);

const told = async (workspace: Workspace, leadId: string) =>
  (await workspace.cli('why', leadId, 'city', '--json')).json<Told>().fields['city'];

/** Leads that are in step with the companies of a portal in which Anna works. */
async function portalScene(options: HubSpotSandboxOptions = {}, sync: object = {}, leads = 6) {
  await using stack = new AsyncDisposableStack();
  const portal = stack.use(await startHubSpotSandbox({ limits: null, ...options }));
  portal.person.addOwner(anna);
  const workspace = stack.use(
    await Workspace.open({
      sandbox: { leads },
      connection: { target: { type: 'hubspot', token: '${HUBSPOT_TOKEN}', path: undefined }, sync },
      env: { HUBSPOT_URL: portal.url, HUBSPOT_TOKEN: portal.token },
    }),
  );
  expect(await workspace.sync()).toMatchObject({ created: { rows: leads } });
  const ids = workspace.sandbox.leads.list().map(({ id }) => id);
  const companyOf = (leadId: string): string =>
    portal.person.companies().find(({ properties }) => properties['lead_id'] === leadId)?.id ?? '';
  const asked = () =>
    portal.requests.flatMap(({ kind, path }) => (kind === 'batch-read' || kind === 'owner' ? path : []));
  const night = async () => {
    const before = asked().length;
    const report = await workspace.sync();
    return { report, asked: asked().slice(before) };
  };
  const owned = stack.move();
  const edit = (leadId: string, inService: string, typed: string, user?: number): void => {
    workspace.sandbox.leads.edit(leadId, { city: inService });
    portal.person.edit(companyOf(leadId), { city: typed }, user);
  };
  return {
    portal,
    workspace,
    ids,
    id: ids[0] ?? '',
    companyOf,
    night,
    edit,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

describe('HubSpot', () => {
  test('who typed what is in conflict is told by conflicts, why and the status page, until after it is decided', async () => {
    await using scene = await portalScene();
    const { workspace, id, portal } = scene;
    expect((await scene.night()).asked).toEqual([]);
    scene.edit(id, 'Köln', 'Bonn', anna.userId);
    const { report, asked } = await scene.night();
    expect(report).toMatchObject({ status: 'partial', held: 1 });
    expect(asked).toEqual([
      '/crm/objects/2026-09/companies/batch/read',
      '/crm/owners/2026-09/7?idProperty=userId',
    ]);
    // Asked once, as long as it is the same value.
    expect((await scene.night()).asked).toEqual([]);

    const changedBy = { of: 'value', place: 'HubSpot', by: 'Anna Meyer', at: expect.stringMatching(/Z$/) };
    const list = await workspace.cli('conflicts');
    expect(list.stdout).toMatch(
      /lead "Köln" \| row "Bonn"\n {4}row: changed by Anna Meyer \(HubSpot\) on \d{4}-\d\d-\d\d \d\d:\d\d(?::\d\d)? UTC\n/,
    );
    const json = (await workspace.cli('conflicts', '--json')).json<{ conflicts: object[] }>();
    expect(json.conflicts).toMatchObject([{ leadId: id, changedBy }]);
    expect(await told(workspace, id)).toMatchObject({ held: { changedBy } });
    const [item] = await heldIn(workspace);
    if (item === undefined) throw new Error('nothing is held');
    const page = await heldList([{ item: { ...item, company: 'A' }, fields: [], timeZone: 'UTC' }], '/');
    expect(page.toString()).toContain('In the table: changed by Anna Meyer (HubSpot) on <time');

    // Another value, of somebody who has no name there.
    portal.person.edit(scene.companyOf(id), { city: 'Trier' }, 99);
    await scene.night();
    expect(await heldIn(workspace)).toMatchObject([{ rowValue: 'Trier', author: { by: 'user 99' } }]);
    await workspace.cli('resolve', String(item.id), '--use', 'target');
    expect((await scene.night()).report).toMatchObject({ status: 'succeeded', updated: { leads: 1 } });
    const { held, history = [] } = (await told(workspace, id)) ?? {};
    expect(held).toBeNull();
    expect(history[0]).toMatchObject({ rule: 'resolved', changedBy: { by: 'user 99' } });
    expect((await workspace.cli('why', id, 'city')).stdout).toContain(
      'row: changed by user 99 (HubSpot) on ',
    );
    // The same value once more, but not of a conflict: nobody was asked.
    portal.person.edit(scene.companyOf(id), { city: 'Ulm' }, anna.userId);
    expect((await scene.night()).asked).toEqual([]);
    expect((await told(workspace, id))?.history[0]).not.toHaveProperty('changedBy');
  });

  test('a key that may not ask for names tells the number; a policy that decides writes it into the history', async () => {
    const scopes = allScopes.filter((scope) => scope !== 'crm.objects.owners.read');
    await using scene = await portalScene({ scopes }, { onConflict: 'leads-win' });
    scene.edit(scene.id, 'Köln', 'Bonn', anna.userId);
    const { report } = await scene.night();
    expect(report).toMatchObject({ status: 'succeeded', updated: { rows: 1 }, problems: [] });
    const city = await told(scene.workspace, scene.id);
    expect(city?.history[0]).toMatchObject({ rule: 'leads-win', row: 'Bonn', changedBy: { by: 'user 7' } });
  });

  test('where HubSpot does not answer, the run goes on and the next one asks again', async () => {
    await using scene = await portalScene({}, {}, 51);
    for (const id of scene.ids) scene.edit(id, 'Köln', 'Bonn', anna.userId);
    const isHistory = ({ kind }: { readonly kind: string }) => kind === 'batch-read';
    scene.portal.before = (request) => (isHistory(request) ? { status: 500 } : undefined);
    expect((await scene.night()).report).toMatchObject({ status: 'partial', held: 51 });
    expect(new Set((await heldIn(scene.workspace)).map(({ author }) => author))).toEqual(new Set([null]));
    scene.portal.before = null;
    // With their history HubSpot gives fifty records at a time; a name is asked for once.
    expect((await scene.night()).asked).toHaveLength(3);
    const names = (await heldIn(scene.workspace)).map(({ author }) => author?.by);
    expect(names).toEqual(scene.ids.map(() => 'Anna Meyer'));
  });

  test('what was said of an earlier conflict, or of another value, is not said of this one', async () => {
    await using scene = await portalScene();
    const { id, portal, workspace } = scene;
    const author = async (inService: string, typed: string, user: number) => {
      scene.edit(id, inService, typed, user);
      await scene.night();
      return (await heldIn(workspace)).map((item) => item.author?.by ?? null);
    };
    expect(await author('Köln', 'Bonn', anna.userId)).toEqual(['Anna Meyer']);
    expect(await author('Trier', 'Trier', anna.userId)).toEqual([]);
    expect(await author('Köln', 'Bonn', 99)).toEqual(['user 99']);
    expect(await author('Trier', 'Trier', anna.userId)).toEqual([]);
    portal.before = ({ kind }) => (kind === 'batch-read' ? { status: 500 } : undefined);
    expect(await author('Köln', 'Bonn', anna.userId)).toEqual([null]);
    // Somebody types between the reading and the question.
    portal.before = ({ kind }) => {
      if (kind === 'batch-read') portal.person.edit(scene.companyOf(id), { city: 'Mainz' }, anna.userId);
    };
    expect(await author('Köln', 'Aachen', 99)).toEqual([null]);
  });

  test.each([
    [1, ['4711'], 'stopped'],
    [2, ['4711'], 'stopped'],
    [2, ['4711', '4712'], 'partial'],
  ])('%d cells that are put back by the imports %j: the run is %s', async (count, imports, status) => {
    await using scene = await portalScene();
    const { workspace, ids, portal } = scene;
    const cities = workspace.sandbox.leads.list().map(({ city }) => city ?? '');
    const changed = ids.slice(0, count);
    for (const id of changed) workspace.sandbox.leads.edit(id, { city: 'Neustadt' });
    expect((await scene.night()).report).toMatchObject({ updated: { rows: count } });
    for (const [nth, id] of changed.entries()) {
      const list = { [scene.companyOf(id)]: { city: cities[nth] ?? '' } };
      portal.person.importList(imports[nth] ?? imports[0] ?? '', list, anna.userId);
    }
    const { report } = await scene.night();
    if (status === 'partial') {
      expect(report).toMatchObject({ status, held: 2 });
      const author = { by: 'Anna Meyer', source: { type: 'IMPORT' } };
      return expect(await heldIn(workspace)).toMatchObject([{ author }, { author }]);
    }
    expect(report).toMatchObject({ status: 'stopped', problems: [{ code: 'guard.older-copy' }] });
    expect(report.problems[0]?.message).toContain(
      'an import into HubSpot (number 4711) wrote all of it: is it an older copy?',
    );
    expect(workspace.sandbox.leads.get(ids[0] ?? '')?.['city']).toBe('Neustadt');
    expect(await workspace.sync({ allow: ['older-copy:update'] })).toMatchObject({
      updated: { rows: count, leads: 0 },
    });
  });

  test('a value that a person sets back by hand is an edit', async () => {
    await using scene = await portalScene();
    const { workspace, id, portal } = scene;
    const before = workspace.sandbox.leads.get(id)?.['city'];
    workspace.sandbox.leads.edit(id, { city: 'Neustadt' });
    await scene.night();
    portal.person.edit(scene.companyOf(id), { city: String(before) }, anna.userId);
    expect((await scene.night()).report).toMatchObject({ status: 'succeeded', updated: { leads: 1 } });
    expect(workspace.sandbox.leads.get(id)?.['city']).toBe(before);
  });
});

test('Google Sheets: Drive names who changed the spreadsheet last, and nobody when it was leadsync', async () => {
  await using scene = await Scene.open();
  const { sheets, workspace } = scene;
  await scene.cli('sync');
  const [first, second] = workspace.sandbox.leads.list();
  const type = (id: string, city: string): void => {
    const grid = sheets.person.grid('Leads') ?? [];
    const column = (grid[0] ?? []).indexOf('City');
    sheets.person.type(
      'Leads',
      grid.findIndex(([cell]) => cell === id),
      column,
      city,
    );
  };
  for (const lead of [first, second]) workspace.sandbox.leads.edit(lead?.id ?? '', { city: 'Köln' });
  type(first?.id ?? '', 'Bonn');
  await scene.cli('sync');
  expect(await heldIn(workspace)).toMatchObject([{ author: null }]);
  workspace.sandbox.leads.edit(second?.id ?? '', { city: 'Aachen' });
  type(second?.id ?? '', 'Trier');
  sheets.person.signAs('Anna Meyer');
  expect((await scene.cli('sync')).stderr).not.toContain('Anna Meyer');
  const [one, two] = await heldIn(workspace);
  expect(one).toMatchObject({ author: null });
  expect(two).toMatchObject({ author: { of: 'file', place: 'Google Drive', by: 'Anna Meyer' } });
  expect((await scene.cli('conflicts')).stdout).toContain(
    'row: spreadsheet last changed by Anna Meyer (Google Drive) on ',
  );
});

test('Excel: the workbook names who saved it last', async () => {
  const fields = { companyName: 'Company', city: 'City' };
  await using workspace = await Workspace.open({
    sandbox: { leads: 2 },
    connection: { fields, target: { path: './leads.xlsx', timeZone: 'UTC' } },
  });
  await workspace.sync();
  const path = join(workspace.folder, 'leads.xlsx');
  const columns = Object.entries(fields).map(
    ([field, column]) => ({ field, column, type: 'text', direction: 'two-way' }) as const,
  );
  const target = createXlsxTarget(localPlace(path), {
    fields: columns,
    idColumn: 'Lead ID',
    timeZone: 'UTC',
  });
  const [lead] = workspace.sandbox.leads.list();
  const { id = '', city = null } = lead ?? {};
  const change = {
    kind: 'update',
    key: 'a',
    leadId: id,
    expect: { city },
    values: { city: 'Bonn' },
  } as const;
  expect(await target.write([change], never)).toMatchObject([{ status: 'done' }]);
  const parts = unzipSync(readFileSync(path));
  const core = 'http://schemas.openxmlformats.org/package/2006';
  const relation = `<Relationship Id="rId77" Type="${core}/relationships/metadata/core-properties" Target="docProps/core.xml"/>`;
  const relations = Buffer.from(parts['_rels/.rels'] ?? [])
    .toString()
    .replace('</Rel', `${relation}</Rel`);
  const properties = `<cp:coreProperties xmlns:cp="${core}/metadata/core-properties" xmlns:dcterms="http://purl.org/dc/terms/"><cp:lastModifiedBy>Anna Meyer &amp; Co</cp:lastModifiedBy><dcterms:modified>2026-11-12T09:14:00Z</dcterms:modified></cp:coreProperties>`;
  writeFileSync(
    path,
    zipSync({ ...parts, '_rels/.rels': strToU8(relations), 'docProps/core.xml': strToU8(properties) }),
  );
  workspace.sandbox.leads.edit(id, { city: 'Köln' });
  expect(await workspace.sync()).toMatchObject({ held: 1 });
  expect((await workspace.cli('conflicts')).stdout).toContain(
    'row: workbook last saved by Anna Meyer & Co on 2026-11-12 09:14 UTC',
  );
});
