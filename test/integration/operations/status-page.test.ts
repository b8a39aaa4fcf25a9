import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { listConflicts } from '../../../src/store/conflicts.ts';
import { listHeld } from '../../../src/store/held.ts';
import { logIn, openStatusSite, type StatusSite } from '../../support/status-site.ts';
import { hostile, openTroubledSite } from '../../support/troubled-site.ts';
import { connectionName } from '../../support/workspace.ts';

/** Text as a page has it. */
const escaped = (text: string): string =>
  text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');

/** The address behind a link with this text. */
const linkTo = (body: string, words: string): string | undefined =>
  new RegExp(`href="([^"]*)">${words}<`).exec(body)?.[1]?.replaceAll('&amp;', '&').replace(/#.*/, '');

describe('what is shown', () => {
  let site: StatusSite;
  let read: (path: string) => Promise<string>;
  beforeAll(async () => {
    site = await openTroubledSite();
    const headers = await logIn(site);
    read = async (path) => {
      const { status, body } = await site.ask(path, { headers });
      expect(status, path).toBe(200);
      return body;
    };
  });
  afterAll(() => site[Symbol.asyncDispose]());

  /** All pages of a list, by their links. */
  async function readAll(first: string, words: string): Promise<string> {
    const bodies: string[] = [];
    for (let path: string | undefined = first; path !== undefined; path = linkTo(bodies.at(-1) ?? '', words))
      bodies.push(await read(path));
    return bodies.join('');
  }

  test('each connection: its last run in words, receipt, next run, conflicts, deletes, reminders', async () => {
    const body = await read('/');
    expect(body).toContain('done, but something is held or put off');
    for (const said of [
      '32 held items',
      '1 record missing, not proven deleted yet',
      '1 row kept whose leads are deleted',
      'of 61 records equal on both sides, 32 held',
      '<dt>Next run</dt><dd><time ',
      '<time datetime="2026-'.slice(0, 16),
    ])
      expect(body).toContain(said);
    expect(body).toMatch(/\d+ coming/);
    const connection = await read('/connections/main');
    expect(connection).toMatch(/<\/bdi>, <span class="hint">lead \S+<\/span>: the lead is missing since/);
    expect(connection).toMatch(/<li><bdi class="text">[^<]+<\/bdi>, <span class="hint">lead/);
    const problems = /<ul class="problems">[\s\S]*?<\/ul>/.exec(connection)?.[0] ?? '';
    const cards = [...connection.matchAll(/ id="held-\d+"[\s\S]*?<p class="hint">[^<]*lead ([\w-]{36})/g)];
    expect(cards.length).toBeGreaterThan(1);
    for (const [, leadId = ''] of cards) expect(problems).not.toContain(leadId);
    expect(connection).toMatch(/aria-label="Changes: 0 in the last of 4 syncs, 60 at most"/);
    expect(connection.match(/<rect /g)).toHaveLength(12);
    expect(connection).toMatch(/<td>[\d.]+ s<\/td><td>60<\/td><td>0<\/td>/);
  });

  test('values from outside: nothing of them is a part of the page, and all of them is there', async () => {
    const bodies = [await readAll('/conflicts', 'Next page'), await readAll('/runs/2', 'Next changes')];
    for (const body of [...bodies, await read('/connections/main')]) {
      expect(body).not.toContain(hostile.script.slice(0, 20));
      expect(body).not.toContain(`' onmouseover`);
      for (const value of [hostile.script, hostile.quotes, hostile.long])
        expect(body).toContain(escaped(value));
    }
    for (const value of Object.values(hostile))
      expect(bodies[0]).toContain(`<bdi class="value">${escaped(value)}</bdi>`);
  });

  test('long lists page by page: each item once', async () => {
    const connections = [...site.app.contexts.values()].map(({ connection }) => connection);
    const held = await listHeld(site.app.pool, connections);
    const listed = [...(await readAll('/conflicts', 'Next page')).matchAll(/id="held-(\d+)"/g)];
    expect(listed.map(([, id]) => Number(id))).toEqual(held.map(({ id }) => id));
    expect(held).toHaveLength(32);
    const { rows } = await site.app.pool.query<{ count: number }>(
      `select count(*)::int as count from actions where run_id = 2 and changes::text <> '{}' and kind not in ('agree', 'forget', 'report')`,
    );
    const changes = (await readAll('/runs/2', 'Next changes')).match(/Fields of change \d+/g) ?? [];
    expect(new Set(changes).size).toBe(rows[0]?.count);
    expect(changes).toHaveLength(rows[0]?.count ?? 0);
    expect(await read('/conflicts?after=999999999')).toContain('32 items held');
    expect(await read("/conflicts?after='&connection=%3Cscript%3E")).toContain('32 items held');
  });

  test('a run: what it did, field by field', async () => {
    const body = await read('/runs/2');
    expect(body).toContain('1 lead changed, 4 rows changed');
    expect(body).toMatch(/<li><strong><bdi class="text">[^<]+<\/bdi><\/strong>: /);
    const all = await readAll('/runs/2', 'Next changes');
    expect(all).toMatch(/<h3><bdi class="text">[^<]+<\/bdi>: Lead changed<\/h3>/);
    expect(all).toMatch(
      /<th scope="row">Stage<\/th>\s*<td><bdi class="value">\w+<\/bdi><\/td>\s*<td><bdi class="value">lost<\/bdi><\/td>/,
    );
  });
});

test('a run that a guard stopped: the open alert, why, and the command that lets it pass', async () => {
  await using site = await openStatusSite({ sandbox: { leads: 3 } });
  await site.workspace.sync();
  for (const { id } of site.workspace.sandbox.leads.list()) site.workspace.sandbox.leads.remove(id);
  await site.workspace.sync();
  await site.app.pool.query(
    `insert into alerts (connection, kind, level, detail, raised_at, cleared_at) values
       ('main', 'guard-stop', 0, '{"code":"guard.empty-scan","runId":2}', now(), null),
       ('main', 'no-success', 0, '{}', now(), now())`,
  );
  const { body } = await site.ask('/');
  expect(body).toContain('a sync was stopped by the guard');
  expect(body.match(/<strong class="bad">/g)).toHaveLength(1);
  expect(body).toContain('stopped by a guard: a person is needed');
  expect(body).toContain('the service returned no lead at all, but 3 are known');
  expect(body).toContain('<code>leadsync sync --connection main --allow empty-scan</code>');
  // Guards that have named their ways out in their own words.
  for (const code of ['older-copy', 'older-service']) {
    await site.app.pool.query(
      `update runs set report = jsonb_set(report::jsonb, '{problems,0}', $1) where id = 2`,
      [{ code: `guard.${code}`, message: 'shows what it showed before run 7' }],
    );
    await site.app.pool.query(`update alerts set detail = $1 where kind = 'guard-stop'`, [
      { code: `guard.${code}`, runId: 2 },
    ]);
    const older = (await site.ask('/')).body;
    expect(older).toContain('shows what it showed before run 7');
    expect(older).toContain('<code>leadsync sync --connection main --older-copy update</code>');
    expect(older).toContain(`<code>leadsync sync --connection main --allow ${code}</code> carries it out`);
    expect(older).not.toContain('Nothing was written. If that is what you want');
  }
});

describe('a conflict', () => {
  /** One lead whose city was edited on both sides. */
  async function openConflict() {
    const site = await openStatusSite();
    const { sandbox, sheet } = site.workspace;
    const { id } = sandbox.leads.add({ companyName: 'Both AG', city: 'Ulm' });
    await site.workspace.sync();
    sandbox.leads.edit(id, { city: 'Köln' });
    sheet.edit(() => true, { City: 'Bonn' });
    await site.workspace.sync();
    const forms = async () => formsOf((await site.ask('/conflicts')).body);
    return { ...site, leadId: id, forms };
  }

  interface Form {
    readonly action: string;
    readonly form: Record<string, string>;
  }

  function formsOf(body: string): Form[] {
    return [...body.matchAll(/<form method="post" action="(\/conflicts\/\d+)">([\s\S]*?)<\/form>/g)].map(
      ([, action = '', inside = '']) => {
        const fields = [...inside.matchAll(/name="(\w+)" value="([^"]*)"/g)];
        return { action, form: Object.fromEntries(fields.map(([, name = '', value = '']) => [name, value])) };
      },
    );
  }

  test.each([
    ['lead', 'Köln'],
    ['row', 'Bonn'],
  ])('is decided for the %s by its button, and the next sync carries it out', async (use, city) => {
    await using site = await openConflict();
    const { sandbox, sheet } = site.workspace;
    const pressed = (await site.forms()).find(({ form }) => form['use'] === use);
    const reply = await site.ask(pressed?.action ?? '', { form: pressed?.form ?? {} });
    expect(reply.status).toBe(303);
    expect(reply.headers['location']).toMatch(/^\/conflicts#held-\d+$/);
    expect((await site.ask('/conflicts')).body).toMatch(
      /Decided: the \w+’s value, by <bdi>somebody on the status page<\/bdi>, <time/,
    );
    // Nothing is written before the sync.
    expect([sandbox.leads.get(site.leadId)?.city, sheet.rows()[0]?.['City']]).toEqual(['Köln', 'Bonn']);
    expect((await site.workspace.sync()).status).toBe('succeeded');
    expect([sandbox.leads.get(site.leadId)?.city, sheet.rows()[0]?.['City']]).toEqual([city, city]);
    expect((await site.ask('/conflicts')).body).toContain('Nothing is held');
    const decided = new RegExp(
      `Both AG</bdi>.*: City: the ${use === 'lead' ? 'lead' : 'row'}’s value .*${city}.* instead of .*, by <bdi>somebody on the status page</bdi>`,
    );
    expect((await site.ask(`/connections/${connectionName}`)).body).toMatch(decided);
    const story = await site.workspace.cli('why', site.leadId, 'city');
    expect(story.stdout).toContain(
      `somebody on the status page decided for the ${use === 'lead' ? 'lead' : 'row'}'s value (lead "Köln" | row "Bonn")`,
    );
  });

  test('is decided with all others that are shown, after a second look that states the number', async () => {
    await using site = await openStatusSite();
    const { sandbox, sheet } = site.workspace;
    const names = ['One AG', 'Two AG', 'Three AG', 'Four AG'];
    for (const companyName of names) sandbox.leads.add({ companyName, city: 'Ulm' });
    await site.workspace.sync();
    for (const { id } of sandbox.leads.list()) sandbox.leads.edit(id, { city: 'Köln' });
    sheet.edit(() => true, { City: 'Bonn' });
    await site.workspace.sync();
    const ids = (await listConflicts(site.app.pool, connectionName)).map(({ leadId }) => leadId);
    const [fourth] = formsOf((await site.ask('/conflicts?after=3')).body);
    await site.ask(fourth?.action ?? '', { form: fourth?.form ?? {} });

    const link = linkTo((await site.ask('/conflicts')).body, 'Keep the row’s value of all 3 shown…');
    expect(link).toBe('/conflicts/all?use=row');
    const { body } = await site.ask(link ?? '');
    expect(body).toContain('<button>Keep the row’s 3 values</button>');
    expect(body).toContain('1 further item of the page stays as it is');
    expect(names.filter((name) => body.includes(`${name}</bdi>: City`))).toHaveLength(3);
    const item = [...body.matchAll(/name="item" value="([^"]*)"/g)].map(([, value = '']) => value);
    const form = { use: 'row', back: '/conflicts', item };
    const foreign = { origin: 'http://evil.example' };
    expect((await site.ask('/conflicts/all', { form, headers: foreign })).status).toBe(403);

    // Before the button is pressed, one of them changes.
    sheet.edit((row) => row['Lead ID'] === ids[1], { City: 'Mainz' });
    await site.workspace.sync();
    const reply = await site.ask('/conflicts/all', { form });
    expect([reply.status, reply.body.includes('2 decisions taken. 1 item not decided')]).toEqual([409, true]);
    const held = await listConflicts(site.app.pool, connectionName);
    expect(held.map(({ resolution }) => resolution)).toEqual(['target', null, 'target']);
    expect(await site.ask('/conflicts/all', { form: { ...form, item: 'x' } })).toMatchObject({ status: 400 });
    await site.workspace.sync();
    expect(ids.map((id) => sandbox.leads.get(id)?.city)).toEqual(['Bonn', 'Köln', 'Bonn', 'Köln']);
  });

  test('is not decided on values that nobody saw', async () => {
    await using site = await openConflict();
    const [button] = await site.forms();
    site.workspace.sheet.edit(() => true, { City: 'Mainz' });
    await site.workspace.sync();
    const reply = await site.ask(button?.action ?? '', { form: button?.form ?? {} });
    expect([reply.status, reply.body.includes('has changed meanwhile')]).toEqual([409, true]);
    expect((await listConflicts(site.app.pool, connectionName))[0]?.resolution).toBe(null);
  });

  test('has no button for a side that may not be chosen, nor is one taken that was made up', async () => {
    const nextFollowUpAt = { column: 'Next follow-up', direction: 'to-target' };
    await using site = await openStatusSite({
      connection: { fields: { companyName: 'Company', nextFollowUpAt } },
    });
    const { sandbox } = site.workspace;
    const { id } = sandbox.leads.add({ companyName: 'Soon AG' });
    await site.workspace.sync();
    sandbox.leads.edit(id, { nextFollowUpAt: 'soon' });
    await site.workspace.sync();
    const { body } = await site.ask('/conflicts');
    expect(formsOf(body)).toEqual([]);
    expect(body).toContain('Nothing to choose here');
    const [held] = await listConflicts(site.app.pool, connectionName);
    const form = { use: 'row', seen: 'x', back: '/conflicts' };
    const reply = await site.ask(`/conflicts/${held?.id}`, { form });
    expect([reply.status, reply.body.includes('row cannot be chosen for')]).toEqual([409, true]);
  });
});
