import { expect, test } from 'vitest';
import { Secret } from '../../src/config/secret.ts';
import { LeadsyncError } from '../../src/lib/errors.ts';
import type { RowChange } from '../../src/ports/target.ts';
import { until } from '../support/until.ts';
import {
  type PostgresTableHarness,
  makePostgresTableHarness,
  outcomesOf,
  targetOf,
  withTable,
} from './postgres-table-harness.ts';
import { append, link, never, readAll, remove, update, verdict } from './target-harness.ts';

test('numbers rows from 1 in the order of the primary key, empty ones too, and of the ids without one', () =>
  withTable(
    `create table leads (lead_id text, name text, size text, due text, n int primary key);
     insert into leads values ('b', 'Bert', null, null, 1), (null, null, null, null, 2), ('a', 'Anna', null, null, 3)`,
    async (harness) => {
      const shown = async () => (await readAll(targetOf(harness))).map(({ row, leadId }) => [row, leadId]);
      expect(await shown()).toEqual([
        [1, 'b'],
        [3, 'a'],
      ]);
      await harness.query('alter table leads drop column n');
      expect(await shown()).toEqual([
        [1, 'a'],
        [2, 'b'],
      ]);
    },
  ));

test('takes no view for a table', () =>
  withTable(`create view leads as select 'a' as lead_id, 'Anna' as name`, async (harness) => {
    const opened = targetOf(harness).open({ create: false }, never());
    await expect(opened).rejects.toMatchObject({ code: 'target.unreadable', retry: 'never' });
  }));

test('waits for whoever is at work in a row, and sees what he wrote', () =>
  withTable(
    `create table leads (lead_id text, name text, size text, due text); insert into leads values ('a', 'Anna', null, null), (null, 'Loose', null, null)`,
    async (harness) => {
      await harness.query('begin');
      await harness.query(`update leads set size = '5', name = name || '!'`);
      const writing = outcomesOf(harness, [
        update('a', { name: 'Anna' }, { name: 'Anne' }),
        update('a', { name: 'Anna!' }, { due: '2026-11-21T08:30:00.000Z' }),
        link('n', { name: 'Loose', size: null, due: null }),
        link('m', { name: 'Loose!', size: '5', due: null }),
      ]);
      await until('the write waits', async () => {
        const waiting = await harness.query(
          `select 1 from pg_locks where not granted and pg_backend_pid() = any(pg_blocking_pids(pid))`,
        );
        return waiting.length > 0;
      });
      await harness.query('commit');
      expect(await writing).toEqual(['row.changed', 'done', 'row.changed', 'done']);
      expect(await harness.query('select * from leads order by 1')).toEqual([
        ['a', 'Anna!', '5', '2026-11-21T08:30:00.000Z'],
        ['m', 'Loose!', '5', null],
      ]);
    },
  ));

test('adds a row once, though several writers at once are told to', () =>
  withTable('create table leads (lead_id text, name text, size text, due text)', async (harness) => {
    const writers = Array.from({ length: 8 }, () => outcomesOf(harness, [append('a', { name: 'Anna' })]));
    expect(new Set((await Promise.all(writers)).flat())).toEqual(new Set(['done']));
    expect(await harness.query('select lead_id, name from leads')).toEqual([['a', 'Anna']]);
  }));

test('makes the table in its schema, with dates as timestamptz', () =>
  withTable('create schema "Sales team"', async (harness) => {
    const target = targetOf(harness, { table: 'Sales team.open "leads"', statusColumn: 'sync' });
    expect(await target.open({ create: true }, never())).toMatchObject({ created: true });
    expect(
      await target.write([append('a', { due: '2026-11-21T08:30:00.000Z' }, 'in step')], never()),
    ).toMatchObject([{ status: 'done' }]);
    expect(
      await harness.query(`select pg_typeof(due)::text, sync from "Sales team"."open ""leads"""`),
    ).toEqual([['timestamp with time zone', 'in step']]);
  }));

