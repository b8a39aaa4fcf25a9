import { expect, test } from 'vitest';
import { parse } from 'yaml';
import {
  type ShownPlan,
  describePlan,
  describeReport,
  planJson,
  summaryJson,
} from '../../src/cli/plan-output.ts';
import { describeProgress } from '../../src/ops/run-words.ts';
import type { Action } from '../../src/store/actions.ts';
import type { Run } from '../../src/store/runs.ts';
import { failedReport, type SyncReport } from '../../src/sync/report.ts';

const report = (more: Partial<SyncReport>): SyncReport => ({
  ...failedReport('main', { code: '', message: '' }, 1200),
  runId: '7',
  status: 'succeeded',
  pulled: 3,
  targetRows: 1,
  problems: [],
  receipt: { records: 3, equal: 3, held: 0, putOff: 0, left: 0, unexplained: 0 },
  ...more,
});
const held = { code: 'held.code', message: 'city was edited', leadId: 'lead-1', row: 2, field: 'city' };
const stop = { code: 'guard.max-deletes', message: '9 of 10 would be deleted' };
const told = (more: Partial<SyncReport>): string =>
  describeReport(report(more), new Map([['lead-1', 'Acme\nAG']]), german);

/** What the person's headings are. */
const german = [
  { field: 'companyName', column: 'Firma', type: 'text', direction: 'two-way' },
  { field: 'stage', column: 'Vertriebs-\nphase', type: 'text', direction: 'two-way' },
] as const;

test.each<[string, Partial<SyncReport>, string]>([
  [
    'a night without changes is one line',
    { waitedMs: 3000 },
    'main: nothing to change: 3 of 3 records equal on both sides (run 7, 1.2 s), waited 3.0 s',
  ],
  [
    'nothing of what is 0, and one is no several',
    { created: { leads: 1, rows: 0 }, updated: { leads: 2, rows: 1 } },
    `main: succeeded (run 7, 1.2 s)
  read     3 leads, 1 row
  created  1 lead
  updated  2 leads, 1 row
  receipt  3 of 3 records equal on both sides`,
  ],
  [
    'the name of the company comes first, in place of its id',
    { status: 'partial', held: 1, problems: [held] },
    `main: partial (run 7, 1.2 s)
  read     3 leads, 1 row
  written  nothing
  held     1   (leadsync conflicts lists them)
  receipt  3 of 3 records equal on both sides
  ! Acme AG: city was edited (row 2) [held.code]`,
  ],
  [
    'a stop says why before anything else, and how to go on',
    { status: 'stopped', problems: [stop], receipt: failedReport('', held, 0).receipt },
    `main: stopped, nothing was written to either side (run 7, 1.2 s)
  ! 9 of 10 would be deleted [guard.max-deletes]
  read     3 leads, 1 row
  leadsync plan shows what would be done
  if that is what you want: leadsync sync --connection main --allow max-deletes`,
  ],
  [
    'a stop after a part was written does not deny it',
    { status: 'stopped', problems: [stop], updated: { leads: 1, rows: 0 } },
    `main: stopped (run 7, 1.2 s)
  ! 9 of 10 would be deleted [guard.max-deletes]
  read     3 leads, 1 row
  updated  1 lead
  receipt  3 of 3 records equal on both sides
  leadsync plan shows what would be done
  if that is what you want: leadsync sync --connection main --allow max-deletes`,
  ],
  [
    'a failed run does not claim that nothing was written',
    {
      status: 'failed',
      problems: [{ code: 'leads.timeout', message: 'no reply' }],
      pulled: 0,
      targetRows: 0,
    },
    `main: failed (run 7, 1.2 s)
  receipt  3 of 3 records equal on both sides
  ! no reply [leads.timeout]`,
  ],
])('%s', (_, more, text) => {
  expect(told(more)).toBe(text);
});

test('a sync that a person has paused has no number, and nothing else to go on with', () => {
  const paused = failedReport('main', { code: 'connection.paused', message: 'main is paused' }, 0);
  expect(describeReport(paused, new Map())).toBe(
    'main: stopped, nothing was written to either side (0.0 s)\n  ! main is paused [connection.paused]',
  );
});

