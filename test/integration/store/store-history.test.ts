import { expect, test } from 'vitest';
import { recordHistory, writesOf } from '../../../src/store/history.ts';
import { useScenes } from './store-scene.ts';

const scene = useScenes();

test('a write of unknown fate keeps its line when a later action of the same run writes the field again', async () => {
  const here = scene();
  const { pool, connection } = here;
  const run = await here.run();
  const change = (from: string, to: string) => ({ stage: { from, to, rule: 'target-wins' as const } });
  const told = async () =>
    (await writesOf(pool, connection, 'lead-1')).map(({ lead, written }) => [lead, written]);

  const [one = 0, two = 0] = await here.actions(run, 2);
  const first = { actionId: one, leadId: 'lead-1' };
  await recordHistory(pool, [{ ...first, changes: change('typed in the service', 'row 1') }]);
  const second = { ...first, actionId: two };
  await recordHistory(pool, [{ ...second, changes: change('row 1', 'row 2') }]);
  expect(await told()).toEqual([
    ['row 1', 'row 2'],
    ['typed in the service', 'row 1'],
  ]);

  await recordHistory(pool, [
    { ...second, changes: change('row 1', 'row 2, as stored') },
    { ...first, changes: {} },
  ]);
  expect(await told()).toEqual([['row 1', 'row 2, as stored']]);
});
