import { headingOf } from '../core/lead/mapping.ts';
import { shownDates } from '../core/lead/shown-date.ts';
import { type Cells, folded, plainCell, plainCells, sameCell, showCell } from '../core/lead/value.ts';
import { answerOf, answersTo, decide, unknownItem, whatIsMade } from '../review/decide-held.ts';
import type { Conflict } from '../store/conflicts.ts';
import { type HeldItem, listHeld, type Match, type MatchState } from '../store/held.ts';
import {
  describeAuthor,
  nameRecord,
  otherValue,
  rowName,
  short,
  userName,
  exitCodes,
  print,
  printJson,
} from './output.ts';
import { type CommonOptions, withStore } from './with-store.ts';
import type pg from 'pg';
import type { Config, ConnectionConfig } from '../config/config.ts';
import { isDeepStrictEqual } from 'node:util';
import { counted } from '../core/lead/wording.ts';
import { LeadsyncError } from '../lib/errors.ts';
import { idKey } from '../core/lead/lead-id.ts';
import { type Answer, deleteQuestions, isDeleteAnswer } from '../core/merge/holds.ts';

export function conflicts(options: CommonOptions): Promise<void> {
  return withStore(options, async (pool, { connections }) => {
    const held = await namedHeld(pool, connections);
    if (options.json) return printJson({ conflicts: held.map(heldJson) });
    if (held.length === 0) return print('there are no conflicts, and nothing else waits for an answer');
    for (const one of held) print(describeHeld(one));
    if (held.some(({ item, connection }) => answersTo(item, connection.fields).length > 0))
      print(
        '\nleadsync resolve NUMBER --use ANSWER settles one, a name in place of NUMBER all of that company, --all every one; nothing is written before the next sync, or by the worker (edits, calendars)',
      );
  });
}

function heldJson({ item, connection }: Named): object {
  const { id, kind, company } = item;
  const choices = answersTo(item, connection.fields);
  const head = {
    id: String(id),
    kind,
    connection: connection.name,
    ...(company !== null && { company }),
    choices,
  };
  if (item.kind === 'calendar') {
    const { code, message, recipient, resolution } = item;
    return { ...head, code, message, recipient, resolution };
  }
  const place = {
    ...(item.leadId !== '' && { leadId: item.leadId }),
    ...(item.row !== null && { row: item.row }),
  };
  const decided = item.decided !== null && { decided: item.decided };
  if (item.kind === 'match') {
    const { state, why, lead, cells } = item;
    const score = Math.round(item.score * 100) / 100;
    return {
      ...head,
      state,
      score,
      why,
      ...place,
      lead: plainCells(lead),
      target: plainCells(cells),
      ...decided,
    };
  }
  const { code, message, field, author, requestedBy, records, resolution, since } = item;
  return {
    ...head,
    code,
    message,
    ...place,
    ...(records !== null && {
      lead: records.lead && plainCells(records.lead),
      target: records.row && plainCells(records.row),
    }),
    ...(field !== '' && { field, ...plainCells({ lead: item.lead, target: item.rowValue }) }),
    ...(author !== null && { changedBy: author }),
    ...(requestedBy !== null && { requestedBy }),
    resolution,
    ...decided,
    since,
  };
}

const stateWords: Readonly<Record<MatchState, string>> = {
  proposed: "each is the other's likeliest match",
  ambiguous: 'uncertain: others are as likely',
  accepted: 'they are linked',
  rejected: 'they are two',
  undone: 'an undo separated them',
};

function describeHeld(one: Named): string {
  const { item, connection } = one;
  const by = 'decided' in item && item.decided !== null ? `, by ${item.decided.by}` : '';
  const carries = item.kind === 'calendar' ? 'the worker' : 'leadsync sync';
  const use = answersTo(item, connection.fields);
  const lines = [
    `${String(item.id).padStart(5)}  ${recordOf(one, connection.name)}`,
    ...(item.kind === 'match'
      ? matchLines(item, connection.fields)
      : [`${item.message} [${item.code}]`, ...(item.kind === 'calendar' ? [] : valueLines(item, one))]),
    answerOf(item) !== null && `decided: ${decisionOn(item)}${by}; ${carries} carries it out`,
    answerOf(item) === null && use.length > 0 && `--use ${use.join('|')}`,
  ];
  return shownDates(lines.filter(Boolean).join('\n    '), connection.timeZone);
}