test.each([
  [
    'target.not-found',
    'never',
    (target: typeof targetOf, harness: PostgresTableHarness) =>
      target(harness).write([append('a', {})], never()),
  ],
  [
    'target.not-found',
    'never',
    (target: typeof targetOf, harness: PostgresTableHarness) =>
      target(harness, { table: 'nowhere.leads' }).open({ create: true }, never()),
  ],
  [
    'target.not-found',
    'never',
    (target: typeof targetOf, harness: PostgresTableHarness) =>
      target(harness, { url: new Secret(`${harness.url}_gone`) }).open({ create: true }, never()),
  ],
  [
    'target.bad-url',
    'never',
    (target: typeof targetOf, harness: PostgresTableHarness) =>
      target(harness, { url: new Secret(`${harness.url}?sslrootcert=/nowhere`) }).open(
        { create: true },
        never(),
      ),
  ],
  [
    'target.unavailable',
    'later',
    (target: typeof targetOf, harness: PostgresTableHarness) =>
      target(harness, { url: new Secret('postgres://nobody@127.0.0.1:1/x') }).open({ create: true }, never()),
  ],
] as const)('a fault is %s, %s', async (code, retry, act) => {
  await using harness = await makePostgresTableHarness();
  await expect(act(targetOf, harness)).rejects.toMatchObject({ code, retry });
});

test('a missing right is named, and the password never', () =>
  withTable('create table leads (lead_id text, name text, size text, due text)', async (harness) => {
    const role = `reader_${Date.now()}`;
    await harness.query(`create role ${role} login password 'hush-hush'`);
    await harness.query(`grant select on leads to ${role}`);
    const url = new URL(harness.url);
    url.username = role;
    url.password = 'hush-hush';
    const reader = targetOf(harness, { url: new Secret(url.href) });
    expect(await readAll(reader)).toEqual([]);
    const failed = await reader.write([append('a', {})], never()).catch((error: unknown) => error);
    await harness.query(`drop owned by ${role}; drop role ${role}`);
    expect(failed).toMatchObject({ code: 'target.forbidden', retry: 'never' });
    expect(failed).toBeInstanceOf(LeadsyncError);
    expect(JSON.stringify(failed)).not.toContain('hush');
  }));

test('a table that it makes has a primary key of its own, without which other programs do not edit it', () =>
  withTable('select', async (harness) => {
    const target = targetOf(harness);
    await target.open({ create: true }, never());
    await target.write([append('b', { name: 'Bert' }), append('a', { name: 'Anna' })], never());
    const key = await harness.query(
      `select a.attname::text from pg_index i join pg_attribute a on a.attrelid = i.indrelid and a.attnum = any(i.indkey)
       where i.indrelid = 'leads'::regclass and i.indisprimary`,
    );
    expect(key).toEqual([['id']]);
    expect((await readAll(targetOf(harness))).map(({ leadId }) => leadId)).toEqual(['b', 'a']);
  }));

test('a primary key does not take the name of a mapped column', () =>
  withTable('select', async (harness) => {
    await targetOf(harness, { idColumn: 'id' }).open({ create: true }, never());
    const columns = await harness.query(
      `select attname::text from pg_attribute where attrelid = 'leads'::regclass and attnum > 0 order by attnum`,
    );
    expect(columns.flat()).toEqual(['row_id', 'id', 'name', 'size', 'due']);
  }));

test('500 rows are written in a few statements, and one that is refused costs a few more', () =>
  withTable(
    `create table leads (n serial primary key, lead_id text unique, name varchar(9), size text, due timestamptz)`,
    async (harness) => {
      const target = targetOf(harness);
      const ids = Array.from({ length: 500 }, (_, n) => `lead ${n}`);
      const countOf = async (changes: readonly RowChange[]) => {
        const before = target.requests;
        const verdicts = (await target.write(changes, never())).map(verdict);
        return { requests: target.requests - before, verdicts };
      };
      const made = await countOf(ids.map((id, n) => append(id, { name: `n ${n}`, due: null })));
      expect(new Set(made.verdicts)).toEqual(new Set(['done']));
      expect(made.requests).toBeLessThan(15);
      const edited = await countOf(
        ids.map((id, n) => update(id, { name: `n ${n}` }, { name: n === 333 ? 'far too long' : `m ${n}` })),
      );
      expect(edited.verdicts.flatMap((one, n) => (one === 'done' ? [] : [[n, one]]))).toEqual([
        [333, 'target.value-not-storable'],
      ]);
      expect(edited.requests).toBeLessThan(100);
      expect(await harness.query(`select count(*)::int from leads where name like 'm %'`)).toEqual([[499]]);
      expect(await harness.query(`select name from leads where lead_id = 'lead 333'`)).toEqual([['n 333']]);
      const removed = await countOf(ids.map((id) => remove(id, {})));
      expect(removed.requests).toBeLessThan(15);
      expect(await harness.query('select count(*)::int from leads')).toEqual([[0]]);
    },
  ));
