import { userInfo } from 'node:os';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parseFaults } from '../../../src/sandbox/parse-faults.ts';
import type { CliResult } from '../../support/cli.ts';
import { connectionName, Workspace } from '../../support/workspace.ts';

interface Write {
  readonly run: string;
  readonly at: string;
  readonly rule: string;
  readonly side: string;
  readonly base?: string | null;
  readonly lead?: string | null;
  readonly row?: string | null;
  readonly written: string | null;
}

interface Told {
  readonly leadId: string;
  readonly connection: string;
  readonly knownSince: string | null;
  readonly deletedAt: string | null;
  readonly historySince: string | null;
  readonly deletions: readonly { readonly kind: string; readonly reason: string }[];
  readonly held: readonly { readonly id: string; readonly code: string }[];
  readonly fields: Readonly<
    Record<
      string,
      { readonly base?: string | null; readonly held: object | null; readonly history: readonly Write[] }
    >
  >;
}

async function why(workspace: Workspace, ...args: string[]): Promise<Told> {
  const result = await workspace.cli('why', ...args, '--json');
  expect(result.code, result.stderr).toBe(0);
  expect(result.stdout).toMatch(/^\{.*\}\n$/);
  return result.json<Told>();
}

function refused(result: CliResult): { code: string; message: string; help: string } {
  expect(result.code).toBe(2);
  return result.json<{ error: { code: string; message: string; help: string } }>().error;
}

/** A lead with a row, both in step. */
async function pair(workspace: Workspace, cells: object = {}): Promise<string> {
  const { id } = workspace.sandbox.leads.add({
    companyName: 'Acme',
    city: 'Ulm',
    stage: 'new',
    nextFollowUpAt: null,
    ...cells,
  });
  await workspace.sync();
  return id;
}

