import { afterAll, expect, inject, test } from 'vitest';
import { defaultFields } from '../../src/core/lead/mapping.ts';
import { requestEdit } from '../../src/review/request-edit.ts';
import { transaction } from '../../src/store/database.ts';
import { history } from '../../src/store/history.ts';
import type { SyncReport } from '../../src/sync/report.ts';
import { Beginnings, CrashWorld } from './crash-world.ts';
import { fixedIds, type Scene } from './crash-scenes.ts';

const server = inject('databaseUrl');
const beginnings = new Beginnings(server);
afterAll(() => beginnings[Symbol.asyncDispose]());

/** Every third one, unless `npm run test:deaths` asks for all. */
const playAll = process.env['DEATHS'] === 'all';

const [monday, tuesday, friday] = [3, 4, 7].map((day) => `2031-03-0${day}T08:00:00.000Z`);
const idOf = (nth: number): string => `${fixedIds}0000-7000-8000-00000000000${nth}`;

/** Three leads due on Monday, and a sync; somebody moves the third one in the service. */
const scene: Scene = {
  name: 'requested edits',
  service: {},
  sync: {},
  days: [
    ({ sandbox, sheet }) => {
      sheet.write([['Lead ID', 'Company', 'Segment', 'City', 'Region', 'Stage', 'Next follow-up', 'Status']]);
      for (const nth of [1, 2, 3])
        sandbox.leads.add({ id: idOf(nth), companyName: `Lead ${nth}`, nextFollowUpAt: monday ?? null });
    },
    ({ sandbox }) => sandbox.leads.edit(idOf(3), { nextFollowUpAt: friday ?? null }),
  ],
};

/** Each of the three is to be moved to Tuesday: written, cleared, a conflict. */
async function open(): Promise<CrashWorld> {
  const world = await CrashWorld.open(server, scene, await beginning);
  const usual = { field: 'nextFollowUpAt', from: monday ?? null, requestedBy: 'anna@example.com' } as const;
  await transaction(world.pool, async (db) => {
    for (const nth of [1, 2, 3])
      await requestEdit(
        db,
        { name: 'main', fields: defaultFields },
        { ...usual, leadId: idOf(nth), to: nth === 2 ? null : (tuesday ?? null), source: 'link' },
      );
  });
  return world;
}

async function endOf(world: CrashWorld) {
  const select = async (sql: string): Promise<unknown[]> => (await world.pool.query(sql)).rows;
  return {
    edits: await select(
      `select lead_id, state, lead_value as shown from held where kind = 'edit' order by id`,
    ),
    // Of the third an interrupted attempt may leave a line: nobody knows then whether it was written.
    history: await select(
      `select lead_id, before, after from ${history} h where rule = 'requested' and lead_id <> '${idOf(3)}' order by lead_id`,
    ),
    leads: world.sandbox.leads.list().map((lead) => lead['nextFollowUpAt'] ?? null),
    rows: world.sheet.rows().map((row) => row['Next follow-up']),
    open: await select('select mode from runs where finished_at is null union all select name from leases'),
  };
}

const beginning = beginnings.of(scene);

test('a process that dies at any moment of a run of edits: each is carried out once, and told', async () => {
  const names = await (async () => {
    await using world = await open();
    return await world.syncInChild(null, 'edit');
  })();
  expect(names.filter((name) => name.includes('PATCH'))).toHaveLength(2);
  for (const [nth, name] of names.entries()) {
    const isLast = nth === names.length - 1;
    if (!isLast && !playAll && nth % 3 > 0) continue;
    for (const way of isLast ? (['before', 'after'] as const) : (['before'] as const)) {
      await using world = await open();
      await world.syncInChild({ name, way }, 'edit');
      const { held } = (await world.sync('edit')).report as SyncReport;
      expect(held, name).toBeLessThanOrEqual(1);
      await world.sync();
      expect(await endOf(world), `dies ${way} ${name}`).toEqual({
        edits: [
          { lead_id: idOf(1), state: 'applied', shown: null },
          { lead_id: idOf(2), state: 'applied', shown: null },
          { lead_id: idOf(3), state: 'conflict', shown: friday },
        ],
        history: [
          { lead_id: idOf(1), before: monday, after: tuesday },
          { lead_id: idOf(2), before: monday, after: null },
        ],
        leads: [tuesday, null, friday],
        rows: ['2031-03-04T08:00:00.000Z', '', '2031-03-07T08:00:00.000Z'],
        open: [],
      });
    }
  }
});
