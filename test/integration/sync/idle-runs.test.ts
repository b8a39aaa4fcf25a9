import { statSync, utimesSync } from 'node:fs';
import fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import type { FieldMapping } from '../../../src/core/lead/mapping.ts';
import type { Target } from '../../../src/ports/target.ts';
import type { Run } from '../../../src/store/runs.ts';
import type { SyncReport } from '../../../src/sync/report.ts';
import { advanceRun, type RunRequest } from '../../../src/sync/run.ts';
import { makeCsvHarness } from '../../contract/csv-harness.ts';
import { makeGoogleSheetsHarness } from '../../contract/google-sheets-harness.ts';
import { makeHubSpotHarness } from '../../contract/hubspot-harness.ts';
import { makeMsGraphHarness } from '../../contract/msgraph-harness.ts';
import { makePostgresTableHarness } from '../../contract/postgres-table-harness.ts';
import type { Table, TargetHarness } from '../../contract/target-harness.ts';
import { served } from '../../contract/webdav-harness.ts';
import { makeXlsxHarness } from '../../contract/xlsx-harness.ts';
import type { WorkerApp } from '../../../src/worker/open-worker.ts';
import { madeOf, withoutMemory } from '../../support/made-of-run.ts';
import { connectionName, Workspace } from '../../support/workspace.ts';

vi.setConfig({ testTimeout: 120_000 });

const field = (name: string, column: string): FieldMapping => ({
  field: name,
  column,
  type: 'text',
  direction: 'two-way',
});
const headings = ['Lead ID', 'Company', 'Notes', 'City'];

/** Ours, and that of the other side, which a test puts forward. */
class Clock {
  #ahead = 0;
  now = (): number => Date.now() + this.#ahead;
  random = (): number => Math.random();
  pass(ms: number): void {
    this.#ahead += ms;
  }
}

interface Kind extends TargetHarness {
  readonly config?: object;
  /** Of a file. */
  readonly path?: string;
  /** From now on the question whether it moved is refused. */
  refuse?(): void;
}

const kinds: Readonly<Record<string, (clock: Clock) => Promise<Kind>>> = {
  'a CSV file': () => makeCsvHarness(),
  'a workbook': () => makeXlsxHarness(),
  'a file on a WebDAV server': () => served(makeCsvHarness),
  'a file in Microsoft 365': () => makeMsGraphHarness(),
  'a Postgres table': async () => ({
    ...(await makePostgresTableHarness()),
    config: { type: 'postgres-table' },
  }),
  'a Google spreadsheet': async (clock) => {
    const harness = await makeGoogleSheetsHarness({ clock, driveLagMs: 180_000 });
    return {
      ...harness,
      config: { type: 'google-sheets' },
      target: (options) => harness.target({ ...options, clock }),
      refuse: () => {
        harness.sandbox.before = ({ method }) => (method === 'drive.files.get' ? { status: 403 } : undefined);
      },
    };
  },
  'a HubSpot portal': async (clock) => {
    const harness = await makeHubSpotHarness({ clock });
    return {
      ...harness,
      config: { type: 'hubspot' },
      target: (options) => harness.target({ ...options, clock }),
      refuse: () => {
        harness.sandbox.before = ({ kind }) => (kind === 'search' ? { status: 403 } : undefined);
      },
    };
  },
};
const isLate = (kind: string): boolean => kind === 'a Google spreadsheet' || kind === 'a HubSpot portal';

/** A service with leads, and a table of one kind, in step and at rest. */
class Scene implements AsyncDisposable {
  readonly clock: Clock;
  readonly harness: Kind;
  readonly here: Workspace;
  /** Wraps the targets of later runs. */
  between: (target: Target) => Target = (target) => target;

  readonly #app: WorkerApp;

