import { writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { createRandom } from '../../src/sandbox/random.ts';
import type { Run } from '../../src/store/runs.ts';
import type { SyncReport } from '../../src/sync/report.ts';
import { Workspace } from '../support/workspace.ts';

/** What a run makes of both sides: its plan, and all that it tells. */
async function madeOf({ database }: Workspace, run: Run) {
  const { rows: actions } = await database.pool.query<Record<string, unknown>>(
    `select to_jsonb(a) - array['id', 'run_id', 'created_at'] as action from actions a where run_id = $1 order by id`,
    [run.id],
  );
  const {
    runId: _,
    requests: _requests,
    durationMs: _ms,
    ...report
  } = run.report as SyncReport & { forecast?: unknown };
  const { records, comparedEqual, leftAlone, waiting, refusals, mark } = run;
  return {
    actions,
    report: { ...report, forecast: null },
    records,
    comparedEqual,
    leftAlone,
    waiting,
    refusals,
    mark,
  };
}

const kept = ['seals', 'moved', 'table_reads'];

/** The same without anything that spares work. */
async function withoutSeals<T>({ database: { pool } }: Workspace, run: () => Promise<T>): Promise<T> {
  for (const table of kept) await pool.query(`update ${table} set connection = '~' || connection`);
  try {
    return await run();
  } finally {
    for (const table of kept) await pool.query(`update ${table} set connection = substr(connection, 2)`);
  }
}

test('no edit is lost: whatever happens in the day, a night with seals plans and tells what one without does', async () => {
  const random = createRandom(22, 'quiet nights');
  await using workspace = await Workspace.open({
    sandbox: { leads: 90 },
    connection: { leads: { pageSize: 10 }, target: { statusColumn: 'Sync status' } },
  });
  const { sandbox, sheet } = workspace;
  const anyLead = (): string => random.pick(sandbox.leads.list() as unknown as [{ id: string }]).id;
  const anyRow = (): string =>
    random.pick(sheet.rows() as unknown as [Record<string, string>])['Lead ID'] ?? '';
  let older = '';
  let cities: ReadonlyMap<string, unknown> = new Map();
  let night = 0;
  const inRow = (id: string, cells: Record<string, string>) => {
    if (sheet.rows().some((row) => row['Lead ID'] === id)) sheet.edit((row) => row['Lead ID'] === id, cells);
  };
  const days: readonly (() => void)[] = [
    () => {},
    () => void sandbox.leads.edit(anyLead(), { city: `lead ${night}` }),
    () => inRow(anyRow(), { City: `row ${night}` }),
    () => {
      const id = anyLead();
      sandbox.leads.edit(id, { stage: `lead ${night}` });
      inRow(id, { Stage: `row ${night}` });
    },
    // What the last sync wrote into a lead is taken back.
    () => {
      const written = sandbox.leads.list().find(({ id, city }) => (cities.get(id) ?? city) !== city);
      if (written !== undefined) sandbox.leads.edit(written.id, { city: String(cities.get(written.id)) });
    },
    () => void sandbox.leads.remove(anyLead()),
    () => {
      const id = anyRow();
      sheet.remove((row) => row['Lead ID'] === id);
    },
    () => sheet.write([...sheet.grid(), ...sheet.grid().slice(3, 4)]),
    () => inRow(anyRow(), { 'Lead ID': '' }),
    () => {
      const [headings = [], ...rows] = sheet.grid();
      sheet.write([headings, ...rows.toSorted(() => random.float() - 0.5)]);
    },
    () => {
      older = sheet.text();
    },
    () => inRow(anyRow(), { City: `row ${night}` }),
    () => void (older !== '' && writeFileSync(sheet.path, older)),
    () => void sandbox.leads.add({ companyName: `Made ${night}`, stage: 'new' }),
    () => sheet.add({ Company: `Typed ${night}` }),
  ];
  await workspace.sync();
  for (night = 1; night <= 14; night++) {
    for (let edits = random.below(4); edits > 0; edits--) random.pick(days as [() => void])();
    const short = await madeOf(workspace, await workspace.run({ mode: 'plan' }));
    const long = await withoutSeals(workspace, async () =>
      madeOf(workspace, await workspace.run({ mode: 'plan' })),
    );
    expect(short, `night ${night}`).toEqual(long);
    cities = new Map(sandbox.leads.list().map(({ id, city }) => [id, city]));
    await workspace.sync({ allow: night % 3 === 0 ? ['older-copy', 'changes', 'deletes'] : [] });
  }
}, 120_000);