function valueLines(item: Conflict, { connection }: Named): readonly string[] {
  if (item.records !== null) return recordLines(item.records.lead, item.records.row, connection.fields);
  const heading = headingOf(connection.fields, item.field);
  const values = `lead ${showCell(item.lead)} | ${otherValue(item, showCell(item.rowValue))}`;
  return [item.field === '' ? '' : `${heading}: ${values}`, describeAuthor(item.author)];
}

function matchLines(
  { score, why, state, lead, cells }: Match,
  fields: Named['connection']['fields'],
): readonly string[] {
  const likeness = `the row and a lead may be one, ${Math.round(score * 100)} %`;
  return [`${likeness}: ${why} (${stateWords[state]})`, ...recordLines(lead, cells, fields)];
}

/** What two records show, field by field. */
function recordLines(
  lead: Cells | null,
  row: Cells | null,
  fields: Named['connection']['fields'],
): readonly string[] {
  return fields.flatMap(({ field, column }) => {
    const [here, there] = [lead?.[field] ?? null, row?.[field] ?? null];
    if (sameCell(here, null) && sameCell(there, null)) return [];
    const shown = sameCell(here, there)
      ? `both ${showCell(here)}`
      : `lead ${showCell(here)} | row ${showCell(there)}`;
    return [`${column}: ${shown}`];
  });
}

export function decisionOn(item: Named['item']): string {
  if (item.kind === 'match') return stateWords[item.state];
  if (item.kind === 'calendar')
    return item.resolution === 'restore' ? 'the entries are written again' : 'the entries were deleted';
  if (item.kind === 'delete') return item.resolution === 'restore' ? 'it is written again' : 'it is deleted';
  const answer = answerOf(item);
  return item.field === '' ? whatIsMade(answer, item.code).result : `the ${answer}'s value`;
}

export interface Named {
  readonly item: HeldItem;
  readonly connection: ConnectionConfig;
}

async function namedHeld(
  pool: pg.Pool,
  connections: readonly ConnectionConfig[],
  id: number | null = null,
): Promise<readonly Named[]> {
  const items = await listHeld(pool, connections, id === null ? {} : { id });
  return connections.flatMap((connection) =>
    items.flatMap((item) => (item.connection === connection.name ? [{ item, connection }] : [])),
  );
}

/** The record that it is about, as a line names it; `place`: more to name, as its connection. */
export function recordOf({ item }: Named, place: string | null = null): string {
  if (item.kind === 'calendar') return nameRecord(item.company, 'calendar', place);
  return nameRecord(item.company, rowName(item.row), place, item.company === null ? item.leadId : null);
}

interface ResolveOptions extends CommonOptions {
  readonly use: Answer | 'target';
  readonly all?: boolean;
  readonly requestedBy?: string;
}

/**
 * `item`: the number of one, or a company or the owner of a calendar, of which all that waits is answered. `--all`: all that takes this
 * answer; `--requested-by`: all edits that a person requested.
 */
export function resolve(
  typed: string | undefined,
  { use: given, all = false, requestedBy, ...options }: ResolveOptions,
): Promise<void> {
  const use = given === 'target' ? 'row' : given;
  if ([typed !== undefined, all, requestedBy !== undefined].filter(Boolean).length !== 1)
    throw new LeadsyncError(
      'usage.invalid',
      'name one number or company, --all or --requested-by; nothing was decided',
      { help: 'leadsync conflicts lists the numbers.' },
    );
  return withStore(options, async (pool, { connections }) => {
    const number = /^\d{1,15}$/.test(typed ?? '') ? Number(typed) : null;
    const held = await namedHeld(pool, connections, number);
    const chosen = typed === undefined ? inBulk(held, use, requestedBy) : pickOf(held, typed, use);
    // What takes the answer nowhere is refused with what it takes.
    const isRefused = chosen.every((one) => !takes(one, use));
    const [one] = typed !== undefined && (chosen.length === 1 || isRefused) ? chosen : [];
    if (one === undefined) {
      const isOpen = (item: Named): boolean =>
        takes(item, use) && (typed !== undefined || isClear(item, use));
      const others =
        typed === undefined && requestedBy === undefined
          ? held.filter((other) => !chosen.includes(other))
          : [];
      return answerAll(pool, connections, { chosen, others, isOpen, use, json: options.json ?? false });
    }
    const id = String(one.item.id);
    const item = await decide(pool, connections, id, { use, by: userName() });
    const { connection, kind } = item;
    const carries = workersKinds.has(kind) ? 'the worker' : `leadsync sync --connection ${connection}`;
    if (options.json)
      return printJson({ id, connection, use: sideOf(use), applies: appliesBy(workersKinds.has(kind)) });
    print(`${describeDecided({ ...one, item }, use)}.`);
    if (kind !== 'edit' || use !== 'lead') print(`Nothing has been written yet; ${carries} carries it out.`);
  });
}