test('a first plan says when the two sides call the stages otherwise', () => {
  const run = { id: 1, connection: 'main', undoOf: null, pulled: 2, targetRows: 2, refusals: [] };
  const made = (kind: Action['kind'], to: string, from: string | null = null, known = {}): Action =>
    ({
      id: 1,
      kind,
      leadId: null,
      row: null,
      changes: { stage: { from, to, ...known } },
      expect: {},
      reason: 'new',
    }) as unknown as Action;
  const shown = (pulled: number, more: Pick<ShownPlan, 'actions' | 'matches'>): string =>
    describePlan(
      {
        run: { ...run, pulled, status: 'succeeded' } as unknown as Run,
        problems: [],
        companies: new Map(),
        fields: german,
        ...more,
      },
      'UTC',
    );
  const told = (pulled: number, ...words: readonly string[]): string =>
    shown(pulled, {
      actions: [
        ...['new', 'won'].map((word) => made('create-row', word)),
        ...words.map((word) => made('create-lead', word)),
      ],
    });
  expect(told(2, 'neu', 'gewonnen')).toContain(
    'Vertriebs- phase: the table says "neu", "gewonnen", the service "new", "won". Words are copied as they are',
  );
  // What is proposed can be pasted; what nobody can tell is left open, which the configuration refuses.
  const proposed = told(3, 'neu', 'Won', 'gewonnen')
    .split('\n')
    .filter((line) => line.startsWith('      '));
  expect(parse(proposed.join('\n'))).toEqual({
    stage: { column: 'Vertriebs-\nphase', values: { neu: 'new', Won: 'won', gewonnen: null } },
  });
  // No terminal of 80 columns folds a line of it, which would be no YAML any more.
  const stages = ['new', 'contacted', 'qualified', 'proposal', 'negotiation', 'closed won', 'closed lost'];
  const many = shown(7, {
    actions: [
      ...stages.map((word) => made('create-row', word)),
      ...['In Klärung', 'Angebot', 'Stammkunde'].map((word) => made('create-lead', word)),
    ],
  });
  const lines = many.split('\n').filter((line) => line.startsWith('      '));
  expect(Math.max(...lines.map(({ length }) => length))).toBeLessThan(80);
  for (const stage of stages) expect(lines.join('\n')).toContain(JSON.stringify(stage));
  expect(told(2, 'New', 'won')).not.toContain('the table says');
  // Most leads have rows: it is no first day.
  expect(told(50, 'neu', 'gewonnen')).not.toContain('the table says');

  const says = 'the table says "neu", "gewonnen", the service "new", "won"';
  const words = [
    ['neu', 'new'],
    ['gewonnen', 'won'],
  ] as const;
  const matches = words.map(([row, lead]) => ({ lead: { stage: lead }, cells: { stage: row } }));
  expect(shown(2, { actions: [], matches })).toContain(says);
  for (const kind of ['hold', 'update-lead'] as const)
    expect(shown(2, { actions: words.map(([row, lead]) => made(kind, row, lead)) })).toContain(says);
  for (const kind of ['link', 'update-row'] as const)
    expect(shown(2, { actions: words.map(([row, lead]) => made(kind, lead, row)) })).toContain(says);
  const edits = words.map(([row, lead]) => made('hold', row, lead, { base: 'old' }));
  expect(shown(2, { actions: edits })).not.toContain('the table says');
});

