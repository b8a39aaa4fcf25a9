import { expect, test } from 'vitest';
import { advanceRun } from '../../../src/sync/run.ts';
import type { SyncReport } from '../../../src/sync/report.ts';
import type { Target, TargetRow } from '../../../src/ports/target.ts';
import { connectionName, Workspace } from '../../support/workspace.ts';

const clearIds = (here: Workspace, count: number): void => {
  const [head = [], ...rows] = here.sheet.grid();
  const at = head.indexOf('Lead ID');
  here.sheet.write([head, ...rows.map((row, nth) => (nth < count ? row.with(at, '') : row))]);
};

test('1,200 ids cleared: each comes back into its row, no lead and no row is made', async () => {
  await using here = await Workspace.open({ sandbox: { leads: 1_500, maxLimit: 1_000 } });
  await here.sync();
  const before = here.sheet.grid();
  clearIds(here, 1_200);
  const report = await here.sync();
  expect(report).toMatchObject({
    status: 'succeeded',
    created: { leads: 0, rows: 0 },
    updated: { leads: 0, rows: 1_200 },
    held: 0,
  });
  expect(here.sheet.grid()).toEqual(before);
});

test.each(['restore', 'delete-lead'] as const)(
  'ids cleared of all rows below an empty row (onRowDeleted %s): each comes back, a note beside them stays a note',
  async (onRowDeleted) => {
    await using here = await Workspace.open({
      sandbox: { leads: 8 },
      connection: { sync: { onRowDeleted } },
    });
    await here.sync();
    const [head = [], ...rows] = here.sheet.grid();
    const blank = head.map(() => '');
    const note = head.map((heading) => (heading === 'Company' ? 'Ask Eva' : ''));
    const table = [head, ...rows.slice(0, 5), blank, ...rows.slice(5), blank, note];
    here.sheet.write(
      table.map((row, nth) => (nth > 6 && nth < 10 ? row.with(head.indexOf('Lead ID'), '') : row)),
    );
    const report = await here.sync();
    expect(report).toMatchObject({
      status: 'partial',
      created: { leads: 0, rows: 0 },
      updated: { leads: 0, rows: 3 },
      deleted: { leads: 0, rows: 0 },
      problems: [{ code: 'row.apart', row: 8, message: expect.stringMatching(/^rows 8, 9, 10, 12 are/) }],
    });
    expect(here.sheet.grid()).toEqual(table);
    expect(await here.sync()).toMatchObject({
      created: { leads: 0, rows: 0 },
      updated: { leads: 0, rows: 0 },
      problems: [{ code: 'row.apart', row: 12 }],
    });
    expect(here.sandbox.leads.size).toBe(8);
  },
);

test('a row whose edits the service refuses loses its id: it is known by what is held of it', async () => {
  await using here = await Workspace.open({ sandbox: { leads: 3 } });
  await here.sync();
  const edited = { Company: '', Segment: 'edited', City: 'edited', Region: 'edited', Stage: 'edited' };
  const [first] = here.sheet.rows();
  const edit = here.sandbox.leads.edit.bind(here.sandbox.leads);
  here.sandbox.leads.edit = (id) => edit(id, {});
  here.sheet.edit((row) => row['Lead ID'] === first?.['Lead ID'], { ...edited, Company: 'Renamed AG' });
  expect(await here.sync()).toMatchObject({ held: 5 });

  clearIds(here, 1);
  expect(await here.sync()).toMatchObject({ created: { leads: 0, rows: 0 }, updated: { rows: 1 }, held: 5 });
  expect(here.sheet.rows()[0]).toEqual({ ...first, ...edited, Company: 'Renamed AG' });
  expect(here.sandbox.leads.size).toBe(3);
});

test('all ids cleared, a note below the table: each id comes back, new rows stay above the note, which stays a note', async () => {
  await using here = await Workspace.open({ sandbox: { leads: 4 } });
  await here.sync();
  const [head = [], ...rows] = here.sheet.grid();
  const blank = head.map(() => '');
  const note = head.map((heading) => (heading === 'Company' ? 'Ask Eva' : ''));
  here.sheet.write([head, ...rows.map((row) => row.with(head.indexOf('Lead ID'), '')), blank, note]);
  here.sandbox.leads.add({ companyName: 'Later', city: 'Linz', stage: 'new' });
  for (let night = 0; night < 2; night++)
    expect(await here.sync()).toMatchObject({
      created: { leads: 0, rows: night === 0 ? 1 : 0 },
      problems: [{ code: 'row.apart', row: night === 0 ? 7 : 8 }],
    });
  expect(here.sheet.grid().slice(0, 5)).toEqual([head, ...rows]);
  expect(here.sheet.grid().slice(6)).toEqual([blank, note]);
  expect(here.sandbox.leads.size).toBe(5);
});

