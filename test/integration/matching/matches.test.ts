import { expect, test, vi } from 'vitest';
import { prune } from '../../../src/store/retention.ts';
import { matchesIn } from '../../support/held.ts';
import { openStatusSite } from '../../support/status-site.ts';
import { connectionName, Workspace } from '../../support/workspace.ts';

// Each test starts processes.
vi.setConfig({ testTimeout: 120_000 });

const fields = { companyName: 'Company', city: 'City', stage: 'Stage' };
const headings = ['Lead ID', 'Company', 'City', 'Stage'];

interface Listed {
  readonly conflicts: readonly {
    readonly id: string;
    readonly kind: string;
    readonly company: string;
    readonly leadId: string;
    readonly row: number;
    readonly state: string;
    readonly score: number;
    readonly why: string;
    readonly lead: Readonly<Record<string, string>>;
    readonly target: Readonly<Record<string, string>>;
  }[];
}

async function openScene(sync: object): Promise<Workspace> {
  const here = await Workspace.open({ connection: { fields, sync } });
  const { leads } = here.sandbox;
  leads.add({ companyName: 'Acme GmbH', city: 'Berlin', stage: 'new' });
  leads.add({ companyName: 'Bolt', city: 'Wien', stage: 'new' });
  leads.add({ companyName: '=Cord', city: 'Bonn', stage: 'new' });
  here.sheet.write([
    headings,
    ['', 'ACME', 'berlin', 'won'],
    ['', 'Bolt', 'Wien', 'new'],
    ['', 'Bolt AG', 'Wien', 'lost'],
    ['', '=Cord', 'Bonn', 'new'],
  ]);
  return here;
}

const everything = (here: Workspace): object => ({
  leads: here.sandbox.leads.list(),
  file: here.sheet.text(),
});

test('conflicts lists both records, the score and why, in text and JSON; link, apart and --all are carried out by the next sync', async () => {
  await using here = await openScene({ match: 'propose', onFirstSync: 'target-wins' });
  expect((await here.cli('conflicts')).stdout).toContain('there are no conflicts');
  expect((await here.cli('sync')).code).toBe(3);
  const untouched = everything(here);

  const said = (await here.cli('conflicts')).stdout;
  expect(said).toContain('Company is the same but for spelling, City is the same but for spelling');
  expect(said).toContain('Company: lead "Acme GmbH" | row "ACME"');
  const { conflicts } = (await here.cli('conflicts', '--json')).json<Listed>();
  expect(conflicts.map(({ kind, row, state }) => `${kind} ${row} ${state}`).toSorted()).toEqual([
    'match 2 proposed',
    'match 3 ambiguous',
    'match 4 ambiguous',
    'match 5 proposed',
  ]);
  for (const { id, company } of conflicts) expect(said).toMatch(new RegExp(`^ *${id}  ${company}, row`, 'm'));
  const [first] = conflicts;
  expect(first).toMatchObject({
    company: 'Acme GmbH',
    choices: ['link', 'apart'],
    score: 1,
    lead: { companyName: 'Acme GmbH' },
    target: { companyName: 'ACME' },
  });

  const idOf = (row: number): string => conflicts.find((one) => one.row === row)?.id ?? '';
  const link = (what: string, ...more: readonly string[]) =>
    here.cli('resolve', what, '--use', 'link', ...more);
  expect((await link('999')).code).toBe(2);
  const side = await here.cli('resolve', idOf(3), '--use', 'row');
  expect([side.code, side.stderr]).toEqual([2, expect.stringContaining('It takes --use link or apart')]);
  const two = await link('bolt');
  expect([two.code, two.stderr]).toEqual([
    2,
    expect.stringMatching(/2 matches.*\n +\d+ {2}Bolt, row 4, main\n +\d+ {2}Bolt, row 3, main\n/),
  ]);
  const all = await link('--all', '--json');
  expect([all.code, all.json<object>()]).toEqual([
    3,
    {
      use: 'link',
      decided: [idOf(2), idOf(5)].toSorted(),
      decidedBefore: 0,
      left: [idOf(3), idOf(4)].toSorted(),
      changed: [],
      applies: 'next sync',
    },
  ]);
  expect((await link(idOf(3))).stdout).toContain('Bolt, row 3: the row and the lead are one.');
  const taken = await link(idOf(4));
  expect([taken.code, taken.stderr]).toEqual([2, expect.stringContaining(`resolve ${idOf(3)} --use apart`)]);
  expect((await here.cli('resolve', idOf(4), '--use', 'apart')).code).toBe(0);
  expect((await here.cli('conflicts')).stdout).toContain('decided: they are linked, by ');
  expect(everything(here)).toEqual(untouched);

  const report = await here.sync();
  expect(report).toMatchObject({ status: 'succeeded', created: { leads: 1, rows: 0 }, held: 0 });
  expect(here.sheet.rows().map((row) => row['Company'])).toEqual(['ACME', 'Bolt', 'Bolt AG', '=Cord']);
  expect(here.sheet.rows().every((row) => row['Lead ID'] !== '')).toBe(true);
  expect((await here.cli('conflicts')).stdout).toContain('there are no conflicts');
});

