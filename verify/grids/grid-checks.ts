import { setTimeout as sleep } from 'node:timers/promises';
import { Differs, same } from '../check.ts';
import type { Typed } from './grid.ts';
import type { Scene } from './scene.ts';

/** One promise, tried in the state that those before it left behind. */
export interface GridCheck {
  readonly title: string;
  /** What was seen, for people. Throws Differs, or whatever went wrong. */
  readonly run: (scene: Scene) => Promise<string>;
}

const awkward = [
  '=HYPERLINK("http://example.com";"x")',
  '+49 40 1234',
  'first line\nsecond line\r\nthird\ttab',
  "Robert'); drop table leads;-- \\N \\x00",
  'emoji 👩🏽‍🚀🏳️‍🌈 and 北京 and שלום',
  'u\u0308 is u and two dots',
  '  spaces around  ',
  '<b>bold</b> &amp; {{mustache}} ${dollar} %s',
  '00123',
  'null',
];

export const firstChecks: readonly GridCheck[] = [
  {
    title: 'the first run: every lead stands in the table, and rows that people had typed become leads',
    async run(scene) {
      await scene.makeTable();
      const typed = ['Nordwind GmbH', 'Südstern AG', 'Ostsee & Söhne'].map((companyName) => ({
        companyName,
        city: 'Kiel',
        extra: 'typed before',
      }));
      const keys = await scene.table.add(typed);
      for (const { id, ...lead } of scene.sandbox.leads.list()) scene.expect(id, lead);
      const { created } = await scene.sync();
      same('leads made', created.leads, typed.length);
      await adopt(scene, keys, typed);
      return scene.equal();
    },
  },
  quiet(),
];

