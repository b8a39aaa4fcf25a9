import { expect, test } from 'vitest';
import { planMails } from '../../../src/worker/plan-mails.ts';
import { workMails } from '../../../src/worker/work-mails.ts';
import { followUpsOf } from '../../../src/store/follow-ups.ts';
import { acquireLease } from '../../../src/store/leases.ts';
import { giveUpLeft } from '../../../src/store/sending.ts';
import { forgetConnection } from '../../../src/store/retention.ts';
import type { SandboxOptions } from '../../../src/demo/options.ts';
import { dueLead } from '../../support/due-lead.ts';
import { reminderScene } from '../../support/reminder-scene.ts';
import { startMailServer } from '../../support/mail-server.ts';
import { until } from '../../support/until.ts';
import { type ConnectionSettings, Workspace } from '../../support/workspace.ts';

const anna = 'anna@example.com';
const south = { from: 'South <south@example.com>', to: [anna], timeZone: 'UTC' };
const north = { from: 'North <north@example.com>', to: ['Anna@Example.com'], timeZone: 'UTC' };
const due = (fromNow: number): string => new Date(Date.now() + fromNow).toISOString();

interface Settings {
  readonly main?: ConnectionSettings;
  readonly other?: ConnectionSettings;
  readonly lead?: object;
  readonly sandbox?: Partial<SandboxOptions>;
}

