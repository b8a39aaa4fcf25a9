import { stringify } from 'csv-stringify/sync';
import type { ConnectionConfig } from '../config/config.ts';
import { counted } from '../core/lead/counted.ts';
import { guarded } from '../core/lead/formula-guard.ts';
import { shownDates } from '../core/lead/shown-date.ts';
import { type Cells, plainCell, sameCell, showCell } from '../core/lead/value.ts';
import { listMatches, type Match, type MatchState } from '../store/matches.ts';
import { decideMatches } from '../review/decide-match.ts';
import type { CommonOptions } from './program.ts';
import { nameRecord, userName } from './names.ts';
import { assertCanWrite, replaceFile } from './out-file.ts';
import { print, printJson } from './output.ts';
import { withStore } from './with-store.ts';

interface MatchOptions extends CommonOptions {
  readonly accept?: readonly string[];
  readonly reject?: readonly string[];
  readonly acceptAll?: boolean;
  readonly export?: string;
}

const kept = ['the list', '--export'] as const;

/** `leadsync match`: lists rows and leads that may be the same, and records decisions; the next sync carries them out. */
export function match(options: MatchOptions): Promise<void> {
  return withStore(options, async (pool, { connections }) => {
    const { accept = [], reject = [], acceptAll = false, export: file } = options;
    if (file !== undefined) assertCanWrite(file, ...kept);
    const matching = connections.filter(({ sync }) => sync.match !== 'off');
    const names = matching.map(({ name }) => name);
    const by = userName();
    const decided = [
      ...(await decideMatches(pool, names, accept, { as: 'accepted', by })),
      ...(await decideMatches(pool, names, reject, { as: 'rejected', by })),
    ];
    if (acceptAll) {
      const clear = (await listMatches(pool, names)).filter(({ state }) => state === 'proposed');
      const ids = clear.map(({ id }) => String(id));
      decided.push(...(await decideMatches(pool, names, ids, { as: 'accepted', by })));
    }
    const matches = await listMatches(pool, names);
    if (file !== undefined) await replaceFile(file, csv(matches, matching), ...kept);
    if (options.json)
      return printJson({ matches: matches.map(json), decided: decided.map(({ id }) => String(id)) });
    if (names.length === 0) return print('match is off: set sync.match to propose or exact');
    if (file !== undefined) return print(`${counted(matches.length, 'match is', 'matches are')} in ${file}`);
    if (decided.length > 0)
      return print(`${decided.length} decided. Nothing has been written yet; leadsync sync carries it out.`);
    if (matches.length === 0)
      return print('the last sync or plan found no rows and leads that may be the same');
    for (const connection of matching)
      for (const one of matches)
        if (one.connection === connection.name)
          print(shownDates(describeMatch(one, connection.fields), connection.timeZone));
    print(
      '\nleadsync match --accept NUMBER… links them, --reject NUMBER… keeps them separate; the next sync carries it out',
    );
  });
}

const stateWords: Readonly<Record<MatchState, string>> = {
  proposed: "each is the other's likeliest match",
  ambiguous: 'uncertain: others are as likely',
  accepted: 'accepted; leadsync sync links them',
  rejected: 'rejected; leadsync sync keeps them separate',
  undone: 'an undo separated them',
};

function describeMatch(one: Match, fields: ConnectionConfig['fields']): string {
  const { id, connection, row, leadId, score, why, state, lead, cells } = one;
  const values = fields.flatMap(({ field, column }) => {
    const [here, there] = [lead[field] ?? null, cells[field] ?? null];
    if (sameCell(here, null) && sameCell(there, null)) return [];
    const isSame = sameCell(here, there);
    return [
      `    ${column}: ${isSame ? `both ${showCell(here)}` : `lead ${showCell(here)} | row ${showCell(there)}`}`,
    ];
  });
  const company = plainCell(lead['companyName'] ?? cells['companyName'] ?? null);
  const likeness = `${Math.round(score * 100)} %`;
  const place = nameRecord(
    company,
    `row ${row ?? '?'} and a lead`,
    likeness,
    connection,
    company === null ? leadId : null,
  );
  const head = `${String(id).padStart(5)}  ${place}`;
  return [head, `    ${why} (${stateWords[state]})`, ...values].join('\n');
}

function json({ id, row, cells, lead, score, ...rest }: Match): object {
  return {
    ...rest,
    id: String(id),
    ...(row !== null && { row }),
    score: rounded(score),
    lead: plain(lead),
    target: plain(cells),
  };
}

function csv(matches: readonly Match[], connections: readonly ConnectionConfig[]): string {
  const fields = [...new Set(connections.flatMap((one) => one.fields.map(({ field }) => field)))];
  const head = ['id', 'connection', 'state', 'score', 'why', 'leadId', 'row'];
  const headings = [...head, ...fields.flatMap((field) => [`lead ${field}`, `row ${field}`])];
  const lines = matches.map(({ id, connection, state, score, why, leadId, row, lead, cells }) => [
    id,
    connection,
    state,
    rounded(score),
    why,
    leadId,
    row,
    ...fields.flatMap((field) => [plainCell(lead[field] ?? null), plainCell(cells[field] ?? null)]),
  ]);
  return stringify([headings, ...lines], {
    bom: true,
    quoted_match: /[,;|\t\r\n]/,
    cast: { string: guarded },
  });
}

const rounded = (score: number): number => Math.round(score * 100) / 100;

function plain(cells: Cells): Readonly<Record<string, string | null>> {
  return Object.fromEntries(Object.entries(cells).map(([field, cell]) => [field, plainCell(cell)]));
}
