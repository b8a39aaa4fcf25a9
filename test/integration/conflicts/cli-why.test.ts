import { userInfo } from 'node:os';
import { describe, expect, test } from 'vitest';
import { parseFaults } from '../../../src/demo/faults.ts';
import { pair, refused, rules, why } from '../../support/why.ts';
import { connectionName, Workspace } from '../../support/workspace.ts';

describe('leadsync why', () => {
  test('tells where each value came from, newest first: the new lead, the edits of both sides', async () => {
    await using workspace = await Workspace.open();
    const { sandbox, sheet } = workspace;
    const id = await pair(workspace);
    sheet.edit((row) => row['Lead ID'] === id, { Stage: 'won' });
    await workspace.sync();
    sandbox.leads.edit(id, { stage: 'lost' });
    const { runId } = await workspace.sync();

    const told = await why(workspace, id);
    expect(told).toMatchObject({ leadId: id, connection: connectionName, deletions: [], held: [] });
    expect(Object.keys(told.fields)).toEqual([
      'companyName',
      'segment',
      'city',
      'region',
      'stage',
      'nextFollowUpAt',
    ]);
    expect(told.fields['stage']).toEqual({
      base: 'lost',
      held: null,
      history: [
        {
          run: runId,
          at: expect.stringMatching(/^\d{4}-.*Z$/),
          rule: 'lead-edited',
          side: 'row',
          base: 'won',
          lead: 'lost',
          row: 'won',
          written: 'lost',
        },
        expect.objectContaining({
          rule: 'row-edited',
          side: 'lead',
          base: 'new',
          lead: 'new',
          row: 'won',
          written: 'won',
        }),
        expect.objectContaining({ rule: 'new-lead', side: 'row', lead: 'new', row: null, written: 'new' }),
      ],
    });
    expect(told.fields['stage']?.history[2]).not.toHaveProperty('base');
    expect(rules(told, 'city')).toEqual(['new-lead']);
    expect(told.fields['nextFollowUpAt']).toMatchObject({ base: null });

    const people = (await workspace.cli('why', id)).stdout;
    expect(people).toContain("the row was edited, the lead had not changed: the lead got the row's value");
    expect(people).toContain('agreed "new" | lead "new" | row "won" -> lead: "won"');
    expect(people).toContain('the lead was new: a row was created from it');
    expect(people).toMatch(/The history begins at .* UTC; it is kept for 90 days/);
  });

  test('one field alone, by its name or its heading; long and many-lined text stays one short line', async () => {
    await using workspace = await Workspace.open();
    const id = await pair(workspace);
    workspace.sheet.edit((row) => row['Lead ID'] === id, { City: `first\nsecond ${'x'.repeat(500)}` });
    await workspace.sync();
    expect(Object.keys((await why(workspace, id, 'city')).fields)).toEqual(['city']);
    expect(Object.keys((await why(workspace, id, 'City')).fields)).toEqual(['city']);
    const people = (await workspace.cli('why', id, 'city')).stdout;
    expect(people).not.toContain('stage');
    expect(people).toContain(String.raw`"first\nsecond xxx`);
    for (const line of people.split('\n')) expect(line.length).toBeLessThan(220);
    const error = refused(await workspace.cli('why', id, 'colour', '--json'));
    expect(error.code).toBe('usage.unknown-field');
    expect(error.help).toContain('companyName, segment, city');
  });

  test('a new row: the lead was made of it, also when the reply was lost and the lead found again', async () => {
    await using workspace = await Workspace.open();
    const { sandbox, sheet } = workspace;
    await pair(workspace);
    sheet.add({ Company: 'Plain', City: 'Bonn' });
    await workspace.sync();
    sandbox.set({ faults: parseFaults('lost-reply:once=1,on=POST') });
    sheet.add({ Company: 'Lost', City: 'Kiel' });
    await workspace.sync();
    const { rows } = await workspace.database.pool.query(
      `select from leadsync.actions where kind = 'link' and reason = 'settled-create'`,
    );
    expect(rows).toHaveLength(1);
    for (const [name, city] of [
      ['Plain', 'Bonn'],
      ['Lost', 'Kiel'],
    ]) {
      const leads = sandbox.leads.list().filter(({ companyName }) => companyName === name);
      expect(leads).toHaveLength(1);
      const told = await why(workspace, leads[0]?.id ?? '');
      expect(told.fields['city']).toMatchObject({
        base: city,
        history: [{ rule: 'new-row', side: 'lead', lead: null, row: city, written: city }],
      });
      expect(rules(told, 'companyName')).toEqual(['new-row']);
    }
  });

  test('what is held now, with both values and the id for resolve; then the decision', async () => {
    await using workspace = await Workspace.open();
    const { sandbox, sheet } = workspace;
    const id = await pair(workspace);
    sheet.edit((row) => row['Lead ID'] === id, { City: 'Bonn' });
    sandbox.leads.edit(id, { city: 'Köln' });
    await workspace.sync();
    const told = await why(workspace, id, 'city');
    const held = told.fields['city']?.held as { id: string } | null;
    expect(told.fields['city']).toMatchObject({
      base: 'Ulm',
      held: { code: 'conflict.both-edited', lead: 'Köln', row: 'Bonn', resolution: null },
    });
    const command = `leadsync resolve ${held?.id} --use lead|row`;
    expect((await workspace.cli('why', id, 'city')).stdout).toContain(command);
    expect((await workspace.cli('resolve', held?.id ?? '', '--use', 'target')).code).toBe(0);
    const by = userInfo().username;
    const at = expect.stringMatching(/^20\d\d-.*Z$/);
    const { conflicts } = (await workspace.cli('conflicts', '--json')).json<{ conflicts: object[] }>();
    expect(conflicts).toMatchObject([{ resolution: 'target', decided: { by, at } }]);
    expect((await workspace.cli('conflicts')).stdout).toContain(`the row's value, by ${by}; leadsync sync`);
    await workspace.sync();
    const after = await why(workspace, id, 'city');
    expect(after.fields['city']).toMatchObject({
      base: 'Bonn',
      held: null,
      history: [
        { rule: 'resolved', side: 'lead', base: 'Ulm', lead: 'Köln', row: 'Bonn', written: 'Bonn' },
        {},
      ],
      decisions: [{ by, at, choice: 'target', lead: 'Köln', row: 'Bonn' }],
    });
  });

  test('the loser of a policy is named, at first sight and later', async () => {
    await using workspace = await Workspace.open({
      connection: { sync: { onConflict: 'leads-win', onFirstSync: 'target-wins' } },
    });
    const { sandbox, sheet } = workspace;
    const { id } = sandbox.leads.add({
      companyName: 'Acme',
      city: 'Ulm',
      stage: 'new',
      nextFollowUpAt: null,
    });
    const headings = ['Lead ID', 'Company', 'Segment', 'City', 'Region', 'Stage', 'Next follow-up'];
    sheet.write([headings, [id, 'Acme', '', 'Bonn', 'South', 'new', '']]);
    await workspace.sync();
    sheet.edit((row) => row['Lead ID'] === id, { City: 'Kiel' });
    sandbox.leads.edit(id, { city: 'Hof' });
    await workspace.sync();
    const told = await why(workspace, id);
    expect(told.fields['city']?.history).toMatchObject([
      { rule: 'leads-win', side: 'row', base: 'Bonn', lead: 'Hof', row: 'Kiel', written: 'Hof' },
      { rule: 'target-wins', side: 'lead', lead: 'Ulm', row: 'Bonn', written: 'Bonn' },
    ]);
    expect(rules(told, 'region')).toEqual(['fills-empty']);
    const people = (await workspace.cli('why', id, 'city')).stdout;
    expect(people).toContain('both sides were edited and onConflict is leads-win');
    expect(people).toContain('the two differed at first sight and onFirstSync is target-wins');
  });

  test('what the service stores otherwise: what was typed, what was sent, what the row got', async () => {
    await using workspace = await Workspace.open({ sandbox: { trimText: true } });
    const id = await pair(workspace);
    workspace.sheet.edit((row) => row['Lead ID'] === id, { City: '  Bonn  ' });
    await workspace.sync();
    expect((await why(workspace, id, 'city')).fields['city']?.history).toMatchObject([
      { rule: 'stored-otherwise', side: 'row', row: '  Bonn  ', lead: 'Bonn', written: 'Bonn' },
      { rule: 'row-edited', side: 'lead', lead: 'Ulm', row: '  Bonn  ', written: 'Bonn' },
      { rule: 'new-lead' },
    ]);
  });
});
