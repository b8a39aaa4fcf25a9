import { expect, test } from 'vitest';
import { createWriteJournal } from '../../../src/store/connections.ts';
import { packNote, unpackNote } from '../../../src/targets/google-sheets/unsettled-write.ts';
import { useScenes } from './store-scene.ts';

const scene = useScenes();

test('what is being written is known to the next process of that connection alone, until it is over', async () => {
  const { pool, connection } = scene();
  const note = {
    target: 'google-sheets:1/Leads',
    ground: {
      sheetId: 7,
      grid: [
        ['Lead ID', 'Company'],
        ['id-1', { formula: '=A1', shows: 'N1' }],
        [null, 4.5, true],
      ],
      own: { id: 0, owned: new Set([0, 1]) },
    },
    rows: [
      { row: 1, isNew: false, leadId: 'id-1', cells: new Map([[1, 'Ünal']]) },
      {
        row: 3,
        isNew: true,
        leadId: 'id-2',
        cells: new Map([
          [0, 'id-2'],
          [1, null],
        ]),
      },
    ],
  };
  const id = await createWriteJournal(pool, connection).keep(await packNote(note));

  const next = createWriteJournal(pool, connection);
  const [kept] = await next.kept();
  expect(kept?.id).toBe(id);
  expect(await unpackNote(kept?.note ?? new Uint8Array())).toEqual(note);
  expect(await createWriteJournal(pool, `${connection}-other`).kept()).toEqual([]);
  await next.over(id);
  expect(await next.kept()).toEqual([]);
});