/** Two connections, `main` and `north`, of one service with one lead that is due since a second, both synced. */
async function twoTables({ main = {}, other = {}, lead = {}, sandbox = {} }: Settings = {}) {
  await using stack = new AsyncDisposableStack();
  const server = stack.use(await startMailServer());
  const others = { north: { reminders: north, ...other } };
  const workspace = stack.use(
    await Workspace.open({
      sandbox,
      connection: { reminders: south, ...main },
      others,
      env: { SMTP_URL: `smtp://127.0.0.1:${server.port}` },
    }),
  );
  const { id } = workspace.sandbox.leads.add({
    companyName: 'Due AG',
    stage: 'new',
    nextFollowUpAt: due(-1_000),
    ...lead,
  });
  expect((await workspace.cli('sync')).code).toBe(0);
  const pool = workspace.database.pool;
  const states = async (): Promise<readonly string[]> => {
    const { rows } = await pool.query<{ told: string }>(
      `select connection || ' ' || offset_text || ' ' || state as told from mails where kind = 'reminder'
       order by connection, offset_text, due_at`,
    );
    return rows.map(({ told }) => told);
  };
  const owned = stack.move();
  return {
    workspace,
    server,
    pool,
    id,
    states,
    /** Plans and sends as a worker does, until no mail of the connections is open. */
    work: async () => {
      await using app = await workspace.openApp();
      await planMails(app);
      const isDone = async (): Promise<boolean> =>
        (await states()).every((told) => !/scheduled|sending/.test(told));
      if (await isDone()) return;
      await using _work = await workMails(app);
      await until('no mail is open', isDone);
    },
    from: () => server.mails.map(({ from }) => from),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

test('two connections of one service, one recipient, one lead: one mail, and the other one says who sent it', async () => {
  await using scene = await twoTables();
  await scene.work();
  expect(scene.server.mails).toHaveLength(1);
  expect((await scene.states()).toSorted()).toEqual(
    scene.from()[0] === 'south@example.com'
      ? ['main 0m sent', 'north 0m skipped']
      : ['main 0m skipped', 'north 0m sent'],
  );
  // A second planning, as after a restart, brings none.
  await scene.work();
  expect(scene.server.mails).toHaveLength(1);
});

test('the connection that may send first sends; the mail of the other, later one stays away', async () => {
  const later = new Date(Date.now() - 60_000).getUTCHours();
  const quietHours = `${String(later).padStart(2, '0')}:00-${String((later + 2) % 24).padStart(2, '0')}:00`;
  await using scene = await twoTables({ other: { reminders: { ...north, quietHours } } });
  await scene.work();
  expect(scene.from()).toEqual(['south@example.com']);
  expect(await scene.states()).toEqual(['main 0m sent', 'north 0m skipped']);
  // What is known of the sent one may go: the other one knows it.
  await forgetConnection(scene.pool, 'main', new AbortController().signal);
  await scene.pool.query(`update mails set send_at = now()`);
  await scene.work();
  expect(scene.server.mails).toHaveLength(1);
});

test('two processes that send at once send one mail', async () => {
  await using scene = await twoTables();
  await Promise.all([scene.work(), scene.work(), scene.work()]);
  expect(scene.server.mails).toHaveLength(1);
});

test('a connection whose mail is cancelled leaves it to the other one', async () => {
  await using scene = await twoTables({ main: { reminders: { ...south, skipStages: ['new'] } } });
  await scene.work();
  expect(scene.from()).toEqual(['north@example.com']);
});

test('a mail that was being sent as its connection left the configuration and its process died leaves it to the others', async () => {
  await using scene = await twoTables();
  {
    await using app = await scene.workspace.openApp();
    await planMails(app);
  }
  const { rows } = await scene.pool.query<{ id: number }>(
    `update mails set connection = 'gone', state = 'sending', sender = gen_random_uuid(), updated_at = now() - interval '1 hour'
     where connection = 'main' returning id`,
  );
  const id = rows[0]?.id ?? 0;
  // Nobody has the connection's jobs any more.
  await scene.pool.query('delete from bullmq.job');
  const waits = { cutOffMs: 60_000, doubtMs: 60_000 };
  {
    // Not of one that is configured, of one that was begun just now, or of a process that lives.
    await using lease = await acquireLease(scene.pool, 'mails test');
    expect(await giveUpLeft(scene.pool, id, ['gone'], waits)).toBe(false);
    expect(await giveUpLeft(scene.pool, id, [], { ...waits, cutOffMs: 7_200_000 })).toBe(false);
    await scene.pool.query(`update mails set sender = $1 where id = $2`, [lease?.token, id]);
    expect(await giveUpLeft(scene.pool, id, [], waits)).toBe(false);
  }
  await scene.work();
  expect(scene.server.mails).toHaveLength(1);
  expect(await scene.states()).toEqual(['gone 0m cancelled', 'north 0m sent']);
});

test('a lead that leaves one of the connections leaves its mail to the other one', async () => {
  await using both = await twoTables();
  await both.pool.query(`update mails set state = 'cancelled' where connection = 'main'`);
  await both.pool.query(`update pairs set base = base - 'nextFollowUpAt' where connection = 'main'`);
  await both.work();
  expect(both.from()).toEqual(['north@example.com']);
});

test('another recipient, another offset: each has its mail', async () => {
  await using ben = await twoTables({ other: { reminders: { ...north, to: ['ben@example.com'] } } });
  await ben.work();
  expect(ben.from().toSorted()).toEqual(['north@example.com', 'south@example.com']);
  await using early = await twoTables({
    other: { reminders: { ...north, before: ['1h'] } },
    lead: { nextFollowUpAt: due(30 * 60_000) },
  });
  {
    await using app = await early.workspace.openApp();
    await planMails(app);
    await using _work = await workMails(app);
    await until('one is sent', async () => (await early.states()).includes('north 1h sent'));
  }
  expect(early.from()).toEqual(['north@example.com']);
  expect(await early.states()).toEqual(['main 0m scheduled', 'north 1h sent']);
});

test('a digest shows a lead of two connections once', async () => {
  await using scene = await twoTables({
    main: { reminders: { ...south, digest: '08:00' } },
    other: { reminders: { ...north, digest: '08:00' } },
  });
  await using app = await scene.workspace.openApp();
  await planMails(app);
  const [today, day] = [Date.now(), 24 * 3_600_000];
  const days = { today: today - day, tomorrow: today + day, end: today + 8 * day };
  const { items, counts } = await followUpsOf(scene.pool, ['north', 'main'], anna, days, [], 50);
  expect(items.map(({ connection, leadId }) => `${connection} ${leadId}`)).toEqual([`north ${scene.id}`]);
  expect(counts).toEqual({ overdue: 0, today: 1, week: 0 });
});

test('a follow-up that changes within its minute, or its spelling, is not mailed again; one in the next minute is', async () => {
  await using server = await startMailServer();
  await using workspace = await Workspace.open({
    connection: { reminders: south },
    env: { SMTP_URL: `smtp://127.0.0.1:${server.port}` },
  });
  const begin = Date.now() - (Date.now() % 60_000) - 3 * 60_000;
  const iso = (at: number): string => new Date(at).toISOString();
  const nextFollowUpAt = iso(begin + 30_123);
  const { id } = workspace.sandbox.leads.add({ companyName: 'Due AG', stage: 'new', nextFollowUpAt });
  await workspace.sync();
  await using scene = await reminderScene(workspace);
  const sendAll = async (): Promise<number> => {
    for (const reminder of await scene.plan()) await scene.send(reminder.id);
    return server.mails.length;
  };
  expect(await sendAll()).toBe(1);
  const within = [
    iso(begin + 30_000).replace('.000Z', 'Z'),
    iso(begin + 30_000).replace('.000Z', '+00:00'),
    iso(begin),
    iso(begin + 59_999),
    iso(begin + 1),
  ];
  for (const changed of within) {
    workspace.sandbox.leads.edit(id, { nextFollowUpAt: changed });
    await workspace.sync();
    expect([changed, await sendAll()]).toEqual([changed, 1]);
  }
  workspace.sandbox.leads.edit(id, { nextFollowUpAt: iso(begin + 60_000) });
  await workspace.sync();
  expect(await sendAll()).toBe(2);
});

test('a lead that moves within its minute while its mail waits is mailed at its moment, once', async () => {
  await using server = await startMailServer();
  await using scene = await dueLead(server.port, { lead: { nextFollowUpAt: soonWithin(20_000) } });
  scene.workspace.sandbox.leads.edit(scene.leadId, { nextFollowUpAt: soonWithin(40_000) });
  scene.pass(20 * 60_000);
  expect(await scene.send(scene.id)).toEqual({ state: 'sent' });
  await scene.workspace.sync();
  expect((await scene.plan()).filter(({ state }) => state === 'scheduled')).toEqual([]);
});

/** A moment in ten minutes, n ms after its minute began. */
function soonWithin(ms: number): string {
  const soon = Date.now() + 600_000;
  return new Date(soon - (soon % 60_000) + ms).toISOString();
}
