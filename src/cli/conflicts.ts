import { plainCell, showCell } from '../core/lead/value.ts';
import { type Conflict, listConflicts } from '../store/conflicts.ts';
import { decidableSides, isEdit } from '../review/decide-conflict.ts';
import { companiesIn } from './companies.ts';
import { companyOfConflict, describeAuthor, nameRecord, otherValue, rowName } from './names.ts';
import type { CommonOptions } from './program.ts';
import { print, printJson } from './output.ts';
import { withStore } from './with-store.ts';

type NamedConflict = Conflict & { readonly company: string | null };

/** `leadsync conflicts`: all held items, with both values. */
export function conflicts(options: CommonOptions): Promise<void> {
  return withStore(options, async (pool, { connections }) => {
    const held: NamedConflict[] = [];
    let isDecidable = false;
    for (const connection of connections) {
      const items = await listConflicts(pool, connection.name);
      const companies = await companiesIn(pool, connection.name, items);
      held.push(...items.map((item) => ({ ...item, company: companyOfConflict(item, companies) })));
      isDecidable ||= items.some((item) => decidableSides(item, connection.fields).length > 0);
    }
    if (options.json) return printJson({ conflicts: held.map(conflictJson) });
    if (held.length === 0) return print('there are no conflicts');
    for (const item of held) print(describeConflict(item));
    if (isDecidable)
      print(
        '\nleadsync resolve ID --use lead|target decides one, --all in place of ID every field; the next sync carries it out',
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

function describeConflict(item: NamedConflict): string {
  const by = item.decided === null ? '' : `, by ${item.decided.by}`;
  return [
    `${String(item.id).padStart(5)}  ${nameRecord(item.company, rowName(item.row), item.connection, item.leadId)}`,
    `${item.message} [${item.code}]`,
    item.field !== '' &&
      `${item.field}: lead ${showCell(item.lead)} | ${otherValue(item, showCell(item.rowValue))}`,
    describeAuthor(item.author),
    item.resolution !== null && `decided: ${decisionOn(item)}${by}; leadsync sync carries it out`,
  ]
    .filter(Boolean)
    .join('\n    ');
}

/** What was decided on it, in words. */
export function decisionOn({ field, resolution }: Conflict): string {
  return field === '' ? 'it is made again' : `the ${resolution}'s value`;
}
