import { count, counted } from '../core/lead/wording.ts';
import { shownDates, shownMoment } from '../core/lead/shown-date.ts';
import { type Cell, plainCell, showCell } from '../core/lead/value.ts';
import type { ConnectionConfig } from '../config/config.ts';
import { type FieldMapping, headingOf } from '../core/lead/mapping.ts';
import { otherWords, pairedWords } from '../core/lead/words.ts';
import { stageField } from '../reminders/plan/recipients.ts';
import type { Change } from '../core/merge/action.ts';
import type { Action } from '../store/actions.ts';
import type { Match } from '../store/held.ts';
import type { Run } from '../store/runs.ts';
import type { Forecast } from '../sync/forecast.ts';
import type { AppliedPlan, SyncReport } from '../sync/report.ts';
import { describeProblem, seconds, type Companies, nameRecord, rowName } from './output.ts';
import type pg from 'pg';
import { allowable } from '../core/merge/older-copy.ts';
import { describeVerification } from '../ops/run-words.ts';
import { companiesIn } from '../store/pairs.ts';

export type PlanOutput = ReturnType<typeof planJson>;

export interface ShownPlan {
  readonly run: Run;
  readonly actions: readonly Action[];
  readonly problems: SyncReport['problems'];
  readonly companies: Companies;
  readonly fields: ConnectionConfig['fields'];
  /** Rows and leads that may be one. */
  readonly matches?: readonly Pick<Match, 'lead' | 'cells'>[];
}

export interface UnmadePlan {
  readonly connection: string;
  readonly status: 'failed';
  readonly problems: SyncReport['problems'];
}

/**
 * A contract (docs/architecture.md 8). `planId` is empty when no run could begin; `guard.ok` is false for what was not compared. `undoOf`: only for
 * an undo. `problems` and `pausedRows` (rows that people paused): only when there are any.
 */
export function planJson({ run, actions, problems, companies }: Omit<ShownPlan, 'fields'>) {
  return {
    planId: String(run.id),
    connection: run.connection,
    ...(run.undoOf !== null && { undoOf: String(run.undoOf) }),
    actions: actions.map((action) => planLine(action, companies)),
    guard: { ok: run.status !== 'failed' && run.refusals.length === 0, refusals: run.refusals },
    ...(problems.length > 0 && { problems }),
    ...(run.pausedRows > 0 && { pausedRows: run.pausedRows }),
    ...forecastOf(run),
  };
}

export function unmadeJson({ connection, problems }: UnmadePlan): PlanOutput {
  return { planId: '', connection, actions: [], guard: { ok: false, refusals: [] }, problems };
}

export function summaryJson({ actions: _, ...rest }: PlanOutput, actions: readonly Action[]): object {
  return { ...rest, summary: Object.fromEntries(countKinds(actions)) };
}

function countKinds(actions: readonly Action[]) {
  const byKind = Map.groupBy(actions, ({ kind }) => kind);
  return new Map(
    [...byKind].map(([kind, ofKind]) => {
      const fields: Record<string, number> = {};
      for (const { changes } of ofKind)
        for (const field of Object.keys(changes)) fields[field] = (fields[field] ?? 0) + 1;
      return [kind, { count: ofKind.length, fields }] as const;
    }),
  );
}

/** Absent in runs of older versions, and in those that failed or stopped before they compared anything. */
function forecastOf({ report }: Run): Pick<SyncReport, 'forecast'> {
  const { forecast } = (report ?? {}) as Partial<SyncReport>;
  return forecast === undefined ? {} : { forecast };
}

/** As in the contract (docs/architecture.md 8). */
function planLine(action: Action, companies: Companies) {
  const { id, kind, leadId, row, changes, reason, message = null } = action;
  const company = companyOf(action, companies);
  return {
    id: String(id),
    kind,
    ...(company !== null && { company }),
    ...(leadId !== null && { leadId }),
    ...(row !== null && { row }),
    changes: plainChanges(changes),
    reason: message === null ? reason : `${reason}: ${message}`,
  };
}

