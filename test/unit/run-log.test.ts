import { pino } from 'pino';
import { expect, test } from 'vitest';
import { logRun } from '../../src/ops/run-log.ts';
import type { Problem } from '../../src/lib/errors.ts';
import type { Run } from '../../src/store/runs.ts';

const none = { leads: 0, rows: 0 };

/** What is logged of a run that ended so: level, message, reason, help and troubles. */
function told(
  report: {
    readonly status: string;
    readonly held?: number;
    readonly putOff?: number;
    readonly problems?: readonly Problem[];
  },
  run: Partial<Run> = {},
): unknown[] {
  const lines: string[] = [];
  const log = pino({}, { write: (line: string) => lines.push(line) });
  const counts = {
    pulled: 1,
    targetRows: 1,
    created: none,
    updated: none,
    deleted: none,
    held: 0,
    putOff: 0,
    problems: [],
  };
  const full = { ...counts, connection: 'berlin', runId: '7', requests: { leads: 1, target: 0 }, ...report };
  const ended = {
    id: 7,
    mode: 'sync',
    status: report.status,
    undoOf: null,
    approval: null,
    report: full,
    ...run,
  };
  logRun(log, ended as unknown as Run);
  expect(lines).toHaveLength(1);
  const { level, msg, reason, help, troubles } = JSON.parse(lines[0] ?? '') as Record<string, unknown>;
  return [level, msg, reason, help, troubles];
}

const conflicts = 'leadsync conflicts --connection berlin lists what is held';
const status = 'leadsync status --connection berlin shows what was left; the next sync tries it again';
const problem = { code: 'lead.conflict', message: 'Stage of Acme AG: won or lost?', leadId: 'l1' };

test.each([
  [{ status: 'succeeded' }, [30, 'a sync succeeded', undefined, undefined, undefined]],
  [
    { status: 'partial', held: 2, putOff: 1, problems: [problem, problem] },
    [
      40,
      'a sync was carried out in part: 2 held, 1 put off',
      '2 held, 1 put off',
      `${conflicts}; ${status}`,
      { 'lead.conflict': 2 },
    ],
  ],
  [
    { status: 'partial', problems: [{ code: 'leads.item-invalid', message: '1 item' }] },
    [40, 'a sync was carried out in part: 1 problem', '1 problem', status, { 'leads.item-invalid': 1 }],
  ],
  [
    {
      status: 'stopped',
      problems: [{ code: 'guard.max-deletes', message: '12 of 40 leads would be deleted' }],
    },
    [
      40,
      'a sync was stopped: guard.max-deletes',
      '12 of 40 leads would be deleted',
      expect.stringContaining('leadsync sync --connection berlin --allow max-deletes'),
      { 'guard.max-deletes': 1 },
    ],
  ],
  [
    { status: 'failed', problems: [{ code: 'leads.unavailable', message: 'it answers 503' }] },
    [
      40,
      'a sync failed: leads.unavailable',
      'it answers 503',
      expect.stringContaining('leadsync status --connection berlin shows why'),
      { 'leads.unavailable': 1 },
    ],
  ],
  // Of a single lead: its words stay in the report.
  [
    { status: 'failed', problems: [problem] },
    [40, 'a sync failed: lead.conflict', 'lead.conflict', expect.any(String), { 'lead.conflict': 1 }],
  ],
] as const)('the line of a run that ended as %j', (report, line) => {
  expect(told(report)).toEqual(line);
});

test('an undo, its plan and a reviewed plan are called what they are', () => {
  const done = { status: 'succeeded' };
  expect(told(done, { undoOf: 4 })[1]).toBe('the undo of run 4 succeeded');
  expect(told(done, { undoOf: 4, mode: 'plan' })[1]).toBe('a plan of the undo of run 4 succeeded');
  expect(told(done, { approval: 'batch' })[1]).toBe('a reviewed plan succeeded');
});
