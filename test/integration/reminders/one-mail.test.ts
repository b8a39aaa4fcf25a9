import { expect, test } from 'vitest';
import { planMails } from '../../../src/worker/plan-mails.ts';
import { workReminders } from '../../../src/worker/work-reminders.ts';
import { forgetConnection } from '../../../src/store/forget.ts';
import type { SandboxOptions } from '../../../src/sandbox/options.ts';
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
      await using _work = await workReminders(app);
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
  await using scene = await twoTables({ main: { reminders: { ...south, onlyStages: ['won'] } } });
  await scene.work();
  expect(scene.from()).toEqual(['north@example.com']);
  await using both = await twoTables();
  await both.pool.query(`update mails set state = 'cancelled' where connection = 'main'`);
  await both.pool.query(`update pairs set base = base - 'nextFollowUpAt' where connection = 'main'`);
  await both.work();
  expect(both.from()).toEqual(['north@example.com']);
});

test('another recipient, another offset, another account with ids of its own: each has its mail', async () => {
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
    await using _work = await workReminders(app);
    await until('one is sent', async () => (await early.states()).includes('north 1h sent'));
  }
  expect(early.from()).toEqual(['north@example.com']);
  expect(await early.states()).toEqual(['main 0m scheduled', 'north 1h sent']);
});

const changes: readonly (readonly [string, (at: number) => string])[] = [
  ['loses its fraction of a second', (at) => new Date(at).toISOString().replace(/\.\d+Z$/, 'Z')],
  ['loses its seconds', (at) => new Date(at - (at % 60_000)).toISOString()],
  ['gains seconds within the minute', (at) => new Date(at - (at % 60_000) + 59_999).toISOString()],
  ['is spelled otherwise', (at) => new Date(at).toISOString().replace('Z', '+00:00')],
];
test.for(changes)('a follow-up that %s is not mailed again', async ([, changed]) => {
  const begin = Date.now() - (Date.now() % 60_000) - 3 * 60_000;
  const at = begin + 30_123;
  await using scene = await twoTables({ lead: { nextFollowUpAt: new Date(at).toISOString() } });
  await scene.work();
  scene.workspace.sandbox.leads.edit(scene.id, { nextFollowUpAt: changed(at) });
  expect((await scene.workspace.cli('sync')).code).toBe(0);
  await scene.work();
  expect(scene.server.mails).toHaveLength(1);
  // The next minute is another date.
  scene.workspace.sandbox.leads.edit(scene.id, { nextFollowUpAt: new Date(begin + 60_000).toISOString() });
  expect((await scene.workspace.cli('sync')).code).toBe(0);
  await scene.work();
  expect(scene.server.mails).toHaveLength(2);
});
