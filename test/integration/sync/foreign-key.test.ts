import { expect, test, vi } from 'vitest';
import type { PlanOutput } from '../../../src/cli/plan-output.ts';
import { parseFaults } from '../../../src/demo/faults.ts';
import { type Sandbox, startSandbox } from '../../../src/demo/sandbox.ts';
import { type CliResult, oneObject } from '../../support/cli.ts';
import { Workspace } from '../../support/workspace.ts';

vi.setConfig({ testTimeout: 120_000 });

const now = Date.parse('2031-03-01T09:00:00Z');
const own = { leads: 30, seed: 1, now };
const other = { leads: 40, seed: 2, now };
const reminders = { from: 'sales@example.com', to: ['anna@example.com'], before: ['0m'] };

/** An address at which the key says whose leads are shown: the organizations take turns. */
class Address implements AsyncDisposable {
  readonly workspace: Workspace;
  #now: Sandbox;

  constructor(workspace: Workspace) {
    this.workspace = workspace;
    this.#now = workspace.sandbox;
  }

  static async open(query: Readonly<Record<string, string>> = {}): Promise<Address> {
    const connection = { reminders, leads: { query } };
    const address = new Address(await Workspace.open({ sandbox: own, connection }));
    expect((await address.run('sync')).code).toBe(0);
    return address;
  }

  async become(options: Parameters<typeof startSandbox>[0]): Promise<Sandbox> {
    const { port } = new URL(this.workspace.sandbox.url);
    await this.#now.close();
    this.#now = await startSandbox({ ...options, port: Number(port) });
    return this.#now;
  }

  run(...args: readonly string[]): Promise<CliResult> {
    return this.workspace.start(args, { env: { LEADS_API_KEY: this.#now.apiKey } }).ended;
  }

  /** All that another organization must leave as it is. */
  async kept(): Promise<object> {
    const { pool } = this.workspace.database;
    const of = async (text: string) => (await pool.query(text)).rows;
    return {
      file: this.workspace.sheet.text(),
      pairs: await of(
        'select lead_id, base, row_number, lead_absences, row_absences, lead_deleted_at from pairs order by id',
      ),
      mails: await of('select * from mails order by id'),
      followUps: await of(
        'select lead_id, service, due_at, recipients, sequence from follow_ups order by lead_id',
      ),
      conflicts: await of(`select * from held where kind = 'conflict' order by id`),
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#now.close();
    await this.workspace[Symbol.asyncDispose]();
  }
}

const told = 'the service lists none of 30 known leads, but 40 others';

test.each([{}, { stage: 'new' }])(
  "another organization's key, query %o: check, plan and sync say it, nothing is written, and the right key goes on at once",
  async (query) => {
    await using address = await Address.open(query);
    const before = await address.kept();

    const foreign = await address.become(other);
    const check = await address.run('check');
    expect(check.code).toBe(1);
    expect(check.stdout).toMatch(/FAIL {2}main: service: .*key that of another organization/);
    const plan = await address.run('plan', '--json');
    expect(plan.code).toBe(4);
    const { guard } = oneObject(plan) as unknown as PlanOutput;
    expect(guard.refusals.map(({ code }) => code)).toEqual(['other-service']);
    for (let night = 0; night < 2; night++) {
      const stopped = await address.run('sync', '--json');
      expect(stopped.code).toBe(4);
      expect(oneObject(stopped)).toMatchObject({
        status: 'stopped',
        created: { leads: 0, rows: 0 },
        problems: [{ code: 'guard.other-service' }],
      });
    }
    expect(await address.kept()).toEqual(before);
    expect(foreign.log.filter(({ method }) => method !== 'GET')).toEqual([]);
    if (Object.keys(query).length === 0) expect((await address.run('sync')).stdout).toContain(told);

    await address.become(own);
    expect((await address.run('check')).stdout).toContain('ok    main: service');
    const again = await address.run('sync', '--json');
    expect([again.code, oneObject(again)]).toMatchObject([
      0,
      { status: 'succeeded', created: { leads: 0, rows: 0 }, updated: { leads: 0, rows: 0 } },
    ]);
    expect(await address.kept()).toEqual(before);
  },
);

test('a service that was emptied and filled anew: allowed, its leads get rows, the known ones are missing', async () => {
  await using address = await Address.open();
  await address.become(other);
  const allowed = await address.run('sync', '--allow', 'other-service', '--json');
  expect(oneObject(allowed)).toMatchObject({ created: { leads: 0, rows: 40 } });
  expect(address.workspace.sheet.rows()).toHaveLength(70);
  // They are known now: the deletion of the others is another matter.
  const next = await address.run('sync', '--json');
  expect(oneObject(next)).toMatchObject({ status: 'stopped', problems: [{ code: 'guard.max-deletes' }] });
});

test('another query, which shows none of the known leads, is honest: they are there by their ids', async () => {
  await using address = await Address.open({ stage: 'new' });
  const { workspace } = address;
  const stages = workspace.sandbox.leads.list().map(({ stage }) => stage);
  expect(new Set(stages).size).toBeGreaterThan(1);
  workspace.configure({ reminders, leads: { query: { stage: stages.find((one) => one !== 'new') ?? '' } } });
  expect((await address.run('check')).stdout).toContain('ok    main: service');
  const other = await address.run('sync', '--json');
  expect(oneObject(other)).toMatchObject({ status: 'succeeded' });
});

test('a service that does not let known leads be read by id has none of them', async () => {
  await using address = await Address.open();
  await address.become({ ...other, faults: parseFaults('403:on=get') });
  expect((await address.run('sync')).stdout).toContain(told);
});