  private constructor(clock: Clock, harness: Kind, here: Workspace, app: WorkerApp) {
    [this.clock, this.harness, this.here, this.#app] = [clock, harness, here, app];
  }

  static async open(kind: string, leads: number, sync: object): Promise<Scene> {
    const clock = new Clock();
    const harness = await (kinds[kind] ?? (() => makeCsvHarness()))(clock);
    const here = await Workspace.open({
      sandbox: { leads },
      connection: { fields: { companyName: 'Company', city: 'City' }, sync },
    });
    const scene = new Scene(clock, harness, here, await here.openApp());
    await scene.sync();
    return scene;
  }

  async run(how: Partial<Pick<RunRequest, 'mode' | 'isUnattended' | 'isAsked'>> = {}): Promise<Run> {
    const { mode = 'sync', isUnattended = true, isAsked } = how;
    const context = this.#app.contexts.get(connectionName);
    if (context === undefined) throw new Error('the connection is not configured');
    const { config = {} } = this.harness;
    const connection = { ...context.connection, target: { ...context.connection.target, ...config } };
    const fields = [field('companyName', 'Company'), field('city', 'City')];
    const target = this.between(this.harness.target({ fields }));
    const request = { mode, allow: ['first-leads'], maxAttempts: 2, isUnattended, isAsked };
    for (;;) {
      const stop = new AbortController().signal;
      const result = await advanceRun({ ...context, connection, target }, request, stop);
      if (result.kind === 'finished') return result.run;
    }
  }

  async sync(): Promise<SyncReport> {
    return (await this.run()).report as SyncReport;
  }

  /** Until the other side shows every change, and the next run has read them. */
  async rest(): Promise<void> {
    this.clock.pass(11 * 60_000);
    await this.sync();
    await this.sync();
  }

  async edit(change: (rows: string[][]) => string[][]): Promise<void> {
    await this.harness.edit((table: Table) => {
      const [head = [], ...rows] = table.map((row) => [...row]);
      return [head, ...change(rows)];
    });
  }

  async cityOf(id: string): Promise<string | undefined> {
    const [head = [], ...rows] = (await this.harness.show()) ?? [];
    return rows.find((row) => row[head.indexOf('Lead ID')] === id)?.[head.indexOf('City')];
  }

  /** Types a city into the row at this place. */
  type(nth: number, city: string): Promise<void> {
    return this.edit((rows) => {
      const row = rows[nth % Math.max(1, rows.length)];
      if (row !== undefined) row[this.city] = city;
      return rows;
    });
  }

  city = 2;

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#app[Symbol.asyncDispose]();
    await this.here[Symbol.asyncDispose]();
    await this.harness[Symbol.asyncDispose]();
  }
}

async function opened(kind: string, leads = 12, sync: object = {}): Promise<Scene> {
  const scene = await Scene.open(kind, leads, sync);
  const [head = []] = (await scene.harness.show()) ?? [];
  scene.city = head.indexOf('City');
  return scene;
}

const written = ({ created, updated, deleted }: SyncReport) =>
  [created, updated, deleted].flatMap(({ leads, rows }) => [leads, rows]).reduce((sum, one) => sum + one, 0);

test.each(Object.keys(kinds))('%s that nobody touched is not read, and every edit arrives', async (kind) => {
  await using scene = await opened(kind);
  const { sandbox } = scene.here;
  const [a = { id: '' }, b = { id: '' }] = sandbox.leads.list();
  await scene.rest();
  const idle = await scene.run();
  expect(idle.tableReadAt).not.toBeNull();
  expect(idle).toMatchObject({ status: 'succeeded', targetRows: 12 });
  expect(written(idle.report as SyncReport)).toBe(0);

  await scene.edit((rows) => {
    for (const row of rows) if (row.includes(a.id)) row[scene.city] = 'Typed';
    return rows;
  });
  // As late as the other side shows a change.
  if (isLate(kind)) scene.clock.pass(4 * 60_000);
  const read = await scene.run();
  expect(read.tableReadAt).toBeNull();
  expect(sandbox.leads.get(a.id)?.city).toBe('Typed');

  // Our own write, and then nothing again.
  sandbox.leads.edit(b.id, { city: 'Meant' });
  expect(await scene.sync()).toMatchObject({ updated: { rows: 1 } });
  expect(await scene.cityOf(b.id)).toBe('Meant');
  await scene.rest();
  expect((await scene.run()).tableReadAt).not.toBeNull();

  // The service alone has moved: the row is written without the table being read before.
  sandbox.leads.edit(b.id, { city: 'Meant again' });
  const carried = await scene.run();
  expect(carried.tableReadAt).not.toBeNull();
  expect(await scene.cityOf(b.id)).toBe('Meant again');
});

test.each(Object.keys(kinds))(
  '%s: whatever happens in a day, a run that skips the table plans what one plans that reads it',
  async (kind) => {
    type Day = { readonly what: string; readonly nth: number; readonly word: number };
    const day: fc.Arbitrary<Day> = fc.record({
      what: fc.constantFrom(
        'nothing',
        'row edited',
        'lead edited',
        'both edited',
        'row deleted',
        'lead deleted',
        'lead made',
        'row made',
      ),
      nth: fc.nat(11),
      word: fc.nat(3),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(day, { minLength: 4, maxLength: 8 }), async (days) => {
        await using scene = await opened(kind, 6);
        const { sandbox, database } = scene.here;
        const leadAt = (nth: number) => sandbox.leads.list()[nth % Math.max(1, sandbox.leads.list().length)];
        for (const { what, nth, word } of days) {
          const [lead, city] = [leadAt(nth), `City ${word}`];
          if (what === 'row edited' || what === 'both edited') await scene.type(nth, city);
          if ((what === 'lead edited' || what === 'both edited') && lead)
            sandbox.leads.edit(lead.id, { city: `${city}!` });
          if (what === 'row deleted') await scene.edit((rows) => rows.toSpliced(nth % rows.length, 1));
          if (what === 'lead deleted' && lead) sandbox.leads.remove(lead.id);
          if (what === 'lead made') sandbox.leads.add({ companyName: `Made ${nth} ${word}`, city });
          if (what === 'row made' && kind !== 'a HubSpot portal')
            await scene.edit((rows) => {
              const row = (rows[0] ?? headings).map(() => '');
              [row[scene.city], row[1]] = [city, `Typed ${nth} ${word}`];
              return [...rows, row];
            });
          scene.clock.pass(11 * 60_000);
          const plan = async () => madeOf(database.pool, await scene.run({ mode: 'plan' }));
          const short = await plan();
          expect(short, what).toEqual(await withoutMemory(database.pool, plan));
          await scene.sync();
        }
      }),
      { numRuns: 2 },
    );
  },
);