export const editChecks: readonly GridCheck[] = [
  {
    title: 'texts with =, line breaks, quotes, emoji, spaces, and of 10,000 characters',
    async run(scene) {
      const ids = scene.ids(awkward.length + 1);
      const texts = [...awkward, `${'long text äöü '.repeat(714)}end.`.padEnd(10_000, 'x')];
      await scene.type(ids.map((id, nth) => [id, { region: texts[nth] ?? '' }]));
      await scene.sync();
      // A service may keep line breaks and accents in a form of its own; here it keeps them as they came.
      return scene.equal();
    },
  },
  {
    title: 'cells that are cleared, with null and with an empty text',
    async run(scene) {
      const ids = scene.ids(6, 12);
      await scene.type(
        ids.map((id, nth) => [id, { city: nth % 2 === 0 ? null : '', stage: null, nextFollowUpAt: null }]),
      );
      await scene.sync();
      return scene.equal();
    },
  },
  {
    title: 'moments typed with the offset of the browser, also in the hours when clocks change',
    async run(scene) {
      const moments = [
        '2027-03-28T01:59:00+01:00',
        '2027-03-28T03:00:00+02:00',
        '2027-10-31T02:30:00+02:00',
        '2027-10-31T02:30:00+01:00',
        '2027-07-01T00:00:00Z',
        '2027-07-01T23:59:59+02:00',
        '2026-12-24T19:00:00-05:00',
      ];
      const ids = scene.ids(moments.length, 20);
      await scene.type(ids.map((id, nth) => [id, { nextFollowUpAt: moments[nth] ?? null }]));
      await scene.sync();
      return scene.equal();
    },
  },
  {
    title: 'moments that the service moves',
    async run(scene) {
      const moments = [
        '2027-03-28T01:30:00.000Z',
        '2027-10-31T00:30:00.000Z',
        '2027-10-31T01:30:00.000Z',
        null,
      ];
      scene
        .ids(moments.length, 30)
        .forEach((id, nth) => scene.edit(id, { nextFollowUpAt: moments[nth] ?? null }));
      await scene.sync();
      return scene.equal();
    },
  },
  {
    title: 'numbers, decimals, check boxes and choices',
    async run(scene) {
      const ids = scene.ids(4, 36);
      await scene.type([
        [ids[0] ?? '', { headcount: 0, revenue: 1234.5, isKeyAccount: true, stage: 'won' }],
        [ids[1] ?? '', { headcount: 2_000_000_000, revenue: -0.01, isKeyAccount: false, stage: 'new' }],
        [ids[2] ?? '', { headcount: null, revenue: null, stage: 'lost' }],
      ]);
      scene.edit(ids[3] ?? '', { headcount: 77, revenue: 99.9, isKeyAccount: true, stage: 'contacted' });
      await scene.sync();
      return scene.equal();
    },
  },
  {
    title: 'rows that are pasted become leads; one with nothing for leadsync in it stays as it is',
    async run(scene) {
      const pasted = Array.from({ length: 25 }, (_, nth) => ({
        companyName: `Pasted ${nth} KG`,
        city: nth % 2 === 0 ? 'Ulm' : '',
        nextFollowUpAt: '2027-05-05T08:00:00Z',
      }));
      const keys = await scene.table.add(pasted);
      const [own = 0] = await scene.table.add([{ extra: 'a note of ours', isKeyAccount: null }]);
      const { created } = await scene.sync();
      same('leads made', created.leads, pasted.length);
      await adopt(scene, keys, pasted);
      const left = (await scene.table.list()).find(({ key }) => key === own);
      same('the lead id of the note', left?.leadId, null);
      return scene.equal();
    },
  },
  {
    title:
      'both sides edited: different fields of one lead both arrive, the same field is held with both values',
    async run(scene) {
      const [both = '', held = ''] = scene.ids(2, 44);
      await scene.type([[both, { city: 'typed in the grid' }]]);
      scene.edit(both, { region: 'from the service' });
      const agreed = scene.expected.get(held)?.['city'] ?? null;
      await scene.type([[held, { city: 'ours' }]]);
      scene.sandbox.leads.edit(held, { city: 'theirs' });
      const report = await scene.sync();
      same('held', report.held, 1);
      same('the lead keeps', scene.sandbox.leads.get(held)?.city, 'theirs');
      const row = (await scene.table.list()).find(({ leadId }) => leadId === held);
      same('the row keeps', row?.values['city'], 'ours');
      // The person settles it by taking back the own edit.
      await scene.type([[held, { city: agreed }, { city: 'theirs' }]]);
      await scene.sync();
      return scene.equal();
    },
  },
  {
    title: 'people type while a run is under way: nothing is lost',
    async run(scene) {
      scene.ids(20, 50).forEach((id, nth) => scene.edit(id, { city: `from the service ${nth}` }));
      const ended = new AbortController();
      let typed = 0;
      // New rows too: their ids are written back while people edit them.
      const added = [{ companyName: 'While it runs AG' }, { companyName: 'Meanwhile OHG' }];
      let keys: readonly number[] = [];
      const type = async () => {
        keys = await scene.table.add(added);
        while (!ended.signal.aborted) {
          await scene.type(scene.ids(20, 50).map((id) => [id, { region: `typed ${typed}` }]));
          await scene.table.edit(keys.map((key) => [key, { city: `typed ${typed}` }]));
          typed += 1;
          await sleep(20);
        }
      };
      await Promise.all([scene.sync().finally(() => ended.abort()), type()]);
      await scene.sync();
      const last = { city: `typed ${typed - 1}` };
      await adopt(
        scene,
        keys,
        added.map((row) => ({ ...row, ...last })),
      );
      return `${typed} times 22 rows were typed meanwhile; ${await scene.equal()}`;
    },
  },
  {
    title: 'an edit that is undone in the grid after a run',
    async run(scene) {
      const [id = ''] = scene.ids(1, 72);
      const before = scene.expected.get(id) ?? {};
      await scene.type([[id, { companyName: 'A slip' }]]);
      await scene.sync();
      await scene.type([[id, { companyName: before['companyName'] ?? null }]]);
      await scene.sync();
      return scene.equal();
    },
  },
  {
    title: 'a row that is copied in the grid, with its id: the table refuses it, or it is held',
    async run(scene) {
      const [id = ''] = scene.ids(1, 74);
      const copied = { leadId: id, companyName: 'A copy', city: 'Bonn' };
      const [key] = await scene.table.add([copied]).catch(() => []);
      if (key === undefined) return `the table refuses it; ${await scene.equal()}`;
      const { held } = await scene.sync();
      same('held', held, 1);
      await scene.table.remove([key]);
      return `held; ${await scene.equal()}`;
    },
  },
  {
    title: 'people change the table itself in the program; the next edits arrive',
    async run(scene) {
      const done = await scene.table.reshape();
      const [id = '', other = ''] = scene.ids(2, 76);
      await scene.type([[id, { companyName: 'After the change', stage: 'won' }]]);
      scene.edit(other, { city: 'after the change' });
      await scene.sync();
      return `${done}; ${await scene.equal()}`;
    },
  },
];