/** What a worker carries out, and not the next sync. */
const workersKinds: ReadonlySet<HeldItem['kind']> = new Set(['edit', 'calendar']);

const sideOf = (use: Answer): string => (use === 'row' ? 'target' : use);

const appliesBy = (isWorkers: boolean): string => (isWorkers ? 'by the worker' : 'next sync');

function takes({ item, connection }: Named, use: Answer): boolean {
  return answersTo(item, connection.fields).includes(
    item.kind === 'edit' && use === 'row' ? 'requested' : use,
  );
}

/** Whether it may be answered unseen: a whole record has no side's value, and an uncertain match or a delete takes somebody who looks. */
function isClear({ item }: Named, use: Answer): boolean {
  if (item.kind === 'match') return use !== 'link' || item.state === 'proposed';
  return item.kind !== 'record' && !(item.kind === 'delete' && use === 'deleted');
}

/** Edits have an option of their own, for `lead` and `row` mean something else of them. */
function inBulk(held: readonly Named[], use: Answer, requestedBy: string | undefined): readonly Named[] {
  const person = requestedBy?.toLowerCase();
  if (person !== undefined)
    return held.filter(({ item }) => item.kind === 'edit' && item.requestedBy === person);
  const isOfFields = use === 'lead' || use === 'row';
  return held.filter(({ item }) => {
    if (item.kind === 'match') return use === 'link' || use === 'apart';
    if (item.kind === 'calendar' || item.kind === 'delete') return isDeleteAnswer(use);
    return item.kind === 'edit' ? use === 'requested' : isOfFields;
  });
}

/** By number, id, company, or part of the company. Throws `usage.unknown-conflict`, and `usage.ambiguous-lead` when several records fit. */
function pickOf(held: readonly Named[], typed: string, use: Answer): readonly Named[] {
  if (/^\d+$/.test(typed)) {
    const found = held.filter(({ item }) => item.id === Number(typed));
    if (found.length === 0) throw unknownItem(`nothing with the number ${short(typed)} waits for an answer`);
    return found;
  }
  const wanted = folded(typed);
  const nameOf = ({ item }: Named): string =>
    folded(
      [item.company, item.kind === 'match' ? plainCell(item.cells['companyName'] ?? null) : null].join(' '),
    );
  const found = held.filter((one) => {
    const leadId = one.item.kind === 'calendar' ? '' : one.item.leadId;
    return (
      (leadId !== '' && idKey(leadId) === idKey(typed)) || (wanted !== '' && nameOf(one).includes(wanted))
    );
  });
  const exact = found.filter(({ item }) => folded(item.company ?? '') === wanted);
  const best = exact.length > 0 ? exact : found;
  const records = new Set(best.map(keyOf)).size;
  if (records === 0) throw unknownItem(`nothing waits for an answer of ${short(typed)}`);
  if (records === 1 && (use !== 'link' || best.length === 1)) return best;
  const lines = best.slice(0, shown).map((one) => `${one.item.id}  ${recordOf(one, one.connection.name)}`);
  throw new LeadsyncError(
    'usage.ambiguous-lead',
    `${records > 1 ? `something waits of ${records} companies` : `there are ${best.length} matches`} with ${JSON.stringify(short(typed))} in the name; nothing was decided`,
    { help: [...lines, 'Type more of the name, or the number.'].join('\n  ') },
  );
}

/** The rows that may be one lead are one record. */
function keyOf(one: Named): string {
  const { item, connection } = one;
  if (item.kind === 'calendar') return item.recipient;
  return `${connection.name} ${item.leadId || recordOf(one)}`;
}

const shown = 20;

interface Bulk {
  readonly chosen: readonly Named[];
  /** What takes other answers. */
  readonly others: readonly Named[];
  readonly isOpen: (one: Named) => boolean;
  readonly use: Answer;
  readonly json: boolean;
}

