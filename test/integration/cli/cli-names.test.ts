import { expect, test } from 'vitest';
import { oneObject } from '../../support/cli.ts';
import { Workspace } from '../../support/workspace.ts';

/** Two leads with a conflict each, one with a date that only the lead can settle. */
async function threeHeld() {
  const workspace = await Workspace.open();
  const { sandbox, sheet } = workspace;
  const ids = ['Müller Bau GmbH', 'MÜLLER Logistik', 'Acme AG'].map(
    (companyName) => sandbox.leads.add({ companyName, city: 'Ulm', stage: 'new', nextFollowUpAt: null }).id,
  );
  await workspace.sync();
  const [bau = '', logistik = '', acme = ''] = ids;
  for (const id of [bau, logistik]) {
    sheet.edit((row) => row['Lead ID'] === id, { City: 'Bonn' });
    sandbox.leads.edit(id, { city: 'Köln' });
  }
  sheet.edit((row) => row['Lead ID'] === acme, { 'Next follow-up': 'next Tuesday' });
  return { workspace, bau, logistik, acme };
}

test('people and programs are told the company, runs are listed, and all that one side can settle is decided at once', async () => {
  const { workspace, bau, logistik, acme } = await threeHeld();
  await using here = workspace;
  const plan = oneObject(await here.cli('plan', '--json'));
  expect(plan['actions']).toMatchObject([
    { kind: 'hold', company: 'Müller Bau GmbH', leadId: bau },
    { kind: 'hold', company: 'MÜLLER Logistik', leadId: logistik },
    { kind: 'hold', company: 'Acme AG', leadId: acme },
  ]);
  const { stdout } = await here.cli('sync');
  expect(stdout).toMatch(/! Müller Bau GmbH: City was edited .*row 2\)/);
  expect(stdout).not.toContain(bau);
  expect(oneObject(await here.cli('conflicts', '--json'))['conflicts']).toMatchObject([
    { company: 'Müller Bau GmbH' },
    { company: 'MÜLLER Logistik' },
    { company: 'Acme AG' },
  ]);

  const wrong = await Promise.all([
    here.cli('resolve', '--use', 'lead'),
    here.cli('resolve', '1', '--all', '--use', 'lead'),
  ]);
  expect(wrong.map(({ code }) => code)).toEqual([2, 2]);
  const several = await here.cli('resolve', 'müller', '--use', 'row');
  expect([several.code, several.stderr]).toEqual([2, expect.stringContaining('MÜLLER Logistik, row 3')]);
  expect((await here.cli('resolve', 'nobody', '--use', 'row')).code).toBe(2);
  const one = await here.cli('resolve', 'müller bau', '--use', 'row');
  expect(one.stdout).toContain(
    'City of Müller Bau GmbH, row 2: "Bonn" of the row is kept, "Köln" of the lead is given up.\n',
  );
  const rows = await here.cli('resolve', '--all', '--use', 'row', '--json');
  expect(rows.code).toBe(3);
  expect(oneObject(rows)).toMatchObject({
    use: 'target',
    decided: ['2'],
    decidedBefore: 1,
    left: ['3'],
    changed: [],
  });
  const rest = await here.cli('resolve', '--all', '--use', 'lead');
  expect(rest.code).toBe(0);
  expect(rest.stdout).toContain(
    'Next follow-up of Acme AG, row 4: (empty) of the lead is kept, "next Tuesday" of the row is given up',
  );
  expect(rest.stdout).toContain(
    "1 conflict decided: the lead's value is kept.\n2 were decided before and stay so.",
  );
  await here.sync();
  expect(here.sandbox.leads.list().map(({ city }) => city)).toEqual(['Bonn', 'Bonn', 'Ulm']);

  const wrote = await here.cli('status', '--runs', '4');
  expect(wrote.stdout).toMatch(
    /^main: run 4, succeeded: 3 changes\n {2}update-lead {2}Müller Bau GmbH, row 2/,
  );
  expect(wrote.stdout).toContain('    City: "Köln" → "Bonn"');
  expect((await here.cli('status', '--runs', '99')).code).toBe(2);

  const { runs } = (await here.cli('status', '--runs', '--json', '--limit', '3')).json<{ runs: object[] }>();
  expect(runs).toMatchObject([
    {
      runId: '4',
      connection: 'main',
      kind: 'sync',
      status: 'succeeded',
      changes: 3,
      held: 0,
      durationMs: expect.any(Number),
    },
    { runId: '3', kind: 'sync', status: 'partial', changes: 0, held: 3 },
    { runId: '2', kind: 'plan', changes: 0 },
  ]);
  here.sheet.write([['Lead ID', 'Company', 'Segment', 'City', 'Region', 'Stage', 'Next follow-up']]);
  expect((await here.sync()).status).toBe('stopped');
  const listed = await here.cli('status', '--runs', '--limit', '1');
  expect(listed.stdout).toMatch(
    /^main\n {5}5 {2}\S+ \S+ UTC {2}stopped, .*\n {8}the target has no rows.*\[guard\.target-gone\]\n$/,
  );
  expect((await here.cli('status', '--runs', '--limit', '0')).code).toBe(2);
});

