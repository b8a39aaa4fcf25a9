import type pg from 'pg';
import type { Config } from '../config/config.ts';
import { counted } from '../core/lead/counted.ts';
import { LeadsyncError } from '../errors.ts';
import { idKey } from '../core/lead/lead.ts';
import { type FieldMapping, headingOf } from '../core/lead/mapping.ts';
import { shownDates } from '../core/lead/shown-date.ts';
import { folded, sameCell, showCell } from '../core/lead/value.ts';
import { type Conflict, listConflicts } from '../store/conflicts.ts';
import { heldEditsOf } from '../store/requested-edits.ts';
import { decidableSides, decide, isEdit, type Side } from '../review/decide-conflict.ts';
import type { CommonOptions } from './program.ts';
import { companiesIn } from './companies.ts';
import { type Companies, companyOfConflict, nameRecord, rowName, short, userName } from './names.ts';
import { exitCodes, print, printJson } from './output.ts';
import { withStore } from './with-store.ts';

interface ResolveOptions extends CommonOptions {
  readonly use: Side | 'row';
  readonly all?: boolean;
  readonly requestedBy?: string;
}

/**
 * `leadsync resolve ITEM --use lead|row`: records a decision; the next sync carries it out. `item`: the number of one, or a
 * company, of which each held field is decided. `--all`: for all fields that a sync holds; `--requested-by`: for all edits that
 * a person requested.
 */
export function resolve(
  item: string | undefined,
  { use: side, all = false, requestedBy, ...options }: ResolveOptions,
): Promise<void> {
  const use = side === 'row' ? 'target' : side;
  if ([item !== undefined, all, requestedBy !== undefined].filter(Boolean).length !== 1)
    throw new LeadsyncError(
      'usage.invalid',
      'name one number or company, --all or --requested-by; nothing was decided',
      { help: 'leadsync conflicts lists the numbers.' },
    );
  return withStore(options, async (pool, config) => {
    const ofCompany = item === undefined || /^\d+$/.test(item) ? null : await heldOf(pool, config, item);
    if (item === undefined || (ofCompany !== null && ofCompany.length > 1))
      return resolveAll(pool, config, use, options.json ?? false, { requestedBy, ofCompany });
    const id = String(ofCompany?.[0] ?? item);
    const held = await decide(pool, id, { use, by: userName() }, fieldsIn(config));
    const { connection, field, leadId, row } = held;
    if (options.json)
      return printJson({ id, connection, use, applies: isEdit(held) ? 'by the worker' : 'next sync' });
    const company = companyOfConflict(held, await companiesIn(pool, connection, [held]));
    const name = nameRecord(company, rowName(row), company === null ? leadId : null) || 'The row';
    const heading = headingOf(fieldsIn(config)(connection) ?? [], field);
    print(
      field === ''
        ? `${name}: the ${use === 'lead' ? 'row' : 'lead'} is made again.`
        : isEdit(held) && use === 'target'
          ? `${name}: the requested ${heading} is written.`
          : `${name}: the ${whose[use]} ${heading} is kept.`,
    );
    if (!isEdit(held))
      print(`Nothing has been written yet; leadsync sync --connection ${connection} carries it out.`);
    else if (use === 'target') print('Nothing has been written yet; the worker carries it out.');
  });
}

/**
 * The numbers of what is held of one record, found by its id, its company, or else part of the company. Throws
 * `usage.unknown-conflict`, or `usage.ambiguous-lead` when several records fit.
 */
async function heldOf(pool: pg.Pool, { connections }: Config, typed: string): Promise<readonly number[]> {
  const found: { readonly id: number; readonly record: string; readonly company: string }[] = [];
  const wanted = folded(typed);
  for (const { name } of connections) {
    const items = await listConflicts(pool, name);
    const companies = await companiesIn(pool, name, items);
    for (const one of items) {
      const company = companyOfConflict(one, companies) ?? '';
      const isIt = one.leadId !== '' && idKey(one.leadId) === idKey(typed);
      if (!isIt && !(wanted !== '' && folded(company).includes(wanted))) continue;
      const record = nameRecord(company, rowName(one.row), name, one.leadId);
      found.push({ id: one.id, record, company });
    }
  }
  const exact = found.filter(({ company }) => folded(company) === wanted);
  const best = exact.length > 0 ? exact : found;
  const records = [...new Set(best.map(({ record }) => record))];
  if (records.length > 1)
    throw new LeadsyncError(
      'usage.ambiguous-lead',
      `something is held of ${records.length} companies with ${JSON.stringify(short(typed))} in the name; nothing was decided`,
      { help: [...records.slice(0, shown), 'Type more of the name, or the number.'].join('\n  ') },
    );
  if (records.length === 0)
    throw new LeadsyncError('usage.unknown-conflict', `nothing is held of ${short(typed)}`, {
      help: 'leadsync conflicts lists all that is held.',
    });
  return best.map(({ id }) => id);
}