test('plan shows the link and why, apply carries out exactly it, why tells it, undo takes it apart and it is asked from then on', async () => {
  await using here = await openScene({ match: 'exact', onFirstSync: 'target-wins' });
  const [acme] = here.sandbox.leads.list();
  const before = everything(here);
  const plan = await here.cli('plan', '--out', 'plan.json');
  expect(plan.stdout).toMatch(/link .*\(matched\)\n {4}Company is the same but for spelling/);
  expect(everything(here)).toEqual(before);
  const applied = await here.cli('apply', 'plan.json', '--json');
  expect(applied.json<{ updated: object; runId: string }>()).toMatchObject({
    updated: { leads: 1, rows: 2 },
  });
  expect(here.sheet.rows()[0]).toMatchObject({ 'Lead ID': acme?.id, Company: 'ACME', Stage: 'won' });
  expect(here.sandbox.leads.get(acme?.id ?? '')).toMatchObject({ companyName: 'ACME', stage: 'won' });
  const why = (await here.cli('why', acme?.id ?? '')).stdout;
  expect(why).toContain('the row was matched with the lead: Company is the same but for spelling');

  const { runId } = applied.json<{ runId: string }>();
  const undo = await here.cli('undo', runId, '--yes', '--json');
  expect([undo.code, undo.stderr], undo.stdout).toEqual([0, expect.any(String)]);
  expect(everything(here)).toEqual(before);
  expect(await here.sync()).toMatchObject({ created: { leads: 0, rows: 0 }, updated: { leads: 0, rows: 0 } });
  expect(everything(here)).toEqual(before);
  const { conflicts } = (await here.cli('conflicts', '--json')).json<Listed>();
  const again = conflicts.find(({ leadId }) => leadId === acme?.id);
  expect(again).toMatchObject({ row: 2, state: 'undone' });
  await here.cli('resolve', 'acme gmbh', '--use', 'link');
  await here.sync();
  expect(here.sheet.rows()[0]?.['Lead ID']).toBe(acme?.id);
});

test('a row that was edited after the match keeps its id when the run is undone', async () => {
  await using here = await openScene({ match: 'exact', onFirstSync: 'target-wins' });
  const { runId } = await here.sync();
  here.sheet.edit(({ Company }) => Company === 'ACME', { Stage: 'lost' });
  const undo = await here.cli('undo', runId, '--yes', '--json');
  expect(undo.stdout).toContain('undo.edited-since');
  expect(here.sheet.rows()[0]?.['Lead ID']).not.toBe('');
});

