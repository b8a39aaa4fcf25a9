import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type AlertEvent,
  alertMail,
  alertPayload,
  describeAlert,
  durationText,
} from '../../src/alerts/describe-alert.ts';
import {
  decideAlerts,
  heartbeatGraceMs,
  heartbeatProblems,
  problemsOf,
  clearedForMs,
} from '../../src/alerts/problems-of.ts';
import type {
  AlertKind,
  AlertProblem,
  ConnectionFacts,
  FailedRun,
  OpenAlert,
} from '../../src/store/alerts.ts';
import { lawRuns } from '../support/law-runs.ts';
import { createProgram } from '../../src/cli/program.ts';

const hour = 3_600_000;
const now = Date.UTC(2026, 10, 21, 12);

const well: ConnectionFacts = {
  lastSuccess: { runId: 7, at: now - hour },
  watchedSince: now - 100 * hour,
  failures: [],
  held: 0,
  heldLong: 0,
  mails: { failed: 0, missed: 0, late: 0 },
};

function failed(code: string, runId = 8): FailedRun {
  return { runId, status: 'failed', code, message: 'what it said' };
}

const commands = createProgram().commands.map((command) => command.name());

describe('what is a problem', () => {
  const stopped: FailedRun = { ...failed('guard.max-deletes'), status: 'stopped' };
  const never = { ...well, lastSuccess: null };
  test.each<[string, Partial<ConnectionFacts>, readonly AlertKind[]]>([
    ['nothing is wrong', {}, []],
    ['the last sync failed', { failures: [failed('leads.unavailable')] }, ['run-failed']],
    ['a run that a newer one replaces', { failures: [failed('run.abandoned')] }, []],
    ['the guard stopped it', { failures: [stopped] }, ['guard-stop']],
    ['the key is rejected', { failures: [failed('leads.unauthenticated')] }, ['key-rejected']],
    ["the target's key is rejected", { failures: [failed('target.unauthenticated')] }, ['key-rejected']],
    [
      "the target's key cannot be read",
      { failures: [failed('target.credentials-invalid')] },
      ['key-rejected'],
    ],
    ['it may not write: the key is right', { failures: [failed('target.forbidden')] }, ['run-failed']],
    [
      'both since the last success',
      { failures: [failed('target.busy', 9), stopped] },
      ['run-failed', 'guard-stop'],
    ],
    ['the last success is too old', { lastSuccess: { runId: 7, at: now - 27 * hour } }, ['no-success']],
    ['none so far, and it was due', never, ['no-success']],
    ['none so far, but it has just begun', { ...never, watchedSince: now - hour }, []],
    ['nine are held', { held: 9 }, []],
    ['one of two is held for a day', { held: 2, heldLong: 1 }, ['held-growing']],
    ['ten are held', { held: 10 }, ['held-growing']],
    ['a reminder failed', { mails: { failed: 1, missed: 0, late: 0 } }, ['reminders-failing']],
    ['a reminder was missed', { mails: { failed: 0, missed: 1, late: 0 } }, ['reminders-failing']],
    ['a reminder is late', { mails: { failed: 0, missed: 0, late: 1 } }, ['reminders-failing']],
  ])('%s', (_name, facts, kinds) => {
    expect(problemsOf({ ...well, ...facts }, now - 26 * hour).map(({ kind }) => kind)).toEqual(kinds);
  });

  test('the newest failure of a kind is the one that is told', () => {
    const failures = [failed('target.busy', 9), failed('leads.unavailable', 8)];
    expect(problemsOf({ ...well, failures }, 0)[0]?.detail).toMatchObject({ runId: 9, code: 'target.busy' });
  });

  test.each([
    [10, 1],
    [19, 1],
    [20, 2],
    [39, 2],
    [40, 3],
    [10_240, 11],
  ])('%i held items are of level %i', (held, level) => {
    expect(problemsOf({ ...well, held }, 0)[0]?.level).toBe(level);
  });

  test('a heartbeat that has failed for a while', () => {
    const pulse = {
      runId: 1,
      attemptedAt: now,
      failingSince: now - heartbeatGraceMs,
      fault: 'it answered 404',
    };
    expect(heartbeatProblems(pulse, now)).toMatchObject([{ kind: 'heartbeat-failing' }]);
    expect(heartbeatProblems(pulse, now - 1)).toEqual([]);
    expect(heartbeatProblems({ ...pulse, failingSince: null }, now)).toEqual([]);
    expect(heartbeatProblems(null, now)).toEqual([]);
  });
});

function problem(kind: AlertKind, level = 0): AlertProblem {
  return { kind, level, detail: {} };
}