test('a row that the sync made a lead of, copied, both ids cleared: held, nothing is made twice', async () => {
  await using here = await Workspace.open({ sandbox: { leads: 3 } });
  await here.sync();
  here.sheet.add({ Company: 'Dorn AG', City: 'Linz', Stage: 'new' });
  await here.sync();
  here.sheet.add({ Company: 'Dorn AG', City: 'Linz', Stage: 'new' });
  here.sheet.edit(({ Company }) => Company === 'Dorn AG', { 'Lead ID': '' });
  const report = await here.sync();
  expect(report).toMatchObject({ status: 'partial', created: { leads: 0, rows: 0 }, held: 2 });
  expect(here.sandbox.stats.byRoute.create).toBe(1);
});

test('what is held for its id is told by plan, sync, conflicts and why: which lead, and what to do', async () => {
  await using here = await Workspace.open({ sandbox: { leads: 8 } });
  await here.sync();
  const [first] = here.sheet.rows();
  const leadId = first?.['Lead ID'] ?? '';
  here.sheet.edit((row) => row['Lead ID'] === leadId, { 'Lead ID': '', City: 'Elsewhere' });
  const plan = await here.cli('plan');
  expect(plan.stdout).toContain('row.id-lost');
  expect(plan.stdout).toContain(leadId);
  const sync = await here.cli('sync', '--json');
  expect(sync.code).toBe(3);
  const [problem] = (JSON.parse(sync.stdout) as SyncReport).problems;
  expect(problem).toMatchObject({ code: 'row.id-lost', row: 2 });
  expect(problem?.message).toMatch(/has no id: no lead was created.*Type|type this id into its id cell/);
  const conflicts = await here.cli('conflicts');
  expect(conflicts.stdout).toContain(leadId);
  const why = await here.cli('why', leadId);
  expect(why.code).toBe(0);
});

test('many ids that nobody knows, as many rows gone: the run stops, and is overridden by its name', async () => {
  await using here = await Workspace.open({ sandbox: { leads: 12 } });
  await here.sync();
  const before = here.sandbox.log.filter(({ method }) => method !== 'GET').length;
  let nth = 0;
  here.sheet.edit(() => true, { 'Lead ID': 'x' });
  const [head = [], ...rows] = here.sheet.grid();
  here.sheet.write([head, ...rows.map((row) => row.with(head.indexOf('Lead ID'), `old-${++nth}`))]);
  const stopped = await here.cli('sync');
  expect(stopped.code).toBe(4);
  expect(stopped.stdout).toContain('ids-unknown');
  const allowed = await here.cli('sync', '--allow', 'ids-unknown', '--json');
  expect(allowed.code).toBe(3);
  expect(JSON.parse(allowed.stdout)).toMatchObject({ created: { leads: 0, rows: 0 }, held: 12 });
  // They are known now for what they are.
  expect((await here.cli('sync')).code).toBe(3);
  expect(here.sandbox.log.filter(({ method }) => method !== 'GET')).toHaveLength(before);
  clearIds(here, 12);
  expect(await here.sync()).toMatchObject({ status: 'succeeded', updated: { rows: 12 } });
});

/** The file, of which some id cells cannot be read or written, as a formula is in other tables. */
function spoilt(target: Target, spoil: (row: TargetRow) => TargetRow): Target {
  return {
    name: target.name,
    batchSize: target.batchSize,
    get requests() {
      return target.requests;
    },
    async open(options, signal) {
      const snapshot = await target.open(options, signal);
      async function* rows(): AsyncGenerator<readonly TargetRow[]> {
        for await (const batch of snapshot.rows) yield batch.map(spoil);
      }
      return { ...snapshot, rows: rows() };
    },
    write: (changes, signal) => target.write(changes, signal),
  };
}

async function syncSpoilt(here: Workspace, spoil: (row: TargetRow) => TargetRow): Promise<SyncReport> {
  await using app = await here.openApp();
  const context = app.contexts.get(connectionName);
  if (context === undefined) throw new Error('the connection is not configured');
  const request = { mode: 'sync', allow: ['first-leads'], maxAttempts: 1 } as const;
  const target = spoilt(context.target, spoil);
  const result = await advanceRun({ ...context, target }, request, new AbortController().signal);
  if (result.kind !== 'finished') throw new Error(`the run is to be taken up again: ${result.why}`);
  return result.run.report as SyncReport;
}

const unreadable = (row: TargetRow): TargetRow => ({ ...row, leadId: null, unreadableId: '#REF!' });

test.each(['restore', 'delete-lead'])(
  'onRowDeleted %s: no row counts as gone while the id of a row cannot be read, and nothing is made of it',
  async (onRowDeleted) => {
    await using here = await Workspace.open({
      sandbox: { leads: 20 },
      connection: { sync: { onRowDeleted } },
    });
    await here.sync();
    const rows = here.sheet.rows();
    const gone = rows[3]?.['Lead ID'];
    here.sheet.remove((row) => row['Lead ID'] === gone);
    here.sheet.add({ Company: 'Dorn AG', City: 'Linz', Stage: 'new' });
    const spoil = (row: TargetRow): TargetRow => (row.leadId === null ? unreadable(row) : row);
    for (let night = 0; night < 3; night++) {
      const report = await syncSpoilt(here, spoil);
      expect(report).toMatchObject({
        status: 'partial',
        created: { leads: 0, rows: 0 },
        deleted: { leads: 0, rows: 0 },
        held: 1,
        problems: [{ code: 'row.id-unreadable', row: 21 }],
      });
      expect(report.problems[0]?.message).toMatch(/"Dorn AG".*"#REF!".*as plain text, or empty the cell/);
    }
    expect(here.sandbox.leads.list()).toHaveLength(20);
  },
);

