import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { syncCalendars } from '../../../src/worker/sync-calendars.ts';
import { type Fate, startDavProxy } from '../../support/dav-proxy.ts';
import { type Radicale, startRadicale } from '../../support/radicale.ts';
import { calendarScene, monday } from './calendar-scene.ts';

/** For a long series: CALENDAR_WORLDS=200 plays 1,000 nights, CALENDAR_SEED the same ones again. */
const worlds = Number(process.env['CALENDAR_WORLDS'] ?? 3);
const seed = Number(process.env['CALENDAR_SEED'] ?? Date.now() % 1_000_000_000);
const [leads, nights] = [3, 5];
const users = ['anna', 'bert'] as const;
const surfaces = ['service', 'row', ...users] as const;
type Surface = (typeof surfaces)[number];

/** A date that somebody chose, and the one that they saw; each is chosen once. */
interface Choice {
  readonly surface: Surface;
  readonly lead: number;
  readonly from: string;
  readonly to: string;
}

interface Deed {
  readonly surface: Surface;
  readonly lead: number;
}

interface Night {
  readonly deeds: readonly Deed[];
  readonly steps: readonly {
    readonly what: 'pass' | 'carryOut' | 'sync';
    readonly stopped: number | null;
    readonly deeds: readonly Deed[];
  }[];
  readonly fates: readonly Fate[];
}

const deed: fc.Arbitrary<Deed> = fc.record({
  surface: fc.constantFrom(...surfaces),
  lead: fc.nat(leads - 1),
});
const step = fc.record({
  what: fc.constantFrom('pass' as const, 'carryOut' as const, 'sync' as const),
  /** Ms after which a pass is stopped; null: it ends by itself. */
  stopped: fc.option(fc.nat(40), { nil: null }),
  deeds: fc.array(deed, { maxLength: 1 }),
});
const night: fc.Arbitrary<Night> = fc.record({
  deeds: fc.array(deed, { maxLength: 3 }),
  steps: fc.array(step, { maxLength: 5 }),
  fates: fc.array(fc.constantFrom<Fate>('pass', 'pass', 'pass', 'cut', 'lost'), { maxLength: 12 }),
});
const world = fc.array(night, { minLength: nights, maxLength: nights });

/** Of an entry, or of a cell: as the service writes it. */
function instantOf(text: string): string {
  const [, year, month, day, hour, minute] = /(\d{4})-?(\d\d)-?(\d\d)T(\d\d):?(\d\d)/.exec(text) ?? [];
  return `${year}-${month}-${day}T${hour}:${minute}:00.000Z`;
}

const inCalendar = (instant: string): string => instant.replaceAll(/[-:]|\.000/g, '');
const startOf = (text: string): string => instantOf(/^DTSTART:(.*)$/m.exec(text)?.[1] ?? '');

async function play(server: Radicale, plan: readonly Night[]): Promise<void> {
  let fates: Fate[] = [];
  await using proxy = await startDavProxy(server.origin, () => fates.shift() ?? 'pass');
  await using scene = await calendarScene(server, {
    leads,
    users,
    through: (url) => url.replace(server.origin, proxy.origin),
  });
  const { sandbox, sheet } = scene.workspace;
  const ids = sandbox.leads.list().map(({ id }) => id);
  const programs = { anna: await scene.program('anna'), bert: await scene.program('bert') };
  await scene.pass();
  const choices: Choice[] = [];
  const shown = async (surface: Surface, lead: number): Promise<string | null> => {
    if (surface === 'service') return String(scene.due()[lead]);
    if (surface === 'row')
      return instantOf(sheet.rows().find((row) => row['Lead ID'] === ids[lead])?.['Next follow-up'] ?? '');
    const texts = await scene.entries(surface);
    const text = texts.find((one) => one.includes(`Lead ${lead + 1}`));
    return text === undefined ? null : startOf(text);
  };
  const choose = async ({ surface, lead }: Deed): Promise<void> => {
    const from = await shown(surface, lead);
    if (from === null) return;
    const to = new Date(Date.parse(monday) + (choices.length + 1) * 61 * 60_000).toISOString();
    choices.push({ surface, lead, from, to });
    if (surface === 'service') scene.move(to, lead);
    else if (surface === 'row') sheet.edit((row) => row['Lead ID'] === ids[lead], { 'Next follow-up': to });
    else
      await programs[surface].edit(`Lead ${lead + 1}`, (text) =>
        text
          .replace(/^DTSTART:.*\r$/m, `DTSTART:${inCalendar(to)}\r`)
          .replace(/^DTEND:.*\r$/m, `DTEND:${inCalendar(to).replace(/\d\dZ$/, '59Z')}\r`),
      );
  };
  for (const { deeds, steps, fates: planned } of plan) {
    fates = [...planned];
    for (const one of deeds) await choose(one);
    for (const { what, stopped, deeds: meanwhile } of steps) {
      const stop = new AbortController();
      const timer = stopped === null ? undefined : setTimeout(() => stop.abort(), stopped);
      const working =
        what === 'pass'
          ? syncCalendars(scene.app, stop.signal).then(
              () => {},
              () => {},
            )
          : scene[what]();
      for (const one of meanwhile.filter(({ surface }) => surface !== 'row')) await choose(one);
      await working;
      clearTimeout(timer);
    }
  }
  fates = [];
  for (let round = 0; round < 4; round++) {
    await scene.pass();
    await scene.carryOut();
    await scene.sync();
  }
  await scene.pass();
  const { rows: held } = await scene.pool.query<{ leadId: string; values: string }>(
    `select lead_id as "leadId", concat(lead_value, row_value) as values from held where kind = 'conflict'
     union all select lead_id, concat(base, ' ', row_value, ' ', lead_value) from held
       where kind = 'edit' and state in ('conflict', 'failed', 'superseded')`,
  );
  for (const [lead, id] of ids.entries()) {
    const ends = await Promise.all(surfaces.map((surface) => shown(surface, lead)));
    const open = held.filter(({ leadId }) => leadId === id).map(({ values }) => values);
    if (open.length === 0) expect(new Set(ends), 'all show the same date').toEqual(new Set([ends[0]]));
    const mine = choices.filter((one) => one.lead === lead);
    const chain = new Set<string>();
    for (
      let at = ends[0] ?? '';
      at !== '' && !chain.has(at);
      at = mine.find(({ to }) => to === at)?.from ?? ''
    )
      chain.add(at);
    for (const { surface, from, to } of mine) {
      const isOverwritten = mine.some((one) => one.surface === surface && one.from === to);
      const isKept = chain.has(to) || isOverwritten || open.some((values) => values.includes(to));
      expect(
        isKept,
        `${to}, chosen over ${from} by ${surface}, of lead ${lead}: ${JSON.stringify({ ends, open, mine })}`,
      ).toBe(true);
    }
  }
}

describe('people move follow-ups in two calendars, the table and the service', { tags: 'radicale' }, () => {
  let server: Radicale;
  beforeAll(async () => {
    server = await startRadicale();
  });
  afterAll(() => server[Symbol.asyncDispose]());

  test('no date is lost: it counts, a later one was chosen over it, or it is a conflict', {
    timeout: 3_600_000,
  }, async () => {
    await fc.assert(
      fc.asyncProperty(world, (plan) => play(server, plan)),
      { numRuns: worlds, seed, endOnFailure: true },
    );
  });
});