test('the status page has the list, and takes decisions on what was seen alone', async () => {
  const connection = { fields, sync: { match: 'propose' } };
  await using site = await openStatusSite({ connection });
  const { sandbox, sheet, database } = site.workspace;
  sandbox.leads.add({ companyName: 'Acme <b>', city: 'Berlin', stage: 'new' });
  sheet.write([headings, ['', 'ACME <B>', 'berlin', 'won']]);
  await site.workspace.sync();
  const page = await site.ask('/conflicts');
  expect(page.status).toBe(200);
  expect(page.body).toContain('1 item held');
  expect(page.body).toContain('ACME &lt;B&gt;');
  expect(page.body).not.toContain('ACME <B>');
  const [match] = await matchesIn(database.pool);
  expect(page.body).toContain(`id="held-${match?.id}"`);
  const seen = /name="seen" value="([^"]*)"/.exec(page.body)?.[1] ?? '';
  const path = `/conflicts/${match?.id}`;
  const form = { use: 'link', seen, back: '/conflicts' };
  expect((await site.ask(path, { form: { ...form, seen: 'other' } })).status).toBe(409);
  expect((await site.ask(path, { form: { ...form, use: 'row' } })).status).toBe(409);
  expect((await site.ask(path, { form: { ...form, use: 'both' } })).status).toBe(400);
  expect((await site.ask(path, { form: { ...form, back: '//elsewhere' } })).status).toBe(400);
  expect((await site.ask('/conflicts/999', { form })).status).toBe(409);
  const decided = await site.ask(path, { form });
  expect([decided.status, decided.headers['location']]).toEqual([303, `/conflicts#held-${match?.id}`]);
  expect((await site.ask('/conflicts')).body).toMatch(
    /Decided: they are one, by <bdi>somebody on the status page/,
  );
  const story = await site.workspace.cli('why', match?.leadId ?? '');
  expect(story.stdout).toContain('somebody on the status page decided that lead and row are one');
  expect(await site.workspace.sync()).toMatchObject({ created: { leads: 0, rows: 0 }, updated: { rows: 1 } });
  // What both show of the linked pair is held, under the name that neither has agreed on.
  const fieldsHeld = (await site.ask('/conflicts')).body;
  expect(fieldsHeld).not.toContain('may be one');
  expect(fieldsHeld).toMatch(/Acme &lt;b&gt;<\/bdi>: Stage/);
});

test('off: nothing is asked of the database for it', async () => {
  await using site = await openStatusSite({ connection: { fields } });
  const { sandbox, sheet, database } = site.workspace;
  // Whoever asked for matches would fail.
  await database.pool.query(`alter table held rename row_mark to away`);
  sandbox.leads.add({ companyName: 'Acme', city: 'Berlin', stage: 'new' });
  sheet.write([headings, ['', 'Acme', 'Berlin', 'new']]);
  expect(await site.workspace.sync()).toMatchObject({ status: 'succeeded', created: { leads: 1, rows: 1 } });
});

test('what was rejected is forgotten when it was not seen for longer than the retention', async () => {
  await using here = await openScene({ match: 'propose', direction: 'to-leads' });
  await here.sync();
  const { pool } = here.database;
  await pool.query(
    `update held set state = 'rejected', current = false, since = now() - interval '8 days' where kind = 'match'`,
  );
  const before = await pool.query(`select from held where kind = 'match'`);
  expect(before.rowCount).toBeGreaterThan(0);
  const kept = { name: connectionName, retentionDays: 9 };
  expect((await prune(pool, kept, 'nextFollowUpAt', new AbortController().signal)).held).toBe(0);
  const pruned = await prune(
    pool,
    { ...kept, retentionDays: 7 },
    'nextFollowUpAt',
    new AbortController().signal,
  );
  expect(pruned.held).toBe(before.rowCount);
});

test('matchBy names mapped fields alone, and some of them', async () => {
  await using here = await openScene({ match: 'propose', matchBy: ['domain'] });
  const wrong = await here.cli('plan');
  expect(wrong.code).toBe(2);
  expect(wrong.stderr + wrong.stdout).toContain('must name mapped fields: domain is none');
  here.configure({ fields: { stage: 'Stage' }, sync: { match: 'propose' } });
  const none = await here.cli('plan');
  expect(none.stderr + none.stdout).toContain('neither companyName nor city is mapped');
});

test.each(['propose', 'exact'])(
  'a first plan with match: %s says when the sides call the stages otherwise',
  async (match) => {
    await using here = await Workspace.open({ connection: { fields, sync: { match } } });
    for (const [companyName, stage] of Object.entries({ Acme: 'new', Bolt: 'won' }))
      here.sandbox.leads.add({ companyName, city: 'Ulm', stage });
    here.sheet.write([headings, ['', 'Acme', 'Ulm', 'neu'], ['', 'Bolt', 'Ulm', 'gewonnen']]);
    const { stdout } = await here.cli('plan');
    expect(stdout).toContain('Stage: the table says "neu", "gewonnen", the service "new", "won".');
  },
);