test('a plan names the company first, and the columns by their headings; it begins with numbers by kind and field, then what is held', () => {
  const run = {
    id: 3,
    connection: 'main',
    undoOf: null,
    pulled: 1,
    targetRows: 2,
    refusals: [],
    status: 'succeeded',
  };
  const action = (kind: Action['kind'], leadId: string | null, changes: object): Action =>
    ({ id: 1, kind, leadId, row: 2, changes, expect: {}, reason: 'why', message: null }) as unknown as Action;
  const edit = { stage: { from: 'new', to: 'won', base: 'new' } };
  const plan = {
    run: run as unknown as Run,
    actions: [
      action('update-lead', 'lead-1', edit),
      action('update-lead', 'lead-2', { ...edit, city: { from: null, to: 'Ulm' } }),
      action('create-lead', null, { companyName: { from: null, to: 'New AG' } }),
      action('hold', 'lead-3', { nextFollowUpAt: { from: null, to: '2026-12-03T23:00:00.000Z' } }),
      // The same record: each field is held for itself, and the row gets its id.
      action('hold', 'lead-3', { stage: { from: 'new', to: 'lost', base: 'old' } }),
      action('link', 'lead-3', {}),
    ],
    problems: [],
    companies: new Map([['lead-1', 'Acme']]),
    fields: german,
  };
  const lines = describePlan(plan, 'Europe/Berlin').split('\n');
  expect(lines).toEqual([
    'main: plan 3: 1 lead, 2 rows, 6 actions',
    '  2 items are held: the values stay as they are on both sides (nextFollowUpAt 1, Vertriebs- phase 1)',
    '  1 new lead in the service, of rows of the table',
    '  2 leads change in the service (Vertriebs- phase 2, city 1)',
    '  1 row gets the id of a lead',
    '  hold         row 2 (why) lead-3',
    '    nextFollowUpAt: lead (empty) | row "2026-12-04"',
    '  hold         row 2 (why) lead-3',
    '    Vertriebs- phase: lead "new" | row "lost"',
    '  update-lead  Acme, row 2 (why)',
    '    Vertriebs- phase: "new" → "won"',
    '  update-lead  row 2 (why) lead-2',
    '    Vertriebs- phase: "new" → "won"',
    '    city: (empty) → "Ulm"',
    '  create-lead  New AG, row 2 (why)',
    '    Firma: (empty) → "New AG"',
    '  link         row 2 (why) lead-3',
    '  nothing was written',
  ]);
  expect(describePlan(plan, 'Europe/Berlin', { detail: 'summary' }).split('\n').slice(1)).toEqual([
    ...lines.slice(1, 5),
    '  nothing was written',
  ]);
  const many = { ...plan, actions: Array.from({ length: 23 }, () => action('update-lead', 'lead-1', edit)) };
  expect(describePlan(many, 'UTC').split('\n').slice(-2)).toEqual([
    '  and 3 more (--all lists them)',
    '  nothing was written',
  ]);
  expect(describePlan(many, 'UTC', { detail: 'all' }).split('\n')).toHaveLength(3 + 2 * 23);
  expect(summaryJson(planJson(plan), plan.actions)).toEqual({
    planId: '3',
    connection: 'main',
    guard: { ok: true, refusals: [] },
    summary: {
      'update-lead': { count: 2, fields: { stage: 2, city: 1 } },
      'create-lead': { count: 1, fields: { companyName: 1 } },
      hold: { count: 2, fields: { nextFollowUpAt: 1, stage: 1 } },
      link: { count: 1, fields: {} },
    },
  });
});

test.each([
  ['no number is known on the first sync', 'pull', 340, null, null, '340 leads in 1 page'],
  ['the last sync gives an estimate', 'pull', 340, 1000, null, "340 leads, about 34 % of last time's 1,000"],
  ['more than last time is no share', 'pull', 1001, 1000, null, '1,001 leads in 1 page'],
  [
    'what is to be written is known',
    'push-rows',
    5,
    5,
    { settled: 199, all: 200 },
    'writing to the table: 199 of 200, 99 %',
  ],
  [
    'nothing to be written has no share',
    'push-leads',
    5,
    5,
    { settled: 0, all: 0 },
    'writing to the service',
  ],
] as const)('progress: %s', (_, phase, pulled, lastPulled, writes, text) => {
  const open = { phase, pulled, pages: 1, targetRows: 1, pausedAt: null, lastPulled, writes };
  expect(describeProgress(open)).toBe(text);
});