const rules = (told: Told, field: string): string[] =>
  (told.fields[field]?.history ?? []).map(({ rule }) => rule);

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
    const command = `leadsync resolve ${held?.id} --use lead|target`;
    expect((await workspace.cli('why', id, 'city')).stdout).toContain(command);
    expect((await workspace.cli('resolve', held?.id ?? '', '--use', 'target')).code).toBe(0);
    const by = userInfo().username;
    const at = expect.stringMatching(/^20\d\d-.*Z$/);
    const { conflicts } = (await workspace.cli('conflicts', '--json')).json<{ conflicts: object[] }>();
    expect(conflicts).toMatchObject([{ resolution: 'target', decided: { by, at } }]);
    expect((await workspace.cli('conflicts')).stdout).toContain(
      `the target's value, by ${by}; leadsync sync`,
    );
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

  test.each(['mark', 'remove'] as const)(
    'a deleted lead (%s): says so, and what its row had',
    async (how) => {
      await using workspace = await Workspace.open({
        connection: {
          sync: { onLeadDeleted: how },
          target: how === 'mark' ? { statusColumn: 'Status' } : {},
        },
      });
      const id = await pair(workspace);
      await pair(workspace, { companyName: 'Other' });
      workspace.sandbox.leads.remove(id);
      await workspace.sync();
      await workspace.sync();
      const told = await why(workspace, id);
      expect(told.deletedAt).toEqual(expect.any(String));
      expect(told.deletions).toMatchObject([{ kind: `${how}-row`, reason: 'lead-deleted' }]);
      expect(rules(told, 'city')).toEqual(how === 'mark' ? ['new-lead'] : ['lead-deleted', 'new-lead']);
      expect((await workspace.cli('why', id)).stdout).toContain('deleted in the service');
      if (how === 'mark') return;
      expect(told.fields['city']?.history[0]).toMatchObject({ lead: null, row: 'Ulm', written: null });
      await workspace.sync();
      await workspace.sync();
      const gone = await why(workspace, id);
      expect(gone.knownSince).toBeNull();
      expect(gone.fields['city']).toMatchObject({
        held: null,
        history: [{ row: 'Ulm' }, { written: 'Ulm' }],
      });
      expect((await workspace.cli('why', id)).stdout).toContain('gone on both sides');
    },
  );

  test('a deleted row: the lead that was deleted with it, or the row that was written again', async () => {
    await using workspace = await Workspace.open({ connection: { sync: { onRowDeleted: 'delete-lead' } } });
    const id = await pair(workspace);
    const other = await pair(workspace, { companyName: 'Other' });
    workspace.sheet.remove((row) => row['Lead ID'] === id);
    await workspace.sync();
    await workspace.sync();
    const told = await why(workspace, id);
    expect(told.deletions).toMatchObject([{ kind: 'delete-lead', reason: 'row-deleted' }]);
    expect(told.fields['city']?.history[0]).toMatchObject({
      rule: 'row-deleted',
      side: 'lead',
      lead: 'Ulm',
      row: null,
      written: null,
    });
    workspace.sheet.remove((row) => row['Lead ID'] === other);
    workspace.sandbox.leads.edit(other, { city: 'Hof' });
    await workspace.sync();
    expect((await why(workspace, other)).fields['city']?.history[0]).toMatchObject({
      rule: 'row-deleted-but-lead-edited',
      side: 'row',
      row: null,
      written: 'Hof',
    });
  });

  test('an undone run: what was put back, without a value of the other side that is not on record', async () => {
    await using workspace = await Workspace.open();
    const id = await pair(workspace);
    workspace.sheet.edit((row) => row['Lead ID'] === id, { City: 'Bonn' });
    const { runId } = await workspace.sync();
    const undone = await workspace.cli('undo', runId, '--yes', '--json');
    expect(undone.code, undone.stderr).toBe(0);
    const [last] = (await why(workspace, id, 'city')).fields['city']?.history ?? [];
    expect(last).toMatchObject({ rule: 'undone', side: 'lead', lead: 'Bonn', written: 'Ulm' });
    expect(last).not.toHaveProperty('row');
    expect((await workspace.cli('why', id, 'city')).stdout).toContain(
      'a run was undone: the lead got back what it had before',
    );
  });

  test('a record that is held as a whole: a second row with the id, an id that nobody knows', async () => {
    await using workspace = await Workspace.open();
    const id = await pair(workspace);
    workspace.sheet.add({ 'Lead ID': id, Company: 'Copy' });
    workspace.sheet.add({ 'Lead ID': 'nobody-knows-it', Company: 'Orphan' });
    await workspace.sync();
    expect((await why(workspace, id)).held).toMatchObject([{ code: 'row.duplicate-id' }]);
    expect((await why(workspace, 'nobody-knows-it')).held).toMatchObject([{ code: 'row.orphan' }]);
    expect((await workspace.cli('why', 'nobody-knows-it')).stdout).toContain('never seen in the service');
  });

  test('the beginning of an id is enough from 8 characters on, when it names one lead', async () => {
    await using workspace = await Workspace.open({ sandbox: { idKind: 'uuid7' } });
    const ids = [await pair(workspace), await pair(workspace, { companyName: 'Other' })];
    const [id = ''] = ids;
    expect((await why(workspace, id.slice(0, -1))).leadId).toBe(id);
    const ambiguous = refused(await workspace.cli('why', id.slice(0, 8), '--json'));
    expect(ambiguous.code).toBe('usage.ambiguous-lead');
    for (const each of ids) expect(ambiguous.message).toContain(each);
    for (const unknown of [id.slice(0, 7), `${id}0`, '%%%%%%%%', '']) {
      const error = refused(await workspace.cli('why', unknown, '--json'));
      expect(error.code).toBe('usage.unknown-lead');
      expect(error.help).toContain(`2 in ${connectionName}`);
      expect(error.help).toContain('leadsync sync');
    }
  });

  test('a lead that several connections know is told for each', async () => {
    await using workspace = await Workspace.open();
    const id = await pair(workspace);
    const target = (path: string): object => ({ type: 'workbook', path });
    const leads = { baseUrl: workspace.sandbox.url, apiKey: '${LEADS_API_KEY}' };
    const connections = {
      [connectionName]: { leads, target: target('./leads.csv') },
      second: { leads, target: target('./second.csv') },
    };
    writeFileSync(join(workspace.folder, 'leadsync.yaml'), JSON.stringify({ connections }));
    expect((await workspace.cli('sync', '--connection', 'second')).code).toBe(0);
    const both = (await workspace.cli('why', id, 'city', '--json')).json<{ leads: Told[] }>();
    expect(both.leads.map(({ connection, leadId }) => [connection, leadId])).toEqual([
      [connectionName, id],
      ['second', id],
    ]);
    expect((await why(workspace, id, '--connection', 'second')).connection).toBe('second');
  });
});
