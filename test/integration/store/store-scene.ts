import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { afterAll, beforeAll } from 'vitest';
import type { FieldMapping } from '../../../src/core/lead/mapping.ts';
import type { Cells } from '../../../src/core/lead/value.ts';
import { insertActions } from '../../../src/store/actions.ts';
import { finishRun, insertRun, openRun, type Run } from '../../../src/store/runs.ts';
import {
  absencesAfter,
  type Difference,
  differenceOf,
  RecordTally,
  type Sight,
} from '../../../src/core/merge/difference.ts';
import { transaction } from '../../../src/store/database.ts';
import { sightsOf } from '../../../src/store/differences.ts';
import { adoptScan, keepMoves, makeKeptMoves } from '../../../src/store/baselines.ts';
import { LiveScan } from '../../../src/core/merge/live-scan.ts';
import { loadBaselines } from '../../../src/store/load-baselines.ts';
import { logLeads, takeUpLeads } from '../../../src/store/run-sights.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';

/** The mapping of all scenes. */
export const fields: readonly FieldMapping[] = [
  { field: 'companyName', column: 'Company', type: 'text', direction: 'two-way' },
  { field: 'stage', column: 'Stage', type: 'text', direction: 'two-way' },
];

const proof = { leads: true, rows: true, answers: true, rowsAlone: true, at: 0, proveAfter: 0 };

/** A database for all tests of a file; each test works on a connection of its own, of a name that no other has. */
export class Scene {
  readonly connection = `c-${randomUUID()}`;
  readonly pool: pg.Pool;
  /** The address of the database, for another process. */
  readonly url: string;

  constructor(database: TestDatabase) {
    this.pool = database.pool;
    this.url = database.url;
  }

  run(): Promise<Run> {
    return insertRun(this.pool, {
      connection: this.connection,
      mode: 'sync',
      baseUrl: 'http://127.0.0.1:1',
      settingsHash: 'h',
      allow: [],
    });
  }

  /** Plans n edits of a lead in a run, without what they change; returns their ids. */
  async actions(run: Run, count: number): Promise<readonly number[]> {
    const action = {
      kind: 'update-lead',
      leadId: 'a',
      row: 2,
      contentHash: '',
      reason: 'row-edited',
    } as const;
    await insertActions(
      this.pool,
      run,
      Array.from({ length: count }, () => ({ ...action, changes: {}, expect: {} })),
    );
    const { rows } = await this.pool.query<{ id: number }>(
      `select id from actions where run_id = $1 order by id desc limit $2`,
      [run.id, count],
    );
    return rows.map(({ id }) => id).toReversed();
  }

  /** Plans an edit in the run that is open, or a new one; returns its id. */
  async action(): Promise<number> {
    const run = (await openRun(this.pool, this.connection, 'sync')) ?? (await this.run());
    return (await this.actions(run, 1))[0] ?? 0;
  }

  /** Ends the run that is open, begins another and sees what both sides show in it. */
  async scan(
    leads: Readonly<Record<string, Cells>>,
    rows: readonly (readonly [string | null, Cells])[],
  ): Promise<SeenRun> {
    const open = await openRun(this.pool, this.connection, 'sync');
    if (open !== null) await finishRun(this.pool, open.id, 'succeeded', null);
    return this.see(await this.run(), leads, rows);
  }

  /** Sees what both sides show, in a run whose scan was begun by another process. */
  async see(
    run: Run,
    leads: Readonly<Record<string, Cells>>,
    rows: readonly (readonly [string | null, Cells])[],
  ): Promise<SeenRun> {
    const scan = await this.live(run);
    await this.seeLeads(run, leads, scan);
    for (const [index, [leadId, cells]] of rows.entries())
      scan.seeRow({ ordinal: index, row: index + 2, leadId, cells, status: null }, seeing);
    return { ...run, scan };
  }

  /** The scan of a run, as a process takes it up that knows nothing of it. */
  async live(run: Run): Promise<LiveScan> {
    const live = new LiveScan(await loadBaselines(this.pool, this.connection, fields, () => {}));
    await takeUpLeads(this.pool, run.id, live);
    return live;
  }

  /** Sees leads, and logs the checkpoint after them; returns which of them were met before. */
  async seeLeads(
    run: Run,
    leads: Readonly<Record<string, Cells>>,
    live: LiveScan,
  ): Promise<readonly string[]> {
    const again = Object.entries(leads).flatMap(([leadId, cells]) =>
      live.seeLead(leadId, cells) ? [leadId] : [],
    );
    await logLeads(this.pool, run.id, live.takeLeads([]));
    return again;
  }

  sights(run: SeenRun): Promise<readonly Sight[]> {
    return collect(sightsOf(this.pool, run, run.scan));
  }

  /** All differences, read as the product reads them. */
  async differences(run: SeenRun, isProof = proof): Promise<readonly Difference[]> {
    return (await this.sights(run)).flatMap((sight) => differenceOf(sight, isProof) ?? []);
  }

  /** Takes over what a scan proves, as a plan does that finds nothing else. Returns how many pairs were stored. */
  async adopt(run: SeenRun, isProof = proof): Promise<number> {
    const seen = await this.sights(run);
    const absences = seen.flatMap(
      (one) => absencesAfter(one, differenceOf(one, isProof), false, isProof.at) ?? [],
    );
    return transaction(this.pool, async (db) => {
      const stored = await adoptScan(db, run, run.scan, isProof.rows, new Set());
      const moves = absences.map(({ leadId, place, ...missed }) => {
        return { to: 'missed', leadId, row: place ?? undefined, missed: { ...missed, run: run.id } } as const;
      });
      await keepMoves(db, moves);
      await makeKeptMoves(db, run.connection);
      return stored;
    });
  }

  /** Counts the records of a scan, before it is taken over. */
  async counts(run: SeenRun): Promise<{ readonly records: number; readonly equal: number }> {
    const tally = new RecordTally();
    for (const sight of await this.sights(run)) tally.see(sight, differenceOf(sight, proof));
    for (const loose of run.scan.rows.loose()) tally.seeLoose(loose);
    const { leads, rows } = run.scan.unmoved();
    return tally.counts({ pairs: run.scan.base.size, metLeads: leads, metRows: rows, newRows: 0 });
  }
}

/** A run, and what its scan has seen. */
export type SeenRun = Run & { readonly scan: LiveScan };

const seeing = { isWhole: true, usualStatus: null };

/** Makes the database of a test file; call it once at its top. */
export function useScenes(): () => Scene {
  let database: TestDatabase | undefined;
  beforeAll(async () => {
    database = await createTestDatabase();
  });
  afterAll(() => database?.drop());
  return () => {
    if (database === undefined) throw new Error('asked for a scene outside of a test');
    return new Scene(database);
  };
}

async function collect<T>(items: AsyncIterable<T>): Promise<readonly T[]> {
  const collected: T[] = [];
  for await (const item of items) collected.push(item);
  return collected;
}

/** How many leads and rows a scan keeps. */
export function kept({ scan }: SeenRun): { leads: number; rows: number } {
  return { leads: [...scan.leads()].length, rows: [...scan.rows.ids(), ...scan.rows.loose()].length };
}
