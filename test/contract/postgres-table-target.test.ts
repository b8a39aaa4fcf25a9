import { makePostgresTableHarness, postgresTableCannot } from './postgres-table-harness.ts';
import { describeTarget } from './target.ts';

describeTarget(
  'postgres table with dates as text',
  () => makePostgresTableHarness('text'),
  postgresTableCannot,
);
describeTarget('postgres table', () => makePostgresTableHarness('timestamptz'), [
  ...postgresTableCannot,
  'free-text-dates',
]);
