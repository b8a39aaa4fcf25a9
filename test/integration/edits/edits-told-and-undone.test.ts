import { expect, test } from 'vitest';
import { editScene, friday, monday, tuesday } from './edit-scene.ts';

test('`why` and `runs` tell who moved it, from what, to what; `undo` puts it back, before and after the row followed', async () => {
  await using scene = await editScene();
  const { runId } = await scene.carryOut({});

  const { stdout: story } = await scene.cli('why', scene.leadId, 'nextFollowUpAt');
  expect(story).toMatch(/run 2: anna@example.com requested it by the link in a mail at .+: the lead got it/);
  expect(story).toContain('lead "2031-03-03 08:00 UTC" -> lead: "2031-03-04 08:00 UTC"');
  const { stdout: runs } = await scene.cli('status', '--runs', '--json');
  expect(JSON.parse(runs)).toMatchObject({ runs: [{ runId, kind: 'edit', changes: 1 }, { kind: 'sync' }] });

  expect((await scene.cli('undo', runId, '--yes')).stderr).toBe('');
  expect([scene.due(), scene.rowDue()]).toEqual([monday, monday]);

  const second = await scene.carryOut({ source: 'calendar' });
  await scene.sync();
  expect(scene.rowDue()).toBe(tuesday);
  await scene.cli('undo', second.runId, '--yes');
  await scene.sync();
  expect([scene.due(), scene.rowDue()]).toEqual([monday, monday]);
});

test('an undo leaves alone what was edited since', async () => {
  await using scene = await editScene();
  const { runId } = await scene.carryOut({});
  scene.sandbox.leads.edit(scene.leadId, { nextFollowUpAt: friday });
  const { stdout } = await scene.cli('undo', runId, '--yes', '--json');
  expect(JSON.parse(stdout)).toMatchObject({ problems: [{ code: 'undo.edited-since' }] });
  expect(scene.due()).toBe(friday);
});

test('a conflict is listed until somebody decides: the requested value over the present one, or neither', async () => {
  await using scene = await editScene();
  scene.sandbox.leads.edit(scene.leadId, { nextFollowUpAt: friday });
  await scene.carryOut({});
  // A sync lets it stand, and says that something is held.
  expect(await scene.sync()).toMatchObject({ status: 'partial', held: 1 });
  const { stdout } = await scene.cli('conflicts');
  expect(stdout).toContain('Next follow-up: lead "2031-03-07 08:00 UTC" | requested "2031-03-04 08:00 UTC"');
  const [edit] = await scene.edits();
  const resolve = async (use: string) => (await scene.cli('resolve', String(edit?.id), '--use', use)).stdout;

  expect(await scene.cli('resolve', '--all', '--use', 'target')).toMatchObject({
    stdout:
      'there are no conflicts that take this answer\n1 further item takes another answer.\nleadsync conflicts lists what is open.\n',
  });
  expect(await resolve('requested')).toMatch(
    /^Next follow-up of .*: "2031-03-04 08:00 UTC" of the request is kept, "2031-03-07 08:00 UTC" of the lead is given up\.\nNothing has been written yet; the worker carries it out\.\n$/,
  );
  expect(await scene.carryOut()).toMatchObject({ status: 'succeeded' });
  expect(scene.due()).toBe(tuesday);
  expect((await scene.cli('why', scene.leadId)).stdout).toContain('decided that the edit is carried out');

  await scene.carryOut({ from: monday, to: friday });
  const [, again] = await scene.edits();
  await scene.cli('resolve', String(again?.id), '--use', 'lead');
  expect(await scene.carryOut()).toMatchObject({ status: 'succeeded', updated: { leads: 0 } });
  expect(await scene.edits()).toMatchObject([{ state: 'applied' }, { state: 'superseded' }]);
  expect(scene.due()).toBe(tuesday);
});