export function plainChanges(changes: Action['changes']) {
  const plain = Object.entries(changes).map(
    ([field, { from, to }]) => [field, { from: plainCell(from), to: plainCell(to) }] as const,
  );
  return Object.fromEntries(plain);
}

/** The baseline's name; without a baseline, what the action saw or writes. */
function companyOf({ leadId, changes, expect }: ShownAction, companies: Companies): string | null {
  const { companyName: change } = changes;
  const cell = change?.from ?? change?.to ?? expect?.['companyName'] ?? null;
  return companies.get(leadId ?? '') ?? plainCell(cell);
}

export type Detail = 'summary' | 'usual' | 'all';

/** Changes listed of those that wait for a person, and of the others. */
const mostShown = 20;

/** `goesOn`: carried out right away. */
export function describePlan(
  plan: ShownPlan,
  timeZone: string,
  { goesOn = false, detail = 'usual' }: { readonly goesOn?: boolean; readonly detail?: Detail } = {},
): string {
  const { run, actions, problems, companies, fields } = plan;
  const what = run.undoOf === null ? `plan ${run.id}` : `plan ${run.id} to undo run ${run.undoOf}`;
  const said = describeProblems(problems, companies, fields);
  if (run.status === 'failed') return shownDates(describeFailed(run.connection, what, said), timeZone);
  const read = `${counted(run.pulled, 'lead')}, ${counted(run.targetRows, 'row')}`;
  const held = actions.filter(({ kind }) => kind === 'hold');
  const others = actions.filter(({ kind }) => kind !== 'hold');
  const { forecast } = forecastOf(run);
  const takes = goesOn
    ? 'this takes'
    : run.refusals.length > 0
      ? 'once allowed, it takes'
      : 'carried out now, it takes';
  const lines = [
    `${run.connection}: ${what}: ${read}, ${counted(actions.length, 'action')}`,
    ...describeCounts(actions, fields),
    run.pausedRows > 0 && `  ${counted(run.pausedRows, 'row is', 'rows are')} paused`,
    ...(detail === 'summary'
      ? []
      : [held, others].flatMap((some) => describeSome(some, plan, detail === 'all'))),
    ...said,
    ...describeWords(plan),
    actions.length + problems.length + run.refusals.length === 0 &&
      (run.undoOf === null ? '  nothing to do' : `  nothing of run ${run.undoOf} is left to undo`),
    ...run.refusals.map(({ message, code }) => `  the guard would stop this: ${message} [${code}]`),
    forecast && `  ${takes} ${describeForecast(forecast, timeZone)}`,
    !goesOn && '  nothing was written',
  ];
  return shownDates(lines.filter((line) => typeof line === 'string').join('\n'), timeZone);
}

type End = keyof Pick<Change, 'from' | 'to'>;

/** The end of a change that is the row's, and the one that is the lead's. */
const endsOf: Readonly<Partial<Record<Action['kind'], readonly [row: End | null, lead: End | null]>>> = {
  'create-lead': ['to', null],
  'create-row': [null, 'to'],
  hold: ['to', 'from'],
  'update-lead': ['to', 'from'],
  'update-row': ['from', 'to'],
  link: ['from', 'to'],
};

