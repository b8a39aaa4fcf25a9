import { expect, test } from 'vitest';
import { createRandom, type Random } from '../../../src/demo/random.ts';
import { many } from '../../many/figures.ts';
import { Workspace } from '../../support/workspace.ts';

const words = ['new', 'contacted', 'offer', 'won', 'lost'];
const columns = ['City', 'Stage', 'Region'] as const;

/** A hundred with MANY=1. */
const nights = Math.max(30, many(100));

test('ordinary nights with people who tidy up: no run stops for an older copy', async () => {
  await using here = await Workspace.open({ sandbox: { leads: 40 } });
  const random = createRandom(20_261_122, 'nights');
  const { leads } = here.sandbox;
  await here.sync();
  /** What each cell has shown, by `id column`. */
  const shown = new Map<string, string[]>();
  const note = (): void => {
    for (const row of here.sheet.rows())
      for (const column of columns) {
        const key = `${row['Lead ID']} ${column}`;
        const [value, values] = [row[column] ?? '', shown.get(key) ?? []];
        if (values.at(-1) !== value) shown.set(key, [...values, value]);
      }
  };
  note();
  let held = 0;
  let fresh: string[] = [];
  for (let night = 0; night < nights; night++) {
    for (let nth = 1 + random.below(4); nth > 0; nth--) {
      const field = random.pick(['city', 'stage', 'region'] as const);
      const value = field === 'stage' ? anyOf(random, words) : `${field} ${night} ${nth}`;
      leads.edit(anyOf(random, leads.list()).id, { [field]: value });
    }
    for (let nth = 1 + random.below(4); nth > 0; nth--) {
      const { 'Lead ID': id } = anyOf(random, here.sheet.rows());
      const column = random.pick(columns);
      const value = column === 'Stage' ? anyOf(random, words) : `typed ${night} ${nth}`;
      here.sheet.edit((row) => row['Lead ID'] === id, { [column]: value });
    }
    // One to four values are set back to what was there before, on most days.
    const changed = [...shown].filter(([, values]) => values.length > 1);
    for (let nth = random.below(5); nth > 0 && changed.length > 20; nth--) {
      const [key, values] = anyOf(random, changed);
      const [id = '', column = ''] = key.split(' ');
      if (here.sheet.rows().some((row) => row['Lead ID'] === id))
        here.sheet.edit((row) => row['Lead ID'] === id, { [column]: values.at(-2) ?? '' });
    }
    if (night % 5 === 0) {
      here.sheet.remove((row) => fresh.includes(row['Lead ID'] ?? ''));
      const [head = [], ...rows] = here.sheet.grid();
      here.sheet.write([head, ...rows.toSorted(([, a = ''], [, b = '']) => a.localeCompare(b))]);
    }
    fresh = night % 4 === 0 ? [leads.add({ companyName: `Company ${night}`, stage: 'new' }).id] : [];
    const report = await here.sync();
    expect(report.status, JSON.stringify(report.problems)).not.toBe('stopped');
    held = Math.max(held, report.problems.filter(({ code }) => code.endsWith('.put-back')).length);
    note();
  }
  expect(held).toBeLessThanOrEqual(6);
});

function anyOf<T>(random: Random, items: readonly T[]): T {
  const item = items[random.below(items.length)];
  if (item === undefined) throw new Error('there is none');
  return item;
}

test('a filter that hides leads is no older service, also when a lead goes back to an earlier stage', async () => {
  await using here = await Workspace.open({ sandbox: { leads: 0 } });
  const { leads } = here.sandbox;
  const show = (query: object): void => here.configure({ leads: { query } });
  const { id } = leads.add({ companyName: 'Acme', stage: 'open' });
  await here.sync();
  for (let nth = 0; nth < 6; nth++) leads.add({ companyName: `Company ${nth}`, stage: `stage ${nth}` });
  leads.edit(id, { stage: 'won' });
  expect(await here.sync()).toMatchObject({ status: 'succeeded', created: { rows: 6 } });
  leads.edit(id, { stage: 'open' });
  show({ stage: 'open' });
  expect(await here.sync()).toMatchObject({ status: 'succeeded', updated: { rows: 1 } });
  show({});
  expect(await here.sync()).toMatchObject({ status: 'succeeded', created: { leads: 0, rows: 0 } });
});
