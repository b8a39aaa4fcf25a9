import { expect, test, vi } from 'vitest';
import { oneObject } from '../../support/cli.ts';
import { Scene } from './cli-google-sheets-scene.ts';

// Each test starts many processes.
vi.setConfig({ testTimeout: 180_000 });

test('names zone, dates that nobody understands, missing and protected columns', async () => {
  await using scene = await Scene.open({}, 3);
  await scene.sync();
  const { sheets, workspace } = scene;
  const [lead] = workspace.sandbox.leads.list();
  scene.type(lead?.id ?? '', 'Next follow-up', 'next Tuesday');
  expect(await scene.checked('target')).toMatchObject({
    ok: true,
    message: expect.stringMatching(
      /Leads: 3 rows, .*, dates in Europe\/Berlin; sync.timeZone is UTC: .*; 1 cell cannot be read .*Next follow-up: next Tuesday$/,
    ),
  });
  sheets.person.protect('Leads', 'F:F');
  expect(await scene.checked('columns')).toMatchObject({
    ok: false,
    code: 'target.cell-not-writable',
    message: expect.stringContaining(': Stage.'),
    help: expect.stringContaining('Protect sheets and ranges'),
  });
  sheets.person.unprotect('Leads');
  expect(await scene.checked('columns')).toBeUndefined();
  sheets.person.deleteColumns('Leads', 3);
  sheets.person.deleteColumns('Leads', 3);
  const missing = await scene.checked('columns');
  expect(missing).toMatchObject({ ok: false, code: 'target.column-missing' });
  expect(missing?.message).toMatch(/City[^]*Region/);
  scene.expectNoSecret();
});

test('a copied file: check and sync stop; --fix takes it as the target', async () => {
  await using scene = await Scene.open({}, 3);
  await scene.sync();
  expect(await scene.checked('fix', {}, '--fix')).toMatchObject({
    ok: true,
    message: 'nothing had to be fixed',
  });
  const copy = scene.sheets.person.copySpreadsheet();
  scene.pointTo(copy.spreadsheetId);
  expect(await scene.checked('target')).toMatchObject({
    ok: false,
    code: 'target.copied',
    help: expect.stringContaining('leadsync check --fix'),
  });
  const before = copy.person.grid('Leads');
  const stopped = await scene.cli('sync', '--json');
  expect(stopped.code).toBe(1);
  expect(oneObject(stopped)).toMatchObject({ status: 'failed', problems: [{ code: 'target.copied' }] });
  expect(copy.person.grid('Leads')).toEqual(before);

  const fixed = await scene.cli('check', '--fix');
  expect(fixed.code, fixed.stdout).toBe(0);
  expect(fixed.stdout).toContain(`${copy.spreadsheetId}/Leads was a copy; it is the target from now on`);
  expect((await scene.cli('check')).code).toBe(0);
  expect(await scene.sync()).toMatchObject({ status: 'succeeded', created: { rows: 0 } });
  scene.expectNoSecret();
});

test('says how many rows have an id that cannot be read, which, and what to do', async () => {
  await using scene = await Scene.open({}, 4);
  await scene.sync();
  expect(await scene.checked('ids')).toBeUndefined();
  for (const row of [2, 3]) scene.sheets.person.type('Leads', row, 0, '=NA()');
  const ids = await scene.checked('ids');
  expect(ids).toMatchObject({
    ok: false,
    code: 'row.id-unreadable',
    message: expect.stringMatching(/2 rows.*such as row 3: .*NA\(\)/),
    help: expect.stringMatching(/as plain text, or empty/),
  });
  expect((await scene.cli('check')).code).toBe(1);
  expect(await scene.sync()).toMatchObject({ held: 2, deleted: { leads: 0, rows: 0 } });
});

test('says how many new rows can get no id, and why', async () => {
  await using scene = await Scene.open({}, 4);
  await scene.sync();
  scene.sheets.person.type('Leads', 5, 1, 'Dorn AG');
  expect(await scene.checked('ids')).toBeUndefined();
  scene.sheets.person.protect('Leads', 'A6');
  expect(await scene.checked('ids')).toMatchObject({
    ok: false,
    code: 'row.id-closed',
    message: expect.stringMatching(/1 row without one.*row 6: The cell A6 is protected\./),
  });
});