/** On a first day, when the two sides call the stages otherwise: words are copied as they are. */
function describeWords({ run, actions, fields, matches = [] }: ShownPlan): readonly string[] {
  const mapping = fields.find(({ field }) => field === stageField);
  // What they mean is told already.
  if (mapping === undefined || mapping.words !== undefined) return [];
  const wordOf = (cell: Cell | undefined): string => plainCell(cell ?? null) ?? '';
  const rows = matches.map(({ cells }) => wordOf(cells[stageField]));
  const leads = matches.map(({ lead }) => wordOf(lead[stageField]));
  for (const { kind, changes } of actions) {
    const change = changes[stageField];
    const [row, lead] = endsOf[kind] ?? [null, null];
    // Where there is a baseline, one side has the words of the other by now.
    if (change === undefined || change.base !== undefined) continue;
    if (row !== null) rows.push(wordOf(change[row]));
    if (lead !== null) leads.push(wordOf(change[lead]));
  }
  // Of a few new ones among known ones the words prove nothing.
  if (run.undoOf !== null || rows.length * 2 < run.targetRows || leads.length * 2 < run.pulled) return [];
  const found = otherWords(rows, leads);
  if (found === null || found.rows.length < 2) return [];
  const list = (words: readonly string[]): string => words.slice(0, wordsShown).map(showCell).join(', ');
  return [
    `  ${headingOf(fields, stageField)}: the table says ${list(found.rows)}, the service ${list(found.leads)}. Words are copied as they are, or held where both sides have one: change them in the table first, to have one set, or say in leadsync.yaml, under fields, what they mean:`,
    ...proposedWords(mapping, rows, leads),
  ];
}

/** As YAML, whose texts JSON has quoted; a word that is left open is refused until somebody fills it in. */
function proposedWords(
  { field, column, direction }: FieldMapping,
  rows: readonly string[],
  leads: readonly string[],
): readonly string[] {
  const pairs = pairedWords(rows, leads);
  const taken = new Set(pairs.map(([, lead]) => lead));
  const others = [...new Set(leads)].filter((lead) => lead !== '' && !taken.has(lead)).map(showCell);
  return [
    `      ${field}:`,
    `        column: ${JSON.stringify(column)}`,
    ...(direction === 'two-way' ? [] : [`        direction: ${direction}`]),
    '        values:',
    // A word a line: what a terminal folds is no YAML any more.
    ...others.slice(0, othersShown).map((word) => `          # also of the service: ${word}`),
    ...pairs.map(
      ([row, lead]) => `          ${JSON.stringify(row)}: ${lead === null ? '# ?' : JSON.stringify(lead)}`,
    ),
  ];
}

const wordsShown = 6;
const othersShown = 20;

export function describeUnmade({ connection, problems }: UnmadePlan): string {
  return describeFailed(connection, 'the plan', describeProblems(problems, new Map(), []));
}

function describeFailed(connection: string, what: string, said: readonly string[]): string {
  return [`${connection}: ${what} failed`, ...said, '  nothing was written'].join('\n');
}

const kindWord = (kind: Action['kind']): string => (kind === 'report' ? 'left alone' : kind).padEnd(12);

/** `expect`: what is removed shows. */
type ShownAction = Pick<Action, 'kind' | 'row' | 'leadId' | 'changes' | 'reason'> & {
  readonly message?: string | null;
  readonly expect?: Action['expect'];
};

export function describeAction(
  action: ShownAction,
  { companies, fields }: Pick<ShownPlan, 'companies' | 'fields'>,
): readonly string[] {
  const { kind, row, leadId, changes, reason, message } = action;
  // What an undo leaves alone has a sentence.
  const why = kind === 'report' ? (message ?? reason) : reason;
  const company = companyOf(action, companies);
  const name = nameRecord(company, rowName(row));
  const id = company === null ? leadId : null;
  const lines = [`  ${[kindWord(kind), name, `(${why})`, id].filter(Boolean).join(' ')}`];
  // A record held as a whole has no field with a reason.
  const isWhole = kind === 'hold' && Object.keys(changes).length === 0;
  if ((isWhole || kind === 'link') && message) lines.push(`    ${message}`);
  if (kind === 'delete-lead' || kind === 'remove-row') {
    const lost = Object.entries(action.expect ?? {}).filter(([, cell]) => cell !== null);
    lines.push(
      `    ${lost.map(([field, cell]) => `${headingOf(fields, field)}: ${showCell(cell)}`).join(', ')}`,
    );
  }
  for (const [field, { from, to }] of Object.entries(changes))
    lines.push(
      kind === 'hold'
        ? `    ${headingOf(fields, field)}: lead ${showCell(from)} | row ${showCell(to)}`
        : `    ${headingOf(fields, field)}: ${showCell(from)} → ${showCell(to)}`,
    );
  return lines;
}