test.each(Object.keys(kinds))('%s: an edit in the middle of a run is seen by the next', async (kind) => {
  await using scene = await opened(kind);
  await scene.type(0, 'Before');
  scene.clock.pass(11 * 60_000);
  let times = 0;
  scene.between = (target) =>
    new Proxy(target, {
      get: (of, key) => {
        const value: unknown = Reflect.get(of, key, of);
        if (key !== 'open' || typeof value !== 'function')
          return typeof value === 'function' ? value.bind(of) : value;
        return async (...args: Parameters<Target['open']>) => {
          const snapshot = await of.open(...args);
          if (times++ > 0) return snapshot;
          const rows = [];
          for await (const batch of snapshot.rows) rows.push(batch);
          await scene.type(1, 'Meanwhile');
          return {
            ...snapshot,
            rows: (async function* () {
              yield* rows;
            })(),
          };
        };
      },
    });
  await scene.sync();
  await scene.sync();
  scene.between = (target) => target;
  if (isLate(kind)) scene.clock.pass(4 * 60_000);
  await scene.sync();
  const cities = scene.here.sandbox.leads.list().map(({ city }) => city);
  expect(cities).toContain('Before');
  expect(cities).toContain('Meanwhile');
});

const services = Object.keys(kinds).filter(isLate);

test.each(services)('%s that cannot be asked whether it moved is read', async (kind) => {
  await using scene = await opened(kind);
  await scene.rest();
  scene.harness.refuse?.();
  const run = await scene.run();
  expect(run).toMatchObject({ status: 'succeeded', tableReadAt: null, targetRows: 12 });
});

test.each(services)('%s is read when a person waits for the run, and when no run was near', async (kind) => {
  await using scene = await opened(kind);
  await scene.rest();
  expect((await scene.run({ isUnattended: false })).tableReadAt).toBeNull();
  expect((await scene.run()).tableReadAt).not.toBeNull();
  expect((await scene.run({ isAsked: true })).tableReadAt).toBeNull();
  expect((await scene.run()).tableReadAt).not.toBeNull();
  const { pool } = scene.here.database;
  await pool.query(`update runs set finished_at = finished_at - interval '2 hours'`);
  expect((await scene.run()).tableReadAt).toBeNull();
});

test.each(['a file on a WebDAV server', 'a file in Microsoft 365', ...services])(
  '%s is read once a day, and after the clock was set back',
  async (kind) => {
    await using scene = await opened(kind);
    await scene.rest();
    const { pool } = scene.here.database;
    expect((await scene.run()).tableReadAt).not.toBeNull();
    for (const shift of ["- interval '23 hours'", "+ interval '5 minutes'"]) {
      await pool.query(`update place_notes set read_at = read_at ${shift}`);
      expect((await scene.run()).tableReadAt, shift).toBeNull();
      expect((await scene.run()).tableReadAt, shift).not.toBeNull();
    }
  },
);

test.each(services)('%s: while a scan has to prove that a row is gone, the table is read', async (kind) => {
  await using scene = await opened(kind, 12, { onRowDeleted: 'ignore' });
  await scene.rest();
  await scene.edit((rows) => rows.slice(1));
  scene.clock.pass(11 * 60_000);
  const runs = [await scene.run(), await scene.run(), await scene.run(), await scene.run()];
  expect(runs.map(({ tableReadAt }) => tableReadAt !== null)).toEqual([false, false, false, true]);
});

test('a CSV file: an edit that leaves its size and its date is seen', async () => {
  await using scene = await opened('a CSV file');
  const { path = '' } = scene.harness;
  await scene.type(0, 'Ulm');
  await scene.rest();
  const { size, atime, mtime } = statSync(path);
  await scene.type(0, 'Bad');
  utimesSync(path, atime, mtime);
  expect(statSync(path)).toMatchObject({ size, mtime });
  expect(await scene.sync()).toMatchObject({ updated: { leads: 1 } });
});

test('a run that was killed after it had read the table leaves nothing undone', async () => {
  await using scene = await opened('a Postgres table');
  await scene.rest();
  const [a = { id: '' }] = scene.here.sandbox.leads.list();
  scene.here.sandbox.leads.edit(a.id, { city: 'Meant' });
  scene.between = (target) =>
    new Proxy(target, {
      get: (of, key) => {
        if (key === 'write') throw new Error('killed');
        const value: unknown = Reflect.get(of, key, of);
        return typeof value === 'function' ? value.bind(of) : value;
      },
    });
  await expect(scene.run()).resolves.toMatchObject({ status: 'failed' });
  scene.between = (target) => target;
  await scene.sync();
  expect(await scene.cityOf(a.id)).toBe('Meant');
});
