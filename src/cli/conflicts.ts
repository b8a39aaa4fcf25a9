import { headingOf } from '../core/lead/mapping.ts';
import { shownDates } from '../core/lead/shown-date.ts';
import { type Cells, plainCell, sameCell, showCell } from '../core/lead/value.ts';
import { answerOf, answersTo } from '../review/decide-held.ts';
import type { Conflict } from '../store/conflicts.ts';
import type { Match, MatchState } from '../store/matches.ts';
import { type Named, namedHeld, recordOf } from './held.ts';
import { describeAuthor, otherValue } from './names.ts';
import { print, printJson } from './output.ts';
import { type CommonOptions, withStore } from './with-store.ts';

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
    return { ...head, state, score, why, ...place, lead: plain(lead), target: plain(cells), ...decided };
  }
  const { code, message, field, author, requestedBy, resolution, since } = item;
  return {
    ...head,
    code,
    message,
    ...place,
    ...(field !== '' && { field, lead: plainCell(item.lead), target: plainCell(item.rowValue) }),
    ...(author !== null && { changedBy: author }),
    ...(requestedBy !== null && { requestedBy }),
    resolution,
    ...decided,
    since,
  };
}

function plain(cells: Cells): Readonly<Record<string, string | null>> {
  return Object.fromEntries(Object.entries(cells).map(([field, cell]) => [field, plainCell(cell)]));
}

const stateWords: Readonly<Record<MatchState, string>> = {
  proposed: "each is the other's likeliest match",
  ambiguous: 'uncertain: others are as likely',
  accepted: 'they are linked',
  rejected: 'they are kept apart',
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
  const heading = headingOf(connection.fields, item.field);
  const values = `lead ${showCell(item.lead)} | ${otherValue(item, showCell(item.rowValue))}`;
  return [item.field === '' ? '' : `${heading}: ${values}`, describeAuthor(item.author)];
}

function matchLines(
  { score, why, state, lead, cells }: Match,
  fields: Named['connection']['fields'],
): readonly string[] {
  const values = fields.flatMap(({ field, column }) => {
    const [here, there] = [lead[field] ?? null, cells[field] ?? null];
    if (sameCell(here, null) && sameCell(there, null)) return [];
    const shown = sameCell(here, there)
      ? `both ${showCell(here)}`
      : `lead ${showCell(here)} | row ${showCell(there)}`;
    return [`${column}: ${shown}`];
  });
  const likeness = `the row and a lead may be one, ${Math.round(score * 100)} %`;
  return [`${likeness}: ${why} (${stateWords[state]})`, ...values];
}

export function decisionOn(item: Named['item']): string {
  if (item.kind === 'match') return stateWords[item.state];
  if (item.kind === 'calendar')
    return item.resolution === 'restore' ? 'the entries are written again' : 'the entries were deleted';
  return item.field === '' ? 'it is made again' : `the ${answerOf(item)}'s value`;
}
