import type pg from 'pg';
import type { Config } from '../config/config.ts';
import { counted } from '../core/lead/counted.ts';
import { LeadsyncError } from '../errors.ts';
import { sameCell, showCell } from '../core/lead/value.ts';
import { type Conflict, listConflicts } from '../store/conflicts.ts';
import { heldEditsOf } from '../store/requested-edits.ts';
import { decidableSides, decide, isEdit, type Side } from '../review/decide-conflict.ts';
import type { CommonOptions } from './program.ts';
import { companiesIn } from './companies.ts';
import { type Companies, companyOfConflict, nameRecord, rowName, userName } from './names.ts';
import { exitCodes, print, printJson } from './output.ts';
import { withStore } from './with-store.ts';

interface ResolveOptions extends CommonOptions {
  readonly use: Side;
  readonly all?: boolean;
  readonly requestedBy?: string;
}

/**
 * `leadsync resolve ID --use lead|target`: records a decision; the next sync carries it out. `--all`: for all fields that a
 * sync holds; `--requested-by`: for all edits that a person requested.
 */
export function resolve(
  id: string | undefined,
  { use, all = false, requestedBy, ...options }: ResolveOptions,
): Promise<void> {
  if ([id !== undefined, all, requestedBy !== undefined].filter(Boolean).length !== 1)
    throw new LeadsyncError('usage.invalid', 'name one id, --all or --requested-by; nothing was decided', {
      help: 'leadsync conflicts lists the ids.',
    });
  return withStore(options, async (pool, config) => {
    if (id === undefined) return resolveAll(pool, config, use, options.json ?? false, requestedBy ?? null);
    const held = await decide(pool, id, { use, by: userName() }, fieldsIn(config));
    const { connection, field, leadId, row } = held;
    if (options.json)
      return printJson({ id, connection, use, applies: isEdit(held) ? 'by the worker' : 'next sync' });
    const company = companyOfConflict(held, await companiesIn(pool, connection, [held]));
    const name = nameRecord(company, rowName(row), leadId) || 'The row';
    print(
      field === ''
        ? `${name}: the ${use === 'lead' ? 'row' : 'lead'} is made again.`
        : isEdit(held) && use === 'target'
          ? `${name}: the requested ${field} is written.`
          : `${name}: the ${whose[use]} ${field} is kept.`,
    );
    if (!isEdit(held))
      print(`Nothing has been written yet; leadsync sync --connection ${connection} carries it out.`);
    else if (use === 'target') print('Nothing has been written yet; the worker carries it out.');
  });
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
  requestedBy: string | null,
): Promise<void> {
  const decided: Conflict[] = [];
  const left: Conflict[] = [];
  const changed: Conflict[] = [];
  let before = 0;
  for (const { name, fields } of config.connections) {
    const ofPerson = requestedBy === null ? null : await heldEditsOf(pool, name, requestedBy);
    for (const item of await listConflicts(pool, name)) {
      if (ofPerson === null ? isEdit(item) : !ofPerson.includes(item.id)) continue;
      if (item.resolution !== null) before += 1;
      else if (item.field === '' || !decidableSides(item, fields).includes(use)) left.push(item);
      else ((await decideAsListed(pool, config, item, use)) ? decided : changed).push(item);
    }
  }
  process.exitCode = left.length + changed.length === 0 ? exitCodes.done : exitCodes.incomplete;
  const ids = (items: readonly Conflict[]): readonly string[] => items.map(({ id }) => String(id));
  if (json) {
    const numbers = { decided: ids(decided), decidedBefore: before, left: ids(left), changed: ids(changed) };
    return printJson({ use, ...numbers, applies: requestedBy === null ? 'next sync' : 'by the worker' });
  }
  if (decided.length + before + left.length + changed.length === 0) return print('there are no conflicts');
  const lines: (string | false)[] = [];
  for (const [connection, items] of Map.groupBy(decided.slice(0, shown), (item) => item.connection)) {
    const companies = await companiesIn(pool, connection, items);
    lines.push(...items.map((item) => `  ${describeDecided(item, use, companies)}`));
  }
  lines.push(
    decided.length > shown && `  and ${decided.length - shown} more`,
    `${counted(decided.length, 'conflict')} decided: the ${requestedBy !== null && use === 'target' ? 'requested' : whose[use]} value is kept.`,
    before > 0 && `${counted(before, 'was decided before and stays', 'were decided before and stay')} so.`,
    left.length > 0 &&
      `${counted(left.length, 'item is', 'items are')} left: the ${whose[use]} value cannot be chosen there.`,
    changed.length > 0 &&
      `${counted(changed.length, 'item has changed meanwhile and stays', 'items have changed meanwhile and stay')} open.`,
    left.length + changed.length > 0 && 'leadsync conflicts lists what is open.',
    decided.length > 0 &&
      `Nothing has been written yet; ${requestedBy === null ? 'leadsync sync' : 'the worker'} carries it out.`,
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

function describeDecided(item: Conflict, use: Side, companies: Companies): string {
  const { leadId, row, field, lead, rowValue } = item;
  const [kept, given] = use === 'lead' ? [lead, rowValue] : [rowValue, lead];
  const name = nameRecord(companyOfConflict(item, companies), rowName(row));
  return `${name}: ${field} ${showCell(kept)} is kept, ${showCell(given)} given up  ${leadId}`;
}
