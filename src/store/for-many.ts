import type { Queryable } from './database.ts';

interface Asked {
  readonly of: string;
  readonly answer: PromiseWithResolvers<{ readonly rows: readonly object[] }>;
}

interface Question {
  readonly text: string;
  readonly rest: readonly unknown[];
  readonly asked: Asked[];
}

/**
 * Makes one query of those that differ only in their first value, a text, and are asked in the same turn: a page about 200
 * connections asks for each as if it were alone. Selects only.
 */
export function forMany(db: Queryable): Queryable {
  const open = new Map<string, Question>();
  const ask = async ({ text, rest, asked }: Question): Promise<void> => {
    const each = `select of_each.nth as "of nth", one.* from unnest($1::text[]) with ordinality of_each (value, nth)
      cross join lateral (select row_number() over () as "row nth", own.* from (${text.replaceAll(/\$1(?!\d)/g, 'of_each.value')}) own) one
      order by 1, 2`;
    try {
      const { rows } = await db.query<Record<string, unknown>>(each, [asked.map(({ of }) => of), ...rest]);
      const byNth = Map.groupBy(rows, (row) => Number(row['of nth']));
      for (const [index, { answer }] of asked.entries()) {
        const own = byNth.get(index + 1) ?? [];
        answer.resolve({ rows: own.map(({ 'of nth': _of, 'row nth': _row, ...row }) => row) });
      }
    } catch (error) {
      for (const { answer } of asked) answer.reject(error);
    }
  };
  const query = (
    text: string,
    values: readonly unknown[] = [],
  ): Promise<{ readonly rows: readonly object[] }> => {
    const [of, ...rest] = values;
    if (typeof of !== 'string') return db.query<object>(text, [...values]);
    const key = JSON.stringify([text, rest]);
    let question = open.get(key);
    if (question === undefined) {
      const made: Question = { text, rest, asked: [] };
      question = made;
      open.set(key, made);
      setImmediate(() => {
        open.delete(key);
        void ask(made);
      });
    }
    const answer = Promise.withResolvers<{ readonly rows: readonly object[] }>();
    question.asked.push({ of, answer });
    return answer.promise;
  };
  // Of the forms in which pg takes a query, the store uses this one.
  return { query } as unknown as Queryable;
}
