import { expect, test } from 'vitest';
import { adminToken, openStatusSite, type StatusSite } from '../../support/status-site.ts';
import { connectionName } from '../../support/workspace.ts';

const proxy = '127.0.0.9';
const anna = { 'x-forwarded-user': 'anna@example.com' };
const ben = { 'x-forwarded-user': 'Ben' };

/** A site behind a proxy at 127.0.0.9; whoever comes from elsewhere needs the token. */
async function openSite(statusPage: object = {}): Promise<StatusSite> {
  const site = await openStatusSite({
    beside: { statusPage: { trustedProxy: ['127.0.0.8/31'], ...statusPage } },
    env: { ADMIN_TOKEN: adminToken },
  });
  return site;
}

test('the proxy’s header is a login, a header from anywhere else is not', async () => {
  await using site = await openSite();
  const page = await site.ask('/', { headers: anna, localAddress: proxy });
  expect(page.status).toBe(200);
  expect(page.body).toContain('anna@example.com');
  expect(page.body).not.toContain('Log out');
  expect((await site.ask('/', { headers: anna })).status).toBe(401);
  expect((await site.ask('/', { localAddress: proxy })).status).toBe(401);
  expect((await site.ask('/', { headers: { 'x-forwarded-user': ' ' }, localAddress: proxy })).status).toBe(
    401,
  );
  expect((await site.ask('/', { headers: { authorization: `Bearer ${adminToken}` } })).status).toBe(200);
});

test.each([
  ['an address of IPv6, beside IPv4 ones', ['::1', 'fd00::/8', '127.0.0.9']],
  ['a network of IPv4', ['127.0.0.8/30']],
])('the proxy may be %s', async (_what, trustedProxy) => {
  await using site = await openSite({ trustedProxy });
  expect((await site.ask('/', { headers: anna, localAddress: proxy })).status).toBe(200);
  expect((await site.ask('/', { headers: anna })).status).toBe(401);
});

test('a name arrives as UTF-8; what Apache writes for nobody is no name', async () => {
  await using site = await openSite({ deciders: ['Jürgen'] });
  const bytes = Buffer.from('Jürgen').toString('latin1');
  for (const name of [bytes, 'J\xfcrgen']) {
    const { body } = await site.ask('/', { headers: { 'x-forwarded-user': name }, localAddress: proxy });
    expect(body).toContain('Jürgen');
    expect(body).not.toContain('may look');
  }
  const nobody = await site.ask('/', { headers: { 'x-forwarded-user': '(null)' }, localAddress: proxy });
  expect(nobody.status).toBe(401);
});

test('who is no decider may look: each form is refused, and the page shows no button', async () => {
  await using site = await openSite({ deciders: ['Anna@example.com'] });
  const { pool } = site.app;
  const paused = async () => (await pool.query('select paused_at from connections')).rows;
  const page = await site.ask('/', { headers: ben, localAddress: proxy });
  expect(page.body).toContain('<body class="looks">');
  const refused = await site.ask(`/connections/${connectionName}/pause`, {
    headers: ben,
    localAddress: proxy,
    form: {},
  });
  expect(refused).toMatchObject({
    status: 403,
    body: 'Ben may look here, not decide: statusPage.deciders names those who may\n',
  });
  expect(await paused()).toEqual([]);
  const ordered = await site.ask(`/connections/${connectionName}/pause`, {
    headers: anna,
    localAddress: proxy,
    form: {},
  });
  expect(ordered.status).toBe(303);
  expect(await paused()).toHaveLength(1);
});

test('who decides is named by why', async () => {
  await using site = await openSite();
  const { sandbox, sheet } = site.workspace;
  const { id } = sandbox.leads.add({ companyName: 'Both AG', city: 'Ulm' });
  await site.workspace.sync();
  sandbox.leads.edit(id, { city: 'Köln' });
  sheet.edit(() => true, { City: 'Bonn' });
  await site.workspace.sync();
  const { body } = await site.ask('/conflicts', { headers: anna, localAddress: proxy });
  const [, action = '', fields = ''] =
    /<form method="post" action="(\/conflicts\/\d+)">(.*?)<\/form>/s.exec(body) ?? [];
  const form = Object.fromEntries(
    [...fields.matchAll(/name="(\w+)" value="([^"]*)"/g)].map(([, name = '', value = '']) => [name, value]),
  );
  expect((await site.ask(action, { headers: anna, localAddress: proxy, form })).status).toBe(303);
  expect((await site.workspace.cli('why', id, 'city')).stdout).toContain(
    'anna@example.com on the status page decided',
  );
});
