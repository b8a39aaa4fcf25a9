import { expect, test } from 'vitest';
import { Secret } from '../../src/config/secret.ts';
import { LeadsyncError } from '../../src/errors.ts';
import type { RowChange } from '../../src/ports/target.ts';
import {
  createPostgresTableTarget,
  type PostgresTableOptions,
} from '../../src/targets/postgres/postgres-table-target.ts';
import { until } from '../support/until.ts';
import { makePostgresTableHarness, type PostgresTableHarness } from './postgres-table-harness.ts';
import { append, link, never, readAll, remove, update, verdict } from './target-harness.ts';

const fields: PostgresTableOptions['fields'] = [
  { field: 'name', column: 'name', type: 'text', direction: 'two-way' },
  { field: 'size', column: 'size', type: 'text', direction: 'two-way' },
  { field: 'due', column: 'due', type: 'instant', direction: 'two-way' },
];

function targetOf({ url }: PostgresTableHarness, changed: Partial<PostgresTableOptions> = {}) {
  const usual = {
    url: new Secret(url),
    table: 'leads',
    fields,
    idColumn: 'lead_id',
    timeZone: 'Europe/Berlin',
    isZoneSet: true,
  };
  return createPostgresTableTarget({ ...usual, ...changed });
}

async function withTable(sql: string, body: (harness: PostgresTableHarness) => Promise<void>) {
  await using harness = await makePostgresTableHarness();
  await harness.query(sql);
  await body(harness);
}

const outcomesOf = async (harness: PostgresTableHarness, changes: readonly RowChange[]) =>
  (await targetOf(harness).write(changes, never())).map(verdict);

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

test('holds what a column refuses or alters, and writes the other changes', () =>
  withTable(
    `create table leads (lead_id text unique, name varchar(5) not null default '', size int check (size < 100), due timestamptz,
       unique (size) deferrable initially deferred);
     create function shout() returns trigger language plpgsql as
       $$ begin if new.name = 'loud' then new.name := 'LOUD'; end if; return new; end $$;
     create trigger shout before insert or update on leads for each row execute function shout();
     insert into leads values ('a', 'Anna', 5, null), ('z', 'Zoe', 9, null)`,
    async (harness) => {
      const to = (values: Record<string, string | null>) => update('a', {}, values);
      const held = 'target.value-not-storable';
      expect(
        await outcomesOf(harness, [
          to({ name: 'too long' }),
          to({ size: 'many' }),
          to({ size: '100' }),
          to({ size: '007' }),
          to({ size: '9' }),
          to({ name: 'loud' }),
          to({ due: '+012345-01-01T00:00:00.000Z' }),
          append('n', { name: 'too long' }),
          to({ name: null, size: '7', due: '2026-11-21T08:30:00.123Z' }),
          append('m', { name: 'More' }),
        ]),
      ).toEqual([held, held, held, held, held, held, held, held, 'done', 'done']);
      expect(await targetOf(harness).write([to({ name: 'too long' })], never())).toMatchObject([
        { message: expect.stringContaining('character varying(5)') },
      ]);
      expect(
        await harness.query(
          `select lead_id, name, size, due = '2026-11-21 08:30:00.123Z' from leads order by 1`,
        ),
      ).toEqual([
        ['a', '', 7, true],
        ['m', 'More', null, null],
        ['z', 'Zoe', 9, null],
      ]);
    },
  ));

test('reads other types of dates in the zone, and writes only what they give back', () =>
  withTable(
    `create table leads (lead_id text, name text, size text, due date); insert into leads values ('a', 'Anna', '', '2026-11-21')`,
    async (harness) => {
      expect((await readAll(targetOf(harness)))[0]?.cells['due']).toBe('2026-11-20T23:00:00.000Z');
      expect(
        await outcomesOf(harness, [
          update('a', {}, { due: '2026-11-20T23:00:00.000Z' }),
          update('a', {}, { due: '2026-11-21T08:30:00.000Z' }),
        ]),
      ).toEqual(['done', 'target.value-not-storable']);
    },
  ));

test('counts as own what a person filled, not what the database fills itself', () =>
  withTable(
    `create table leads (lead_id text, name text, size text, due text, id serial primary key, made timestamptz default now(),
       twice text generated always as (name || name) stored, kind text default 'new', note text,
       made_on timestamp default timezone('utc', now()), code text default upper('x'));
     alter table leads alter made_on set not null;
     insert into leads (lead_id, name, code) values ('a', 'Anna', null), ('b', 'Bert', null), ('c', 'Cleo', null), ('d', 'Dora', 'X');
     update leads set kind = 'old' where lead_id = 'b'; update leads set note = 'mine' where lead_id = 'c'`,
    async (harness) => {
      expect(
        await outcomesOf(
          harness,
          ['a', 'b', 'c', 'd'].map((id) => remove(id, {}, true)),
        ),
      ).toEqual(['done', 'row.has-own-cells', 'row.has-own-cells', 'row.has-own-cells']);
      expect(await outcomesOf(harness, [remove('c', {})])).toEqual(['done']);
      expect(await harness.query('select lead_id, name, note from leads order by id')).toEqual([
        ['b', 'Bert', null],
        [null, null, 'mine'],
        ['d', 'Dora', null],
      ]);
    },
  ));

