import { expect, test } from 'vitest';
import { until } from '../support/until.ts';
import { outcomesOf, targetOf, withTable } from './postgres-table-harness.ts';
import { append, never, readAll, remove, update } from './target-harness.ts';

test('a table that others inherit from is refused: a place would be in each of them', () =>
  withTable(
    `create table leads (lead_id text, name text); create table old_leads () inherits (leads);
     insert into leads values ('a', 'Anna'); insert into old_leads values ('b', 'Bert')`,
    async (harness) => {
      const refusal = { code: 'target.unreadable', retry: 'never' };
      await expect(readAll(targetOf(harness))).rejects.toMatchObject(refusal);
      await expect(
        targetOf(harness).write([update('a', {}, { name: 'New' })], never()),
      ).rejects.toMatchObject(refusal);
      expect(await harness.query('select name from leads')).toEqual([['Anna'], ['Bert']]);
    },
  ));

test.each(['cascade', 'set null', 'set default'])(
  'a row whose deletion would reach into other tables (%s) is emptied',
  (action) =>
    withTable(
      `create table leads (n int primary key, lead_id text, name text); insert into leads values (1, 'a', 'Anna');
       create table notes (lead int default 1 references leads on delete ${action}, note text); insert into notes values (1, 'call back')`,
      async (harness) => {
        expect(await outcomesOf(harness, [remove('a', {}, true)])).toEqual(['row.has-own-cells']);
        expect(await outcomesOf(harness, [remove('a', {})])).toEqual(['done']);
        expect(await harness.query('select * from notes')).toEqual([[1, 'call back']]);
        expect(await harness.query('select * from leads')).toEqual([[1, null, null]]);
      },
    ),
);

test('moments without a zone are read the same whatever form the database shows them in', () =>
  withTable(
    `create table leads (lead_id text, name text, size text, due timestamp);
     insert into leads values ('a', null, null, '2026-03-04 10:00')`,
    async (harness) => {
      const [[database = ''] = []] = await harness.query('select current_database()');
      await harness.query(`alter database ${database} set datestyle = 'SQL, DMY'`);
      expect(await readAll(targetOf(harness))).toMatchObject([
        { cells: { due: '2026-03-04T09:00:00.000Z' } },
      ]);
    },
  ));

test('a statement that does not end is given up when it is to stop', () =>
  withTable(
    `create table leads (lead_id text, name text);
     create function wait() returns trigger language plpgsql as 'begin perform pg_sleep(60); return new; end';
     create trigger waits before insert on leads for each row execute function wait()`,
    async (harness) => {
      const stop = new AbortController();
      const reason = new Error('enough');
      const writing = targetOf(harness).write([append('a', {})], stop.signal);
      await until('the trigger to wait', async () => {
        const waiting = `select 1 from pg_stat_activity where datname = current_database() and wait_event = 'PgSleep'`;
        return (await harness.query(waiting)).length > 0;
      });
      stop.abort(reason);
      await expect(writing).rejects.toBe(reason);
    },
  ));