test('where it can be told whose row it is, other rows count as gone', async () => {
  await using here = await Workspace.open({ sandbox: { leads: 20 } });
  await here.sync();
  const rows = here.sheet.rows();
  const [mine, gone] = [rows[1]?.['Lead ID'], rows[3]?.['Lead ID']];
  here.sheet.remove((row) => row['Lead ID'] === gone);
  const report = await syncSpoilt(here, (row) => (row.leadId === mine ? unreadable(row) : row));
  expect(report).toMatchObject({ created: { leads: 0, rows: 1 }, problems: [{ code: 'row.id-unreadable' }] });
  expect(report.problems[0]?.message).toContain(mine);
  expect(here.sheet.rows().filter((row) => row['Lead ID'] === gone)).toHaveLength(1);
});

test.each(['#REF!', '#BEZUG!', '#N/A', 'Err:502'])(
  'a CSV file in which an id became %s, the name and two fields edited: no row is written a second time',
  async (error) => {
    await using here = await Workspace.open({
      sandbox: { leads: 6 },
      connection: { sync: { direction: 'to-target' } },
    });
    await here.sync();
    const leadId = here.sheet.rows()[2]?.['Lead ID'] ?? '';
    const isMine = (row: Record<string, string>): boolean => row['Lead ID'] === leadId;
    here.sheet.edit(isMine, {
      'Lead ID': error,
      Company: 'Dorn AG',
      City: 'Linz',
      Segment: 'other',
      Stage: 'won',
    });
    for (let night = 0; night < 2; night++) {
      expect(await here.sync()).toMatchObject({
        status: 'partial',
        created: { leads: 0, rows: 0 },
        held: 1,
        problems: [{ code: 'row.id-unreadable', row: 4 }],
      });
    }
    here.sheet.edit((row) => row['Lead ID'] === error, { 'Lead ID': leadId });
    expect(await here.sync()).toMatchObject({ status: 'succeeded', created: { leads: 0, rows: 0 } });
    expect(here.sheet.rows()).toHaveLength(6);
  },
);

test('all state is lost and no id can be read: no lead and no row is made', async () => {
  await using here = await Workspace.open({ sandbox: { leads: 6 } });
  await here.sync();
  await here.database.pool.query('truncate pairs, held, actions cascade');
  const report = await syncSpoilt(here, unreadable);
  expect(report).toMatchObject({ created: { leads: 0, rows: 0 }, held: 6 });
  expect(here.sheet.rows()).toHaveLength(6);
});

test('no lead is made of a row into which no id can be written', async () => {
  await using here = await Workspace.open({ sandbox: { leads: 5 } });
  await here.sync();
  here.sheet.add({ Company: 'Dorn AG', City: 'Linz', Stage: 'new' });
  const idClosed = 'The cell A7 is protected.';
  const report = await syncSpoilt(here, (row) => (row.leadId === null ? { ...row, idClosed } : row));
  expect(report).toMatchObject({
    created: { leads: 0, rows: 0 },
    problems: [{ code: 'row.id-closed', row: 7 }],
  });
  expect(report.problems[0]?.message).toMatch(/"Dorn AG".*A7 is protected\. No lead was created/);
  expect(await here.sync()).toMatchObject({ created: { leads: 1, rows: 0 } });
});

test('a service that spells its ids in capitals is asked in capitals, whatever the table has', async () => {
  await using here = await Workspace.open({ sandbox: { leads: 0 } });
  const ids = ['A', 'B', 'C'].map((end) => `018C2F3A-0000-7000-8000-00000000000${end}`);
  for (const id of ids) here.sandbox.leads.add({ id, companyName: `Firm ${id.at(-1)}`, city: 'Ulm' });
  await here.sync();
  expect(here.sheet.rows().map((row) => row['Lead ID'])).toEqual(ids);
  const [head = [], ...rows] = here.sheet.grid();
  here.sheet.write([head, ...rows.map((row) => row.with(0, row[0]?.toLowerCase() ?? ''))]);
  here.sheet.edit((row) => row['Company'] === 'Firm A', { City: 'Bonn' });
  here.sandbox.leads.edit(ids[1] ?? '', { city: 'Köln' });
  expect(await here.sync()).toMatchObject({
    status: 'succeeded',
    created: { leads: 0, rows: 0 },
    updated: { leads: 1, rows: 1 },
  });
  expect(here.sheet.rows().map((row) => row['City'])).toEqual(['Bonn', 'Köln', 'Ulm']);
  expect(await here.sync()).toMatchObject({ updated: { leads: 0, rows: 0 } });
});
