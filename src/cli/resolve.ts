import { isDeepStrictEqual } from 'node:util';
import type pg from 'pg';
import type { Config } from '../config/config.ts';
import { counted } from '../core/lead/counted.ts';
import { LeadsyncError } from '../lib/errors.ts';
import { idKey } from '../core/lead/lead.ts';
import { headingOf } from '../core/lead/mapping.ts';
import { shownDates } from '../core/lead/shown-date.ts';
import type { Answer } from '../core/merge/answers.ts';
import { folded, plainCell, showCell } from '../core/lead/value.ts';
import { answerOf, answersTo, decide, unknownItem } from '../review/decide-held.ts';
import type { HeldItem } from '../store/held.ts';
import { type Named, namedHeld, recordOf } from './held.ts';
import { short, userName } from './names.ts';
import { exitCodes, print, printJson } from './output.ts';
import { type CommonOptions, withStore } from './with-store.ts';

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
      return answerAll(pool, connections, { chosen, isOpen, use, json: options.json ?? false });
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

/** Whether it may be answered unseen: a whole record has no side's value, and an uncertain match takes somebody who looks. */
function isClear({ item }: Named, use: Answer): boolean {
  return item.kind === 'match' ? use !== 'link' || item.state === 'proposed' : item.kind !== 'record';
}

const whose: Readonly<Partial<Record<Answer, string>>> = {
  lead: "lead's",
  row: "row's",
  requested: 'requested',
};

/** Edits have an option of their own, for `lead` and `row` mean something else of them. */
function inBulk(held: readonly Named[], use: Answer, requestedBy: string | undefined): readonly Named[] {
  const person = requestedBy?.toLowerCase();
  if (person !== undefined)
    return held.filter(({ item }) => item.kind === 'edit' && item.requestedBy === person);
  const isOfFields = use === 'lead' || use === 'row';
  return held.filter(({ item }) => {
    if (item.kind === 'match') return use === 'link' || use === 'apart';
    if (item.kind === 'calendar') return use === 'restore' || use === 'deleted';
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
  readonly isOpen: (one: Named) => boolean;
  readonly use: Answer;
  readonly json: boolean;
}

/** The rest is left to `resolve NUMBER`. */
async function answerAll(
  pool: pg.Pool,
  connections: Config['connections'],
  { chosen, isOpen, use, json }: Bulk,
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
  if (chosen.length === 0) return print('there are no conflicts that take this answer');
  const whoseValue = isWorkers && use === 'row' ? 'requested' : whose[use];
  const lines = [
    ...decided.slice(0, shown).map((one) => `  ${describeDecided(one, use)}`),
    decided.length > shown && `  and ${decided.length - shown} more`,
    `${counted(decided.length, 'conflict')} decided: ${whoseValue === undefined ? use : `the ${whoseValue} value is kept`}.`,
    before > 0 && `${counted(before, 'was decided before and stays', 'were decided before and stay')} so.`,
    left.length > 0 &&
      `${counted(left.length, 'item is', 'items are')} left: --use ${use} cannot be chosen there, or not unseen.`,
    changed.length > 0 &&
      `${counted(changed.length, 'item has changed meanwhile and stays', 'items have changed meanwhile and stay')} open.`,
    left.length + changed.length > 0 && 'leadsync conflicts lists what is open.',
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
  if (words !== undefined) return `${record}: ${words}`;
  const isOfField = item.kind === 'field' || item.kind === 'edit';
  if (!isOfField) return `${record}: the ${use === 'lead' ? 'row' : 'lead'} is made again`;
  const { field, lead, rowValue } = item;
  const sides = [
    `${showCell(lead)} of the lead`,
    `${showCell(rowValue)} of the ${item.kind === 'edit' ? 'request' : 'row'}`,
  ];
  const [kept, given] = use === 'lead' ? sides : sides.toReversed();
  const text = `${headingOf(connection.fields, field)} of ${record}: ${kept} is kept, ${given} is given up`;
  return shownDates(text, connection.timeZone);
}

const decisionWords: Readonly<Partial<Record<Answer, string>>> = {
  link: 'the row and the lead are one',
  apart: 'the row and the lead are two',
  restore: 'the entries are written into the calendar again',
  deleted: 'the entries count as deleted',
};