function describeSome(actions: readonly Action[], plan: ShownPlan, isAll: boolean): readonly string[] {
  const shown = isAll ? actions : actions.slice(0, mostShown);
  const more = actions.length - shown.length;
  return [
    ...shown.flatMap((action) => describeAction(action, plan)),
    ...(more > 0 ? [`  and ${count(more)} more (--all lists them)`] : []),
  ];
}

const kindWords: Readonly<Record<Action['kind'], (count: number) => string>> = {
  hold: (number) =>
    `${counted(number, 'item is', 'items are')} held: the values stay as they are on both sides`,
  'create-lead': (number) => `${counted(number, 'new lead')} in the service, of rows of the table`,
  'create-row': (number) => `${counted(number, 'new row')} in the table, of leads of the service`,
  'update-lead': (number) => `${counted(number, 'lead changes', 'leads change')} in the service`,
  'update-row': (number) => `${counted(number, 'row changes', 'rows change')} in the table`,
  link: (number) => `${counted(number, 'row gets', 'rows get')} the id of a lead`,
  unlink: (number) => `${counted(number, 'row loses', 'rows lose')} the id of a lead`,
  'mark-row': (number) => `${counted(number, 'row is', 'rows are')} marked as deleted`,
  'remove-row': (number) => `${counted(number, 'row is', 'rows are')} removed from the table`,
  'delete-lead': (number) => `${counted(number, 'lead is', 'leads are')} deleted in the service`,
  agree: (number) => counted(number, 'record agrees', 'records agree'),
  forget: (number) => `${counted(number, 'record is', 'records are')} gone on both sides`,
  report: (number) => `${counted(number, 'record is', 'records are')} left alone`,
};

const isKind = (text: string): text is Action['kind'] => text in kindWords;

/** One line per kind; fields only where they distinguish actions: new records have all. */
function describeCounts(actions: readonly Action[], mapped: ShownPlan['fields']): readonly string[] {
  const counts = countKinds(actions);
  return Object.keys(kindWords).flatMap((kind) => {
    const ofKind = isKind(kind) ? counts.get(kind) : undefined;
    if (!isKind(kind) || ofKind === undefined) return [];
    const fields = Object.entries(ofKind.fields).map(
      ([field, times]) => `${headingOf(mapped, field)} ${count(times)}`,
    );
    const isNew = kind === 'create-row' || kind === 'create-lead' || kind === 'link';
    return [
      `  ${kindWords[kind](ofKind.count)}${isNew || fields.length === 0 ? '' : ` (${fields.join(', ')})`}`,
    ];
  });
}

export function describeForecast(
  { leadRequests, waitMs, durationMs, finishAt }: Forecast,
  timeZone: string,
): string {
  const requests = `${counted(leadRequests, 'request')} to the Leads service`;
  const waits = waitMs === 0 ? '' : `, ${seconds(waitMs)} of it waiting for the service's limit`;
  return `${requests}, about ${seconds(durationMs)}${waits}, until ${shownMoment(finishAt, timeZone)}`;
}

const problemsShown = 20;

export const syncCommand = ({ connection }: SyncReport): string => `leadsync sync --connection ${connection}`;

export function allowed(codes: readonly string[]): readonly string[] {
  return codes.map((code) => `--allow ${code}`);
}

export async function tellReport(
  pool: pg.Pool,
  report: SyncReport,
  { fields, timeZone }: Pick<ConnectionConfig, 'fields' | 'timeZone'>,
  command?: string,
): Promise<string> {
  const shown = report.problems.slice(0, problemsShown);
  const companies = await companiesIn(pool, report.connection, shown);
  return shownDates(describeReport(report, companies, fields, command), timeZone);
}