test('takes no view for a table', () =>
  withTable(`create view leads as select 'a' as lead_id, 'Anna' as name`, async (harness) => {
    const opened = targetOf(harness).open({ create: false }, never());
    await expect(opened).rejects.toMatchObject({ code: 'target.unreadable', retry: 'never' });
  }));

test('names columns that are not ours to write', () =>
  withTable(
    `create table leads (lead_id text, name text, size text generated always as (name || '!') stored, due text)`,
    async (harness) => {
      expect(await targetOf(harness).open({ create: true }, never())).toMatchObject({ closed: ['size'] });
      expect(await outcomesOf(harness, [append('a', { name: 'Anna', size: 'x' })])).toEqual([
        'target.value-not-storable',
      ]);
    },
  ));

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

test('a timestamp without time zone is read and written in one zone, and left out until that is said', () =>
  withTable(
    `create table leads (lead_id text, name text, size text, due timestamp); insert into leads values ('a', 'Anna', null, '2026-07-01 09:30')`,
    async (harness) => {
      for (const [timeZone, shown, written] of [
        ['UTC', '2026-07-01T09:30:00.000Z', '2026-12-24 08:00:00'],
        ['Europe/Berlin', '2026-07-01T07:30:00.000Z', '2026-12-24 09:00:00'],
      ] as const) {
        await harness.query(`update leads set due = '2026-07-01 09:30'`);
        expect((await readAll(targetOf(harness, { timeZone })))[0]?.cells['due']).toBe(shown);
        const changes = [update('a', {}, { due: '2026-12-24T08:00:00.000Z' })];
        expect((await targetOf(harness, { timeZone }).write(changes, never())).map(verdict)).toEqual([
          'done',
        ]);
        expect(await harness.query('select due::text from leads')).toEqual([[written]]);
      }
      const unsaid = targetOf(harness, { isZoneSet: false });
      expect(await unsaid.open({ create: true }, never())).toMatchObject({
        missing: [{ field: 'due', message: expect.stringContaining('target.timeZone') }],
      });
      expect(await readAll(unsaid)).toMatchObject([{ cells: { name: 'Anna', size: null } }]);
      const changes = [update('a', {}, { due: '2026-01-01T00:00:00.000Z' })];
      expect((await unsaid.write(changes, never())).map(verdict)).toEqual(['target.column-missing']);
      expect(await harness.query('select due::text from leads')).toEqual([['2026-12-24 09:00:00']]);
    },
  ));

test('names columns whose type does not keep what is mapped to them', () =>
  withTable(
    `create type mood as enum ('new', 'won');
     create table leads (lead_id int, name varchar(40), size int, due date, stage mood)`,
    async (harness) => {
      const { unsuited } = await targetOf(harness).open({ create: true }, never());
      expect(unsuited).toEqual([
        expect.stringContaining('"lead_id" is integer'),
        expect.stringContaining('"size" is integer'),
        expect.stringContaining('"due" is date'),
      ]);
      await harness.query('drop table leads');
      expect(await targetOf(harness).open({ create: true }, never())).toMatchObject({ unsuited: [] });
    },
  ));

test('a field that never had a column gets one, and stays missing where that is not allowed', () =>
  withTable(
    `create table leads (lead_id text, name text, size text); insert into leads values ('a', 'Anna', '1')`,
    async (harness) => {
      const role = `maker_${Date.now()}`;
      await harness.query(`create role ${role} login password 'hush'; grant all on leads to ${role}`);
      const url = new URL(harness.url);
      [url.username, url.password] = [role, 'hush'];
      const newFields = ['due'];
      const asked = (create: boolean, target = targetOf(harness)) =>
        target.open({ create, newFields }, never());
      expect(await asked(true, targetOf(harness, { url: new Secret(url.href) }))).toMatchObject({
        missing: [{ field: 'due' }],
      });
      await harness.query(`drop owned by ${role}; drop role ${role}`);
      expect(await asked(false)).toMatchObject({ missing: [{ field: 'due' }] });
      expect(await asked(true)).toMatchObject({ missing: [] });
      expect(await harness.query(`select pg_typeof(due)::text, name from leads`)).toEqual([
        ['timestamp with time zone', 'Anna'],
      ]);
      await harness.query('alter table leads rename size to breadth');
      expect(await asked(true)).toMatchObject({ missing: [{ field: 'size' }] });
    },
  ));

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

test('a column of type uuid, and ids that a service spells in capitals: one row', () =>
  withTable(
    'create table leads (lead_id uuid primary key, name text, size text, due text)',
    async (harness) => {
      const id = '018C2F3A-0000-7000-8000-00000000ABCD';
      expect(await outcomesOf(harness, [append(id, { name: 'Anna' })])).toEqual(['done']);
      expect(await outcomesOf(harness, [append(id, { name: 'Anna' })])).toEqual(['done']);
      expect(await outcomesOf(harness, [update(id, { name: 'Anna' }, { name: 'Anne' })])).toEqual(['done']);
      const rows = await readAll(targetOf(harness));
      expect(rows.map(({ leadId, cells }) => [leadId, cells['name']])).toEqual([[id.toLowerCase(), 'Anne']]);
    },
  ));