test('a decision on all is taken only where what is held is what was listed', async () => {
  const { workspace } = await threeHeld();
  await using here = workspace;
  await here.sync();
  // Somebody edits once more, and a sync sees it, after the list was read and before the second decision.
  await here.database.pool.query(`create function edited() returns trigger language plpgsql as $$ begin
    update held set lead_value = '"Mainz"' where id = 2; return new; end $$`);
  await here.database.pool.query(
    `create trigger edited after update of resolution on held for each row when (new.id = 1) execute function edited()`,
  );
  const result = await here.cli('resolve', '--all', '--use', 'lead', '--json');
  expect(result.code).toBe(3);
  expect(oneObject(result)).toMatchObject({ decided: ['1', '3'], changed: ['2'] });
});

test('why finds a lead by part of the company name, and lists several', async () => {
  const { workspace, bau, logistik } = await threeHeld();
  await using here = workspace;
  expect((await here.cli('why', 'müller log', '--json')).json()).toMatchObject({
    leadId: logistik,
    company: 'MÜLLER Logistik',
  });
  expect((await here.cli('why', 'MÜLLER B')).stdout).toMatch(
    new RegExp(`^Müller Bau GmbH, main, lead ${bau}\n`),
  );
  const several = await here.cli('why', 'müller');
  expect(several.code).toBe(2);
  expect(several.stderr).toContain('2 leads have a company with "müller" in its name [usage.ambiguous-lead]');
  expect(several.stderr).toContain(
    `\n  Müller Bau GmbH, main, ${bau}\n  MÜLLER Logistik, main, ${logistik}\n`,
  );
  // A whole name is that lead's, though it is part of another one.
  const { id } = here.sandbox.leads.add({
    companyName: 'Müller',
    city: 'Ulm',
    stage: 'new',
    nextFollowUpAt: null,
  });
  await here.sync();
  expect((await here.cli('why', 'müller', '--json')).json()).toMatchObject({ leadId: id });
});

test('a company whose name is held is found by each name that it has', async () => {
  await using here = await Workspace.open();
  const { id } = here.sandbox.leads.add({ companyName: 'Becker Spedition', city: 'Ulm' });
  await here.sync();
  here.sheet.edit((row) => row['Lead ID'] === id, { Company: 'Becker Speditoin' });
  here.sandbox.leads.edit(id, { companyName: 'Becker Transporte' });
  await here.cli('sync');
  for (const name of ['becker spedition', 'speditoin', 'transporte', 'Becker'])
    expect(oneObject(await here.cli('why', name, '--json'))['leadId'], name).toBe(id);
});