const whose: Readonly<Record<Side, string>> = { lead: "lead's", target: "row's" };

const fieldsIn =
  ({ connections }: Config) =>
  (name: string) =>
    connections.find((one) => one.name === name)?.fields;

/** Maximum listed in text. */
const shown = 20;

/**
 * Decides every undecided held field that allows `use`, if it is still held with the values listed now. Records held as a
 * whole have no side's value: they are left to `resolve ID`.
 */
async function resolveAll(
  pool: pg.Pool,
  config: Config,
  use: Side,
  json: boolean,
  {
    requestedBy,
    ofCompany,
  }: { readonly requestedBy: string | undefined; readonly ofCompany: readonly number[] | null },
): Promise<void> {
  const decided: Conflict[] = [];
  const left: Conflict[] = [];
  const changed: Conflict[] = [];
  let before = 0;
  for (const { name, fields } of config.connections) {
    const chosen = requestedBy === undefined ? ofCompany : await heldEditsOf(pool, name, requestedBy);
    for (const item of await listConflicts(pool, name)) {
      if (chosen === null ? isEdit(item) : !chosen.includes(item.id)) continue;
      if (item.resolution !== null) before += 1;
      else if (item.field === '' || !decidableSides(item, fields).includes(use)) left.push(item);
      else ((await decideAsListed(pool, config, item, use)) ? decided : changed).push(item);
    }
  }
  process.exitCode = left.length + changed.length === 0 ? exitCodes.done : exitCodes.incomplete;
  const ids = (items: readonly Conflict[]): readonly string[] => items.map(({ id }) => String(id));
  if (json) {
    const numbers = { decided: ids(decided), decidedBefore: before, left: ids(left), changed: ids(changed) };
    return printJson({ use, ...numbers, applies: requestedBy === undefined ? 'next sync' : 'by the worker' });
  }
  if (decided.length + before + left.length + changed.length === 0) return print('there are no conflicts');
  const lines: (string | false)[] = [];
  for (const [connection, items] of Map.groupBy(decided.slice(0, shown), (item) => item.connection)) {
    const companies = await companiesIn(pool, connection, items);
    const timeZone = config.connections.find(({ name }) => name === connection)?.timeZone ?? 'UTC';
    const mapped = fieldsIn(config)(connection) ?? [];
    lines.push(
      ...items.map((item) => `  ${shownDates(describeDecided(item, use, companies, mapped), timeZone)}`),
    );
  }
  lines.push(
    decided.length > shown && `  and ${decided.length - shown} more`,
    `${counted(decided.length, 'conflict')} decided: the ${requestedBy !== undefined && use === 'target' ? 'requested' : whose[use]} value is kept.`,
    before > 0 && `${counted(before, 'was decided before and stays', 'were decided before and stay')} so.`,
    left.length > 0 &&
      `${counted(left.length, 'item is', 'items are')} left: the ${whose[use]} value cannot be chosen there.`,
    changed.length > 0 &&
      `${counted(changed.length, 'item has changed meanwhile and stays', 'items have changed meanwhile and stay')} open.`,
    left.length + changed.length > 0 && 'leadsync conflicts lists what is open.',
    decided.length > 0 &&
      `Nothing has been written yet; ${requestedBy === undefined ? 'leadsync sync' : 'the worker'} carries it out.`,
  );
  print(lines.filter((line) => line !== false).join('\n'));
}

/** False: it is over, or has changed since it was listed. */
async function decideAsListed(pool: pg.Pool, config: Config, listed: Conflict, use: Side): Promise<boolean> {
  const isSeen = (now: Conflict): boolean =>
    now.resolution === null &&
    now.code === listed.code &&
    sameCell(now.lead, listed.lead) &&
    sameCell(now.rowValue, listed.rowValue);
  try {
    await decide(pool, String(listed.id), { use, by: userName() }, fieldsIn(config), isSeen);
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
]);

function describeDecided(
  item: Conflict,
  use: Side,
  companies: Companies,
  fields: readonly FieldMapping[],
): string {
  const { leadId, row, field, lead, rowValue } = item;
  const [kept, given] = use === 'lead' ? [lead, rowValue] : [rowValue, lead];
  const company = companyOfConflict(item, companies);
  const name = nameRecord(company, rowName(row), company === null ? leadId : null);
  return `${name}: ${headingOf(fields, field)} ${showCell(kept)} is kept, ${showCell(given)} given up`;
}