/** Omits zeros. */
export function describeReport(
  report: SyncReport,
  companies: Companies,
  fields: ShownPlan['fields'] = [],
  command = syncCommand(report),
): string {
  const { status, runId, held, putOff, waitedMs } = report;
  const took = `(${runId === '' ? '' : `run ${runId}, `}${seconds(report.durationMs)})`;
  const written = describeWritten(report);
  // Empty in a run that stopped early.
  const receipt = report.receipt.records > 0 ? describeVerification(report) : '';
  if (status === 'succeeded' && written.length + report.problems.length === 0 && report.plan === undefined) {
    const more = waitedMs > 0 ? `, waited ${seconds(waitedMs)}` : '';
    return `${report.connection}: nothing to change${receipt && `: ${receipt}`} ${took}${more}`;
  }
  const said = describeProblems(report.problems, companies, fields);
  const isUntouched = status === 'stopped' && written.length === 0;
  const isUnseen = report.problems.some(({ code }) => code.endsWith('.column-missing'));
  const lines = [
    `${report.connection}: ${status}${isUntouched ? ', nothing was written to either side' : ''} ${took}`,
    ...(status === 'stopped' ? said : []),
    report.pulled + report.targetRows > 0 &&
      `  read     ${counted(report.pulled, 'lead')}, ${counted(report.targetRows, 'row')}`,
    ...written,
    // What was put off may include writes with unknown outcome.
    written.length + putOff === 0 && status === 'partial' && '  written  nothing',
    held > 0 && `  held     ${count(held)}   (leadsync conflicts lists them)`,
    putOff > 0 &&
      `  put off  ${count(putOff)}   (${report.undoOf === undefined ? 'the next sync' : `leadsync undo ${report.undoOf}`} looks again)`,
    receipt && `  receipt  ${receipt}${isUnseen ? ' (none is, while a column is missing)' : ''}`,
    report.plan && `  plan     ${describeApplied(report.plan)}`,
    waitedMs > 0 && `  waited   ${seconds(waitedMs)}`,
    ...(status === 'stopped' ? howToGoOn(report, command) : said),
  ];
  return lines.filter(Boolean).join('\n');
}

function describeProblems(
  problems: SyncReport['problems'],
  companies: Companies,
  fields: ShownPlan['fields'],
): readonly string[] {
  const more = problems.length - problemsShown;
  return [
    ...problems
      .slice(0, problemsShown)
      .map((problem) => `  ! ${describeProblem(problem, companies.get(problem.leadId ?? ''), fields)}`),
    ...(more > 0 ? [`  ! and ${more} more (--json lists them)`] : []),
  ];
}

function describeWritten({ created, updated, deleted }: SyncReport): readonly string[] {
  return Object.entries({ created, updated, deleted }).flatMap(([deed, { leads, rows }]) => {
    const parts = [leads > 0 && counted(leads, 'lead'), rows > 0 && counted(rows, 'row')].filter(Boolean);
    return parts.length === 0 ? [] : [`  ${deed}  ${parts.join(', ')}`];
  });
}

/** Other stops name their own ways out. */
function howToGoOn({ problems }: SyncReport, command: string): readonly string[] {
  const codes = problems.map(({ code }) => code);
  if (!codes.some((code) => code.startsWith('guard.'))) return [];
  const options = allowed(allowable(codes));
  return [
    '  leadsync plan shows what would be done',
    ...(options.length > 0 ? [`  if that is what you want: ${[command, ...options].join(' ')}`] : []),
  ];
}

function describeApplied({ lines, done, doneBefore, stale }: AppliedPlan): string {
  const parts = [
    `${count(done)} of ${counted(lines, 'line')} carried out`,
    doneBefore > 0 && `${doneBefore} ${doneBefore === 1 ? 'was' : 'were'} before`,
    stale > 0 && `${stale} refused`,
  ];
  return parts.filter(Boolean).join(', ');
}
