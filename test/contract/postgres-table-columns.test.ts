import { expect, test } from 'vitest';
import { Secret } from '../../src/config/secret.ts';
import { outcomesOf, targetOf, withTable } from './postgres-table-harness.ts';
import { append, never, readAll, remove, update, verdict } from './target-harness.ts';

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

test('writes a day into a column of texts as the day that it is, and a moment as one', () =>
  withTable(
    `create table leads (lead_id text, name text, size text, due varchar(30)); insert into leads values ('a', 'Anna', '', '')`,
    async (harness) => {
      const due = '2026-11-20T23:00:00.000Z';
      const shown = () => harness.query('select due from leads');
      expect(await outcomesOf(harness, [update('a', {}, { due })])).toEqual(['done']);
      expect(await shown()).toEqual([['2026-11-21']]);
      expect((await readAll(targetOf(harness)))[0]?.cells['due']).toBe(due);
      const moment = '2026-11-21T08:30:00.000Z';
      expect(await outcomesOf(harness, [update('a', {}, { due: moment })])).toEqual(['done']);
      expect(await shown()).toEqual([[moment]]);
      expect(await outcomesOf(harness, [update('a', {}, { due: null })])).toEqual(['done']);
      expect(await shown()).toEqual([[null]]);
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
          update('a', {}, { due: '2026-11-24T23:00:00.000Z' }),
        ]),
      ).toEqual(['done', 'target.value-not-storable', 'done']);
      expect(await harness.query('select due::text from leads')).toEqual([['2026-11-25']]);
      // A day that begins at 01:00.
      const cairo = targetOf(harness, { timeZone: 'Africa/Cairo' });
      await cairo.write([update('a', {}, { due: '2026-04-23T22:00:00.000Z' })], never());
      expect(await harness.query('select due::text from leads')).toEqual([['2026-04-24']]);
      expect((await readAll(cairo))[0]?.cells['due']).toBe('2026-04-23T22:00:00.000Z');
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

test("what other programs fill themselves in a row is nobody's own, a text of that name is", () =>
  withTable(
    `create table leads (lead_id text, name text, id serial primary key, size text, due text, created_at timestamp, updated_at timestamp,
       created_by varchar, updated_by varchar, nc_order numeric, date_updated timestamptz, user_updated uuid, sort int, modified text);
     insert into leads (lead_id, created_at, updated_by, nc_order) values ('a', now(), 'usr1', 7);
     insert into leads (lead_id, date_updated, user_updated, sort) values ('b', now(), gen_random_uuid(), 3);
     insert into leads (lead_id, modified) values ('c', 'by hand')`,
    async (harness) => {
      const removals = ['a', 'b', 'c'].map((id) => remove(id, {}, true));
      expect(await outcomesOf(harness, removals)).toEqual(['done', 'done', 'row.has-own-cells']);
      expect(await harness.query('select lead_id from leads')).toEqual([['c']]);
    },
  ));

test('a table without a primary key is hinted at', () =>
  withTable('create table leads (lead_id text unique, name text, size text, due text)', async (harness) => {
    const open = () => targetOf(harness).open({ create: true }, never());
    expect(await open()).toMatchObject({ hint: expect.stringContaining('primary key') });
    await harness.query(
      'alter table leads add column id bigint generated by default as identity primary key',
    );
    expect(await open()).not.toHaveProperty('hint');
    await harness.query('drop table leads');
    expect(await open()).not.toHaveProperty('hint');
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
      await harness.query(
        'drop table leads; create table leads (lead_id text primary key, name numeric, size numeric(12, 2))',
      );
      expect(await targetOf(harness).open({ create: true }, never())).toMatchObject({
        unsuited: [
          expect.stringContaining('"name" is numeric: it cannot hold other texts'),
          expect.stringContaining(
            '"size" is numeric(12,2): it shows numbers with that number of digits only',
          ),
        ],
      });
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