export const lastChecks: readonly GridCheck[] = [
  {
    title: 'rows that are deleted in the grid: written again, or their leads are deleted after two runs',
    async run(scene) {
      const ids = scene.ids(5, 80);
      const keys = new Map((await scene.table.list()).map(({ leadId, key }) => [leadId, key]));
      await scene.table.remove(ids.map((id) => keys.get(id) ?? 0));
      const isCarried = scene.options.deletes === 'carried';
      if (isCarried) for (const id of ids) scene.expected.delete(id);
      for (let n = 0; n < 3; n++) await scene.sync();
      return `${isCarried ? 'leads deleted' : 'rows written again'}; ${await scene.equal()}`;
    },
  },
  {
    title:
      'leads that are deleted in the service: their rows are marked, or go, with what the program filled itself',
    async run(scene) {
      const ids = scene.ids(4, 85);
      // The program has written into these rows, and into some not.
      await scene.type(ids.slice(0, 2).map((id) => [id, { city: 'about to go' }]));
      await scene.sync();
      for (const id of ids) {
        scene.sandbox.leads.remove(id);
        scene.expected.delete(id);
      }
      for (let n = 0; n < 3; n++) await scene.sync();
      const rows = await scene.table.list();
      const left = rows.filter(({ leadId }) => leadId !== null && ids.includes(leadId));
      const isCarried = scene.options.deletes === 'carried';
      same('rows left', left.length, isCarried ? 0 : ids.length);
      const blank = rows.filter(({ values }) => Object.values(values).every((value) => value === null));
      // The note that was typed above, in a column of the person's own.
      same('rows without a value', blank.length, 1);
      return `${isCarried ? 'rows gone' : 'rows marked'}; ${await scene.equal()}`;
    },
  },
  quiet(),
];

/** A second run writes nothing. */
function quiet(): GridCheck {
  return {
    title: 'one more run writes nothing',
    async run(scene) {
      const { created, updated, deleted, held, putOff, problems } = await scene.sync();
      const none = { leads: 0, rows: 0 };
      const seen = { created, updated, deleted, held, putOff };
      same('what it wrote', seen, { created: none, updated: none, deleted: none, held: 0, putOff: 0 });
      if (problems.length > 0) throw new Differs(`problems: ${JSON.stringify(problems)}`);
      return scene.equal();
    },
  };
}

/** Takes what rows without id have become as what both sides have to hold. */
async function adopt(scene: Scene, keys: readonly number[], typed: readonly Typed[]): Promise<void> {
  const rows = new Map((await scene.table.list()).map((row) => [row.key, row]));
  for (const [nth, key] of keys.entries()) {
    const leadId = rows.get(key)?.leadId ?? null;
    if (leadId === null) throw new Differs(`the row ${key} got no lead id`);
    const { extra: _, ...values } = typed[nth] ?? {};
    // The program's own default of a check box.
    const flag = rows.get(key)?.values['isKeyAccount'] === 'false' ? { isKeyAccount: false } : {};
    scene.expect(leadId, { ...flag, ...values });
  }
}
