import { expect, test } from 'vitest';
import { columnOf, firstOf, rowsOf, valueOf } from '../../../src/store/database.ts';
import { forMany } from '../../../src/store/for-many.ts';
import { createTestDatabase } from '../../support/database.ts';

test('what is asked for many in one turn is one query, and each gets its own rows in their order', async () => {
  const database = await createTestDatabase();
  await using stack = new AsyncDisposableStack();
  stack.defer(() => database.drop());
  const { pool } = database;
  const asked: string[] = [];
  const watched = {
    query: (text: string, values: unknown[]) => {
      asked.push(text);
      return pool.query(text, values);
    },
  } as unknown as typeof pool;
  const many = forMany(watched);
  const names = ['berlin', 'paris', 'none', 'berlin'];
  const text = `select n, $1 || n as name from generate_series(1, case when $1 = 'none' then 0 else $2::int end) n order by n desc`;
  const rows = names.map((name) => rowsOf(many, text, [name, 12]));
  const expected = await Promise.all(names.map((name) => rowsOf(pool, text, [name, 12])));
  expect(await Promise.all(rows)).toEqual(expected);
  expect(expected[0]).toHaveLength(12);
  expect(asked).toHaveLength(1);

  // Others at once are their own queries; a column and a value are as they are for one.
  const two = await Promise.all([
    columnOf(many, 'select n from generate_series(1, 2) n where $1 <> $2 order by 1', ['a', 'b']),
    valueOf(many, `select upper($1)`, ['berlin']),
    valueOf(many, `select upper($1)`, ['paris']),
    firstOf(many, 'select 1 as one where $1 = $2', ['a', 'b']),
  ]);
  expect(two).toEqual([[1, 2], 'BERLIN', 'PARIS', null]);
  expect(asked).toHaveLength(4);
  const failing = ['1', 'x'].map((name) => valueOf(many, 'select $1::text::int', [name]));
  for (const one of failing) await expect(one).rejects.toMatchObject({ code: '22P02' });
});
