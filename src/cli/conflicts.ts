import { shownDates } from '../core/lead/shown-date.ts';
import { plainCell, showCell } from '../core/lead/value.ts';
import { type Conflict, listConflicts } from '../store/conflicts.ts';
import { decidableSides, isEdit } from '../review/decide-conflict.ts';
import { headingOf } from '../core/lead/mapping.ts';
import { listMatches, type Match } from '../store/matches.ts';
import { companiesIn } from './companies.ts';
import { companyOfConflict, describeAuthor, nameRecord, otherValue, rowName } from './names.ts';
import type { CommonOptions } from './program.ts';
import { print, printJson } from './output.ts';
import { withStore } from './with-store.ts';

/** A held item with its company and what its field is called. */
type NamedConflict = Conflict & {
  readonly company: string | null;
  readonly heading: string;
  /** The numbers by which `match` decides it. */
  readonly matches: readonly number[];
  readonly timeZone: string;
};

/** `leadsync conflicts`: all held items, with both values. */
export function conflicts(options: CommonOptions): Promise<void> {
  return withStore(options, async (pool, { connections }) => {
    const held: NamedConflict[] = [];
    let isDecidable = false;
    const matches = await listMatches(
      pool,
      connections.map(({ name }) => name),
    );
    for (const connection of connections) {
      const items = await listConflicts(pool, connection.name);
      const companies = await companiesIn(pool, connection.name, items);
      held.push(
        ...items.map((item) => ({
          ...item,
          company: companyOfConflict(item, companies),
          heading: headingOf(connection.fields, item.field),
          matches: matchesOf(item, matches),
          timeZone: connection.timeZone,
        })),
      );
      isDecidable ||= items.some((item) => decidableSides(item, connection.fields).length > 0);
    }
    if (options.json) return printJson({ conflicts: held.map(conflictJson) });
    if (held.length === 0) return print('there are no conflicts');
    for (const item of held) print(describeConflict(item));
    if (isDecidable)
      print(
        '\nleadsync resolve NUMBER --use lead|row decides one, a company in place of NUMBER all of that company, --all every field; the next sync carries it out',
      );
    if (held.some(isEdit))
      print(
        'of a requested edit (edit.…), target is the requested value; the worker carries it out, --requested-by PERSON decides all of one person',
      );
  });
}

function conflictJson(item: NamedConflict): object {
  return {
    id: String(item.id),
    connection: item.connection,
    code: item.code,
    message: item.message,
    ...(item.company !== null && { company: item.company }),
    ...(item.leadId !== '' && { leadId: item.leadId }),
    ...(item.row !== null && { row: item.row }),
    ...(item.field !== '' && {
      field: item.field,
      lead: plainCell(item.lead),
      target: plainCell(item.rowValue),
    }),
    ...(item.author !== null && { changedBy: item.author }),
    ...(item.requestedBy !== null && { requestedBy: item.requestedBy }),
    resolution: item.resolution,
    ...(item.decided !== null && { decided: item.decided }),
    since: item.since,
  };
}

/** What may be one is decided by the number that `match` shows, so that there is one number for one item. */
function matchesOf(
  { code, connection, leadId, row }: Conflict,
  matches: readonly Match[],
): readonly number[] {
  if (!code.startsWith('match.')) return [];
  const isOf = (one: Match): boolean => (leadId === '' ? one.row === row : one.leadId === leadId);
  return matches.filter((one) => one.connection === connection && isOf(one)).map(({ id }) => id);
}

const numberOf = ({ id, code }: Conflict): string => (code.startsWith('match.') ? '' : String(id));

function describeConflict(item: NamedConflict): string {
  const by = item.decided === null ? '' : `, by ${item.decided.by}`;
  const lines = [
    `${numberOf(item).padStart(5)}  ${nameRecord(item.company, rowName(item.row), item.connection, item.company === null ? item.leadId : null)}`,
    `${item.message} [${item.code}]`,
    item.field !== '' &&
      `${item.heading}: lead ${showCell(item.lead)} | ${otherValue(item, showCell(item.rowValue))}`,
    describeAuthor(item.author),
    item.matches.length > 0 && `leadsync match --accept ${item.matches.join('|')}, or --reject`,
    item.resolution !== null && `decided: ${decisionOn(item)}${by}; leadsync sync carries it out`,
  ];
  return shownDates(lines.filter(Boolean).join('\n    '), item.timeZone);
}

/** What was decided on it, in words. */
export function decisionOn({ field, resolution }: Conflict): string {
  return field === '' ? 'it is made again' : `the ${resolution}'s value`;
}
