import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { actionKinds } from '../../src/core/merge/action.ts';
import { actionStates } from '../../src/store/actions.ts';
import { reminderStates } from '../../src/store/mails.ts';
import { matchStates } from '../../src/store/held.ts';
import { editStates } from '../../src/store/requested-edits.ts';
import { phases, runModes, runStatuses } from '../../src/store/runs.ts';

// The compiler does not look into the texts of queries: a name that is another one in the code would select nothing.
const root = join(import.meta.dirname, '../../src');
const texts = ['store', 'sync', 'review', 'ops', 'alerts', 'worker', 'cli', 'caldav'].flatMap((room) =>
  readdirSync(join(root, room), { recursive: true, encoding: 'utf8' })
    .filter((path) => /\.(?:ts|sql)$/.test(path))
    .map((path) => readFileSync(join(root, room, path), 'utf8')),
);
const baseline = readFileSync(join(root, 'store/migrations/001-baseline.sql'), 'utf8');

const literals = (text: string): string[] => [...text.matchAll(/'([\w-]+)'/g)].map(([, name = '']) => name);

/** What the schema allows in this column of a table. */
function allowed(table: string, column: string): readonly string[] {
  const [, body = ''] = new RegExp(`^create table ${table} \\(([^]*?)^\\);`, 'm').exec(baseline) ?? [];
  return literals(new RegExp(`check \\(${column} in \\(([^)]*)\\)`).exec(body)?.[1] ?? '');
}

test.each([
  ['runs', 'mode', runModes],
  ['runs', 'status', runStatuses],
  ['runs', 'phase', phases],
  ['actions', 'state', actionStates],
  ['mails', 'state', reminderStates],
])('the schema allows in %s what the code writes as %s', (table, column, names) => {
  expect(new Set(allowed(table, column))).toEqual(new Set<string>(names));
});

test.each([
  ['kind', [...actionKinds, ...allowed('held', 'kind'), ...allowed('mails', 'kind')]],
  ['state', [...actionStates, ...reminderStates, ...matchStates, ...editStates]],
  ['mode', runModes],
  ['status', runStatuses],
  ['phase', phases],
])('each %s that a query names is one', (column, names: readonly string[]) => {
  const named = new RegExp(
    `(?<!["'>.])\\b(?:[a-z]\\.)?${column} (?:(?:= |<> |is (?:not )?distinct from )('[\\w-]+')|(?:not )?in \\(([^)$]*)\\))`,
    'g',
  );
  const found = texts.flatMap((text) =>
    [...text.matchAll(named)].flatMap(([, one, some]) => literals(one ?? some ?? '')),
  );
  expect(found.length).toBeGreaterThan(0);
  expect([...new Set(found)].filter((name) => !names.includes(name))).toEqual([]);
});
