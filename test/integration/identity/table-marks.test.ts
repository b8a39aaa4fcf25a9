import { copyFile, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { strFromU8, strToU8, unzipSync, zipSync } from 'fflate';
import { inject, expect, test } from 'vitest';
import { readMark } from '../../../src/core/lead/table-mark.ts';
import { createXlsxTarget } from '../../../src/targets/xlsx/xlsx-target.ts';
import { localPlace } from '../../../src/targets/local/local-place.ts';
import type { TargetRow } from '../../../src/ports/target.ts';
import { administrate } from '../../support/administrate.ts';
import { createTestDatabase } from '../../support/database.ts';
import { Workspace } from '../../support/workspace.ts';

const fields = { companyName: 'Company', city: 'City' };
const connection = (target: object = {}) => ({
  fields,
  target: { path: './leads.xlsx', timeZone: 'UTC', ...target },
});

/** A workbook with twelve leads in it, in step. */
async function inStep(target: object = {}): Promise<Workspace> {
  const workspace = await Workspace.open({ sandbox: { leads: 12 }, connection: connection(target) });
  expect(await workspace.sync()).toMatchObject({ status: 'succeeded', created: { rows: 12 } });
  return workspace;
}

const pathOf = ({ folder }: Workspace, name = 'leads.xlsx'): string => join(folder, name);

const table = (workspace: Workspace) =>
  createXlsxTarget(localPlace(pathOf(workspace)), {
    fields: Object.entries(fields).map(([field, column]) => ({
      field,
      column,
      type: 'text',
      direction: 'two-way',
    })),
    idColumn: 'Lead ID',
    timeZone: 'UTC',
  });

const never = new AbortController().signal;

async function rowsOf(workspace: Workspace): Promise<TargetRow[]> {
  const { rows } = await table(workspace).open({ create: false }, never);
  const all: TargetRow[] = [];
  for await (const batch of rows) all.push(...batch);
  return all;
}

async function markIn(workspace: Workspace) {
  return readMark((await table(workspace).open({ create: false }, never)).mark ?? null);
}

/** What a person types into the city of the first rows; as another program writes, without a mark. */
async function type(workspace: Workspace, ...cities: string[]): Promise<void> {
  const rows = await rowsOf(workspace);
  const changes = cities.map((city, at) => {
    const { leadId, cells } = rows[at] ?? { leadId: null, cells: {} };
    return { kind: 'update', key: city, leadId: leadId ?? '', expect: cells, values: { city } } as const;
  });
  const outcomes = await table(workspace).write(changes, never);
  expect(outcomes.every(({ status }) => status === 'done')).toBe(true);
}

function move(workspace: Workspace, city: string, at = 0): void {
  const lead = workspace.sandbox.leads.list()[at];
  if (lead !== undefined) workspace.sandbox.leads.edit(lead.id, { city });
}

test('the mark comes with the rows, says which run wrote them, and a run without changes writes nothing', async () => {
  await using workspace = await inStep();
  const first = await markIn(workspace);
  expect(first).toMatchObject({ connection: 'main' });
  const before = await readFile(pathOf(workspace));
  expect(await workspace.sync()).toMatchObject({ status: 'succeeded', problems: [] });
  expect(await readFile(pathOf(workspace))).toEqual(before);

  move(workspace, 'Rome');
  const report = await workspace.sync();
  const second = await markIn(workspace);
  expect(second).toMatchObject({ keeper: first?.keeper, generation: Number(report.runId) });
  expect(second?.nonce).not.toBe(first?.nonce);
});

test('a mark that was lost is no alarm, and comes again with the next rows', async () => {
  await using workspace = await inStep();
  await strip(workspace);
  expect(await markIn(workspace)).toBeNull();
  expect(await workspace.sync()).toMatchObject({ status: 'succeeded', problems: [] });
  expect(await markIn(workspace)).toBeNull();
  move(workspace, 'Rome');
  expect(await workspace.sync()).toMatchObject({ status: 'succeeded', updated: { rows: 1 } });
  expect(await markIn(workspace)).not.toBeNull();
});

test('a run that died between its intent, the write and its note knows both marks', async () => {
  await using workspace = await inStep();
  const { pool } = workspace.database;
  // Written, and not noted.
  await pool.query(`update place_notes set marks = replace(marks::text, 'true', 'false')::jsonb`);
  await type(workspace, 'Rome');
  expect(await workspace.sync()).toMatchObject({ status: 'succeeded', updated: { leads: 1 } });
  expect((await pool.query('select marks from place_notes')).rows).toMatchObject([
    { marks: [{ written: true }] },
  ]);
  // Intended, and not written.
  await pool.query(
    `update place_notes set marks = '[{"runId": 1000, "nonce": "intended", "written": false}]' || marks`,
  );
  await type(workspace, 'Oslo');
  expect(await workspace.sync()).toMatchObject({ status: 'succeeded', updated: { leads: 1 } });
});

test('all state was lost: the table is taken over, once said; nothing is made twice or overwritten', async () => {
  await using workspace = await inStep();
  await using fresh = await ownState();
  const after = workspace.withState(fresh.url);
  const before = await readFile(pathOf(workspace));
  expect(await after.sync()).toMatchObject({
    status: 'partial',
    created: { leads: 0, rows: 0 },
    updated: { leads: 0, rows: 0 },
    problems: [{ code: 'target.taken-over' }],
  });
  expect(await readFile(pathOf(workspace))).toEqual(before);
  // Nothing was written, so the old mark is still there: it is known by now.
  expect(await after.sync()).toMatchObject({ status: 'succeeded', problems: [] });
  await type(workspace, 'Rome');
  expect(await after.sync()).toMatchObject({ status: 'succeeded', updated: { leads: 1 } });
});

test('two that keep one table: the one that is overtaken stops, and takes the table over when it is allowed', async () => {
  await using workspace = await inStep();
  await using fresh = await ownState();
  const other = workspace.withState(fresh.url);
  expect((await other.sync()).problems).toMatchObject([{ code: 'target.taken-over' }]);
  move(workspace, 'Rome');
  expect(await other.sync()).toMatchObject({ status: 'succeeded', updated: { rows: 1 } });

  const before = await readFile(pathOf(workspace));
  move(workspace, 'Oslo', 1);
  expect(await workspace.sync()).toMatchObject({
    status: 'stopped',
    problems: [{ code: 'guard.other-keeper' }],
  });
  expect(await readFile(pathOf(workspace))).toEqual(before);
  expect(await other.sync()).toMatchObject({ status: 'succeeded', updated: { rows: 1 } });

  move(workspace, 'Bonn', 2);
  const allowed = await workspace.sync({ allow: ['other-keeper'] });
  // What differs at first sight is held, and nothing was written.
  expect(allowed).toMatchObject({ status: 'partial', held: 1, created: { leads: 0, rows: 0 } });
  await type(workspace, 'Rome', 'Oslo', 'Bonn');
  move(workspace, 'Kiel', 4);
  expect(await workspace.sync()).toMatchObject({ status: 'succeeded', updated: { rows: 1 } });
  expect(await other.sync()).toMatchObject({ status: 'stopped', problems: [{ code: 'guard.other-keeper' }] });
});

test('a copy of the state on the same table, or an old state restored: the state that does not know the mark stops', async () => {
  await using workspace = await inStep();
  await using copy = await copied(workspace);
  const staging = workspace.withState(copy.url);
  move(workspace, 'Rome');
  expect(await staging.sync()).toMatchObject({ status: 'succeeded', updated: { rows: 1 } });
  await type(workspace, 'Oslo');
  const before = await readFile(pathOf(workspace));
  const stopped = await workspace.sync();
  expect(stopped).toMatchObject({ status: 'stopped', problems: [{ code: 'guard.older-state' }] });
  expect(await readFile(pathOf(workspace))).toEqual(before);
  expect(await workspace.run({ mode: 'plan' })).toMatchObject({ refusals: [{ code: 'older-state' }] });

  const leads = workspace.sandbox.leads.list();
  expect(await workspace.sync({ allow: ['older-state'] })).toMatchObject({
    status: 'partial',
    held: 1,
    created: { leads: 0, rows: 0 },
    updated: { leads: 0, rows: 0 },
  });
  expect(workspace.sandbox.leads.list()).toEqual(leads);
});

test('a state of its own that makes rows in its first sync leaves its own mark', async () => {
  await using workspace = await inStep();
  await using fresh = await ownState();
  const before = await markIn(workspace);
  workspace.sandbox.leads.add({ companyName: 'Newcomer Ltd', city: 'Linz' });
  const report = await workspace.withState(fresh.url).sync();
  expect(report).toMatchObject({ created: { rows: 1 }, problems: [{ code: 'target.taken-over' }] });
  const after = await markIn(workspace);
  expect(after?.nonce).not.toBe(before?.nonce);
  expect(after?.keeper).not.toBe(before?.keeper);
  expect(await workspace.sync()).toMatchObject({ problems: [{ code: 'guard.other-keeper' }] });
});

test('a workbook that was left open and saved in the morning is an older copy, by a single cell', async () => {
  await using workspace = await inStep();
  await copyFile(pathOf(workspace), pathOf(workspace, 'open.xlsx'));
  move(workspace, 'Rome');
  expect(await workspace.sync()).toMatchObject({ status: 'succeeded', updated: { rows: 1 } });
  await copyFile(pathOf(workspace, 'open.xlsx'), pathOf(workspace));
  const leads = workspace.sandbox.leads.list();
  const stopped = await workspace.sync();
  expect(stopped).toMatchObject({ status: 'stopped', problems: [{ code: 'guard.older-copy' }] });
  expect(stopped.problems[0]?.message).toContain('it has the mark of run');
  expect(workspace.sandbox.leads.list()).toEqual(leads);

  // Allowed, it is the table from now on: an ordinary edit is no doubt any more.
  expect(await workspace.sync({ allow: ['older-copy'] })).toMatchObject({ updated: { leads: 1, rows: 0 } });
  await type(workspace, 'Bern');
  expect(await workspace.sync()).toMatchObject({ status: 'succeeded', updated: { leads: 1 } });

  // The run that took it over wrote no row, so a copy of the table after it bears an earlier run's mark.
  await copyFile(pathOf(workspace), pathOf(workspace, 'open.xlsx'));
  move(workspace, 'Oslo');
  expect(await workspace.sync()).toMatchObject({ status: 'succeeded', updated: { rows: 1 } });
  await copyFile(pathOf(workspace, 'open.xlsx'), pathOf(workspace));
  expect(await workspace.sync()).toMatchObject({
    status: 'stopped',
    problems: [{ code: 'guard.older-copy' }],
  });
});

/** What a program does that writes a file anew and knows nothing of custom properties. */
async function strip(workspace: Workspace): Promise<void> {
  const parts = unzipSync(await readFile(pathOf(workspace)));
  delete parts['docProps/custom.xml'];
  for (const name of ['[Content_Types].xml', '_rels/.rels']) {
    const text = strFromU8(parts[name] ?? new Uint8Array());
    parts[name] = strToU8(text.replace(/<(?:Override|Relationship)\b[^>]*custom[^>]*>/g, ''));
  }
  await writeFile(pathOf(workspace), zipSync(parts));
}

async function ownState() {
  const database = await createTestDatabase();
  return { url: database.url, [Symbol.asyncDispose]: () => database.drop() };
}

/** The state of a workspace as it is now, in a database of its own. */
async function copied({ database }: Workspace) {
  const server = inject('databaseUrl');
  const { pathname } = new URL(database.url);
  const from = pathname.slice(1);
  const name = `${from}_copy`;
  await administrate(
    server,
    `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${from}'`,
  );
  await administrate(server, `create database ${name} template ${from}`);
  const url = new URL(database.url);
  url.pathname = `/${name}`;
  return {
    url: url.href,
    [Symbol.asyncDispose]: () => administrate(server, `drop database ${name} with (force)`),
  };
}
