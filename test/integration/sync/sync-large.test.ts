import { expect, test } from 'vitest';
import { until } from '../../support/until.ts';
import { Workspace } from '../../support/workspace.ts';

test('a large run tells the planner that there are many new pairs', async () => {
  await using workspace = await Workspace.open({ sandbox: { leads: 5_000, maxLimit: 1_000 } });
  workspace.configure({ leads: { pageSize: 1_000 } });
  const analyzed = async (): Promise<unknown> => {
    const { rows } = await workspace.database.pool.query<{ times: number }>(
      `select sum(analyze_count)::int as times from pg_stat_user_tables where relname = 'pairs'`,
    );
    return rows[0]?.times;
  };
  expect(await workspace.sync()).toMatchObject({ status: 'succeeded', created: { rows: 5_000 } });
  // The count arrives a moment later.
  await until('the pairs were analyzed', async () => (await analyzed()) === 1);
});
