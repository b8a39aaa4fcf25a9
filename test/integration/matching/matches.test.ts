import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { listMatches } from '../../../src/store/matches.ts';
import { prune } from '../../../src/store/retention.ts';
import { openStatusSite } from '../../support/status-site.ts';
import { connectionName, Workspace } from '../../support/workspace.ts';

// Each test starts processes.
vi.setConfig({ testTimeout: 120_000 });

const fields = { companyName: 'Company', city: 'City', stage: 'Stage' };
const headings = ['Lead ID', 'Company', 'City', 'Stage'];

interface Listed {
  readonly matches: readonly {
    readonly id: string;
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

test('leadsync match lists both records, the score and why, in text, JSON and CSV; accept, reject and accept-all are carried out by the next sync', async () => {
  await using here = await openScene({ match: 'propose', onFirstSync: 'target-wins' });
  expect((await here.cli('match')).stdout).toContain('the last sync or plan found no rows and leads');
  expect((await here.cli('sync')).code).toBe(3);
  const conflicts = await here.cli('conflicts');
  expect(conflicts.stdout).toContain('[match.proposed]');
  expect(conflicts.stdout).toContain('leadsync match');
  const untouched = everything(here);

  const said = (await here.cli('match')).stdout;
  expect(said).toContain('Company is the same but for spelling, City is the same but for spelling');
  expect(said).toContain('Company: lead "Acme GmbH" | row "ACME"');
  const { matches } = (await here.cli('match', '--json')).json<Listed>();
  expect(matches.map(({ row, state }) => `${row} ${state}`).toSorted()).toEqual([
    '2 proposed',
    '3 ambiguous',
    '4 ambiguous',
    '5 proposed',
  ]);
  const [first] = matches;
  expect(first).toMatchObject({
    score: 1,
    lead: { companyName: 'Acme GmbH' },
    target: { companyName: 'ACME' },
  });
  const file = join(here.folder, 'matches.csv');
  expect((await here.cli('match', '--export', file)).stdout).toContain('4 matches are in');
  const table = readFileSync(file, 'utf8');
  expect(table).toContain('id,connection,state,score,why,leadId,row,lead companyName,row companyName');
  expect(table).toContain("'=Cord");
  expect((await here.cli('match', '--export', here.folder)).code).toBe(2);

  const idOf = (row: number): string => matches.find((one) => one.row === row)?.id ?? '';
  expect((await here.cli('match', '--accept', '999')).code).toBe(2);
  expect((await here.cli('match', '--accept', idOf(3), idOf(4))).code).toBe(2);
  expect(
    (await here.cli('match', '--json')).json<Listed>().matches.every(({ state }) => state !== 'accepted'),
  ).toBe(true);
  expect((await here.cli('match', '--accept-all')).stdout).toContain('2 decided');
  expect((await here.cli('match', '--accept', idOf(3), '--reject', idOf(4))).stdout).toContain('2 decided');
  expect(everything(here)).toEqual(untouched);

  const report = await here.sync();
  expect(report).toMatchObject({ status: 'succeeded', created: { leads: 1, rows: 0 }, held: 0 });
  expect(here.sheet.rows().map((row) => row['Company'])).toEqual(['ACME', 'Bolt', 'Bolt AG', '=Cord']);
  expect(here.sheet.rows().every((row) => row['Lead ID'] !== '')).toBe(true);
  expect((await here.cli('match')).stdout).toContain('the last sync or plan found no rows and leads');
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
  const { matches } = (await here.cli('match', '--json')).json<Listed>();
  const again = matches.find(({ leadId }) => leadId === acme?.id);
  expect(again).toMatchObject({ row: 2, state: 'undone' });
  await here.cli('match', '--accept', again?.id ?? '');
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
  const page = await site.ask('/matches');
  expect(page.status).toBe(200);
  expect(page.body).toContain('1 match: leadsync creates nothing');
  expect(page.body).toContain('ACME &lt;B&gt;');
  expect(page.body).not.toContain('ACME <B>');
  expect((await site.ask('/conflicts')).body).toContain('href="/matches">Both records');
  const [match] = await listMatches(database.pool, [connectionName]);
  const seen = /name="seen" value="([^"]*)"/.exec(page.body)?.[1] ?? '';
  const path = `/matches/${match?.id}`;
  const form = { as: 'accepted', seen, back: '/matches' };
  expect((await site.ask(path, { form: { ...form, seen: 'other' } })).status).toBe(409);
  expect((await site.ask(path, { form: { ...form, back: '//elsewhere' } })).status).toBe(400);
  expect((await site.ask('/matches/999', { form })).status).toBe(409);
  const decided = await site.ask(path, { form });
  expect([decided.status, decided.headers['location']]).toEqual([303, `/matches#match-${match?.id}`]);
  expect((await site.ask('/matches')).body).toMatch(
    /Decided: they are one, by <bdi>somebody on the status page/,
  );
  const story = await site.workspace.cli('why', match?.leadId ?? '');
  expect(story.stdout).toContain('somebody on the status page decided that lead and row are one');
  expect(await site.workspace.sync()).toMatchObject({ created: { leads: 0, rows: 0 }, updated: { rows: 1 } });
  expect((await site.ask('/matches')).body).toContain('found no new row and no new lead');
});

test('off: nothing is asked of the database for it, and the page and the command say so', async () => {
  await using site = await openStatusSite({ connection: { fields } });
  const { sandbox, sheet, database } = site.workspace;
  // Whoever touched it would fail.
  await database.pool.query(`drop table matches cascade`);
  sandbox.leads.add({ companyName: 'Acme', city: 'Berlin', stage: 'new' });
  sheet.write([headings, ['', 'Acme', 'Berlin', 'new']]);
  expect(await site.workspace.sync()).toMatchObject({ status: 'succeeded', created: { leads: 1, rows: 1 } });
});

test('what was rejected is forgotten when it was not seen for longer than the retention', async () => {
  await using here = await openScene({ match: 'propose', direction: 'to-leads' });
  await here.sync();
  const { pool } = here.database;
  await pool.query(
    `update matches set state = 'rejected', current = false, seen_at = now() - interval '8 days'`,
  );
  const before = await pool.query(`select from matches`);
  expect(before.rowCount).toBeGreaterThan(0);
  const kept = { name: connectionName, retentionDays: 9 };
  expect((await prune(pool, kept, 'nextFollowUpAt', new AbortController().signal)).matches).toBe(0);
  const pruned = await prune(
    pool,
    { ...kept, retentionDays: 7 },
    'nextFollowUpAt',
    new AbortController().signal,
  );
  expect(pruned.matches).toBe(before.rowCount);
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