describe('what is told', () => {
  const there: OpenAlert = {
    id: 1,
    kind: 'held-growing',
    level: 1,
    detail: {},
    raisedAt: now,
    clearedAt: null,
  };
  const away: OpenAlert = { ...there, clearedAt: now };
  test.each<[string, readonly OpenAlert[], readonly AlertProblem[], number, readonly string[]]>([
    ['a new one', [], [problem('run-failed')], now, ['raised']],
    ['one that is known', [there], [problem('held-growing', 1)], now, []],
    ['one that is known and less bad', [there], [problem('held-growing', 0)], now, []],
    ['one that has grown', [there], [problem('held-growing', 2)], now, ['grown']],
    ['one that is not seen', [there], [], now, ['cleared']],
    ['one that is not seen yet again', [away], [], now + clearedForMs - 1, []],
    ['one that stayed away', [away], [], now + clearedForMs, ['over']],
    ['one that came back meanwhile', [away], [problem('held-growing', 1)], now + clearedForMs, ['returned']],
    ['one that came back worse', [away], [problem('held-growing', 2)], now, ['grown']],
    [
      'no success, for a reason that is told',
      [],
      [problem('guard-stop'), problem('no-success')],
      now,
      ['raised'],
    ],
    ['no success alone', [], [problem('no-success')], now, ['raised']],
  ])('%s', (_name, open, problems, at, events) => {
    expect(decideAlerts(open, problems, at).map(({ event }) => event)).toEqual(events);
  });

  test('no success that was told stays told while there is a reason', () => {
    const open: OpenAlert = { ...there, kind: 'no-success' };
    const changes = decideAlerts([open], [problem('no-success'), problem('run-failed')], now);
    expect(changes).toEqual([{ event: 'raised', problem: problem('run-failed') }]);
  });

  test('law: each problem is raised once, at once, and over once, when it has stayed away; never twice within that time', () => {
    const look = fc.record({ after: fc.integer({ min: 1, max: clearedForMs }), isThere: fc.boolean() });
    fc.assert(
      fc.property(fc.array(look, { maxLength: 60 }), (looks) => {
        let at = now;
        let open: readonly OpenAlert[] = [];
        let lastSeen = -Infinity;
        for (const { after, isThere } of looks) {
          at += after;
          const wasOpen = open.length > 0;
          const events = decideAlerts(open, isThere ? [problem('run-failed')] : [], at).map(
            ({ event }) => event,
          );
          expect(events.length).toBeLessThanOrEqual(1);
          const [event] = events;
          expect(event === 'raised').toBe(isThere && !wasOpen);
          if (isThere) lastSeen = at;
          if (event === 'raised') open = [{ ...problem('run-failed'), id: 1, raisedAt: at, clearedAt: null }];
          if (event === 'cleared') open = open.map((alert) => ({ ...alert, clearedAt: at }));
          if (event === 'returned') open = open.map((alert) => ({ ...alert, clearedAt: null }));
          if (event === 'over') {
            expect(wasOpen).toBe(true);
            expect(at - lastSeen).toBeGreaterThan(clearedForMs);
            open = [];
          }
          // Nobody waits for the end longer than it takes to be sure of it, from the first look that did not see it.
          const [still] = open;
          if (still !== undefined) {
            expect(still.clearedAt === null).toBe(isThere);
            expect(at - (still.clearedAt ?? at)).toBeLessThan(clearedForMs);
          }
        }
      }),
      { numRuns: lawRuns(500) },
    );
  });
});

describe('how it is told', () => {
  const told: AlertEvent = {
    event: 'raised',
    connection: 'berlin',
    kind: 'run-failed',
    detail: { code: 'leads.unavailable', runId: 12, message: 'it said "<b>anna@example.com</b>"\nis wrong' },
    raisedAt: now,
    clearedAt: null,
  };

  test('a mail says what happened, what was not touched and what helps', () => {
    const { subject, text, html } = alertMail(describeAlert(told), told.detail.message ?? null);
    expect(subject).toBe('leadsync: berlin: the sync failed');
    for (const part of [
      'Run 12 ended with leads.unavailable',
      'touched nothing else',
      'leadsync status --connection berlin',
    ]) {
      expect(text).toContain(part);
      expect(html).toContain(part);
    }
  });

  test('words from outside: in the mail alone, as text, without addresses', () => {
    const { text, html } = alertMail(describeAlert(told), told.detail.message ?? null);
    expect(text).toContain('Reason: it said "<b>(address)</b>" is wrong');
    expect(html).toContain('&lt;b&gt;(address)&lt;/b&gt;');
    expect(JSON.stringify(alertPayload(describeAlert(told)))).not.toMatch(/it said|anna/);
  });

  test.each<AlertKind>([
    'run-failed',
    'guard-stop',
    'key-rejected',
    'held-growing',
    'reminders-failing',
    'no-success',
    'heartbeat-failing',
  ])(
    '%s: what happened, what was not touched, a command that helps; nothing that Slack takes for markup',
    (kind) => {
      const { lines, help } = describeAlert({ ...told, kind, detail: {} });
      expect(lines).toHaveLength(2);
      expect(help.length).toBeGreaterThan(0);
      for (const [command] of help) expect(commands).toContain(command.split(' ')[1]);
      expect(JSON.stringify([lines, help])).not.toMatch(/[<>&]/);
    },
  );

  test('the end says how long it was', () => {
    const over = describeAlert({ ...told, event: 'over', clearedAt: now + 26 * hour });
    expect(alertPayload(over).text).toBe(
      'leadsync: berlin: over: the sync failed\nIt lasted 1 day 2 hours, from 2026-11-21 12:00 UTC to 2026-11-22 14:00 UTC.',
    );
  });

  test.each([
    ['guard.max-deletes', '--allow max-deletes'],
    ['guard.older-copy', '--older-copy update'],
    ['guard.older-copy', '--allow older-copy'],
    ['guard.older-service', '--allow older-service'],
    ['guard.target.header-missing', null],
  ])('a stop for %s', (code, allow) => {
    const { text } = alertPayload(describeAlert({ ...told, kind: 'guard-stop', detail: { code, runId: 3 } }));
    if (allow === null) expect(text).not.toContain('--allow');
    else expect(text).toContain(allow);
  });

  test.each([
    [0, 'less than a minute'],
    [60_000, '1 minute'],
    [2 * hour + 60_000, '2 hours 1 minute'],
    [49 * hour + 5 * 60_000, '2 days 1 hour'],
  ])('%i ms are %s', (ms, text) => expect(durationText(ms)).toBe(text));
});