/** The rest is left to `resolve NUMBER`. */
async function answerAll(
  pool: pg.Pool,
  connections: Config['connections'],
  { chosen, others, isOpen, use, json }: Bulk,
): Promise<void> {
  const [decided, left, changed]: [Named[], Named[], Named[]] = [[], [], []];
  const open = chosen.filter(({ item }) => answerOf(item) === null);
  const before = chosen.length - open.length;
  for (const one of open)
    if (!isOpen(one)) left.push(one);
    else if (await decideAsListed(pool, connections, one.item, use)) decided.push(one);
    else changed.push(one);
  process.exitCode = left.length + changed.length === 0 ? exitCodes.done : exitCodes.incomplete;
  const ids = (items: readonly Named[]): readonly string[] => items.map(({ item }) => String(item.id));
  const isWorkers = chosen.every(({ item }) => workersKinds.has(item.kind));
  if (json) {
    const numbers = { decided: ids(decided), decidedBefore: before, left: ids(left), changed: ids(changed) };
    return printJson({ use: sideOf(use), ...numbers, applies: appliesBy(isWorkers) });
  }
  const further = others.filter(({ item }) => answerOf(item) === null).length;
  const isRequested = use === 'requested' || (isWorkers && use === 'row');
  const kept = `the ${isRequested ? 'requested' : `${use}'s`} value is kept`;
  const lines = [
    ...decided.slice(0, shown).map((one) => `  ${describeDecided(one, use)}`),
    decided.length > shown && `  and ${decided.length - shown} more`,
    chosen.length === 0
      ? 'there are no conflicts that take this answer'
      : `${counted(decided.length, 'conflict')} decided: ${decisionWords[use] === undefined ? kept : use}.`,
    before > 0 && `${counted(before, 'was decided before and stays', 'were decided before and stay')} so.`,
    left.length > 0 &&
      `${counted(left.length, 'item is', 'items are')} left: --use ${use} cannot be chosen there, or not unseen.`,
    changed.length > 0 &&
      `${counted(changed.length, 'item has changed meanwhile and stays', 'items have changed meanwhile and stay')} open.`,
    further > 0 &&
      `${counted(further, 'further item takes another answer', 'further items take another answer')}.`,
    left.length + changed.length + further > 0 && 'leadsync conflicts lists what is open.',
    decided.length > 0 &&
      `Nothing has been written yet; ${isWorkers ? 'the worker' : 'leadsync sync'} carries it out.`,
  ];
  print(lines.filter((line) => line !== false).join('\n'));
}

/** False: it is over, or has changed since it was listed. */
async function decideAsListed(
  pool: pg.Pool,
  connections: Config['connections'],
  listed: HeldItem,
  use: Answer,
): Promise<boolean> {
  const decision = { use, by: userName() };
  try {
    await decide(pool, connections, String(listed.id), decision, (now) => isDeepStrictEqual(now, listed));
    return true;
  } catch (error) {
    if (error instanceof LeadsyncError && gone.has(error.code)) return false;
    throw error;
  }
}

const gone: ReadonlySet<string> = new Set([
  'usage.unknown-conflict',
  'usage.conflict-changed',
  'usage.not-decidable',
  'usage.match-taken',
]);

/** What a decision keeps and what it gives up, both as they were at that moment. */
function describeDecided(one: Named, use: Answer): string {
  const { item, connection } = one;
  const record = recordOf(one) || 'the row';
  const words = decisionWords[use];
  if (item.kind === 'delete' && item.records !== null) return `${record}: ${deleteWords(item, use)}`;
  if (words !== undefined || item.kind === 'match') return `${record}: ${words}`;
  const isOfField = item.kind === 'field' || item.kind === 'edit';
  if (!isOfField) return `${record}: ${whatIsMade(use, item.code).result}`;
  const { field, lead, rowValue } = item;
  const sides = [
    `${showCell(lead)} of the lead`,
    `${showCell(rowValue)} of the ${item.kind === 'edit' ? 'request' : 'row'}`,
  ];
  const [kept, given] = use === 'lead' ? sides : sides.toReversed();
  const text = `${headingOf(connection.fields, field)} of ${record}: ${kept} is kept, ${given} is given up`;
  return shownDates(text, connection.timeZone);
}

function deleteWords({ code }: Conflict, use: Answer): string {
  const [gone, left] = code === deleteQuestions.row ? ['row', 'lead'] : ['lead', 'row'];
  return use === 'restore' ? `the ${gone} is made again of the ${left}` : `the ${left} is deleted too`;
}

const decisionWords: Readonly<Partial<Record<Answer, string>>> = {
  link: 'the row and the lead are one',
  apart: 'the row and the lead are two',
  restore: 'the entries are written into the calendar again',
  deleted: 'the entries count as deleted',
};
