import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { formatOf } from '../config/file-formats.ts';
import { countKnown } from '../core/lead/propose-mapping.ts';
import { LeadsyncError } from '../lib/errors.ts';
import { LeadsClient } from '../leads-api/leads-client.ts';
import { systemClock } from '../ports/clock.ts';
import type { FirstRows } from '../targets/file/file-format.ts';
import { withFirstRows, writeHeading } from '../targets/file/workbook-target.ts';
import { cellName } from '../targets/shared/cell-name.ts';
import { lastHeading } from '../targets/shared/columns.ts';
import type { Draft } from './setup-files.ts';

/** A table as somebody sees it who does not know its headings. */
export interface FoundTable {
  /** Sheets of a workbook that are not hidden, or tabs of a spreadsheet. */
  readonly parts: readonly string[];
  /** As shown; null: no table yet, or leadsync makes its own columns in it. */
  readonly headings: readonly string[] | null;
  readonly rows: readonly (readonly string[])[];
  /** How a column for the ids is added: a cell for its heading or, of a database, a statement. */
  readonly idCell: string;
}

const none: FoundTable = { parts: [], headings: null, rows: [], idCell: '' };

/** One request at a time, in a process of its own: no rate limit to share. */
const throttle = {
  pauses: 0,
  look: async () => ({ notBefore: 0, pace: null, aheadMs: 0 }),
  pauseUntil: async () => {},
  movePace: async () => true,
};

/** Reads the first page; waits up to three times, 20 s each, when asked to. Throws LeadsApiError as `LeadsPort` says. */
export async function lookAtService({ connection: { leads } }: Draft, signal: AbortSignal) {
  await using client = new LeadsClient({ ...leads, query: {}, throttle });
  for (let waits = 3; ; waits--)
    try {
      const page = await client.list({ cursor: null, limit: null }, signal);
      const fields = new Set(page.leads.flatMap((lead) => Object.keys(lead.fields)));
      fields.delete('id');
      return { ids: page.leads.map(({ id }) => id), isAll: page.nextCursor === null, fields: [...fields] };
    } catch (error) {
      const isLimit = error instanceof LeadsyncError && error.code === 'leads.rate-limited';
      const { retryAfterMs: waitMs = Infinity } = isLimit ? error : {};
      if (waits === 0 || waitMs > 20_000) throw error;
      await sleep(waitMs);
    }
}

/** Names of the tables in a folder, without what editors leave beside them, and without .txt: most of those are none. */
export async function tablesIn(folder: string): Promise<readonly string[]> {
  const names = await readdir(folder).catch(() => []);
  return names.filter((name) => /^[^~.].*(?<!\.txt)$/i.test(name) && formatOf(name) !== null).toSorted();
}

/**
 * Reads the first rows, with real requests; writes nothing. `part`: default: the first that is not hidden, or the configured tab.
 * Throws `target.not-writable` when it can only be read, and what opening and reading throw: see `Target`.
 */
export async function lookAtTable(
  draft: Draft,
  part: string | undefined,
  signal: AbortSignal,
): Promise<FoundTable> {
  const { target } = draft.connection;
  if (target.type === 'workbook')
    return inFolder(draft, (around) =>
      withFirstRows(target, around, part, signal, async (found) => (found === null ? none : tableOf(found))),
    );
  if (target.type === 'google-sheets') {
    const { readTabFirstRows } = await import('../targets/google-sheets/first-rows.ts');
    const where = { ...target, apiUrl: `${draft.googleSheetsUrl}/` };
    const tab = part ?? target.tab;
    const { tabs, rows } = await readTabFirstRows(where, draft.googleCredentials, tab, signal);
    return tableOf({ rows, sheets: tabs, freeCell: cellName });
  }
  if (target.type === 'postgres-table') {
    const { listTables } = await import('../targets/postgres/connection.ts');
    const { url, table, idColumn } = target;
    const found = (await listTables(url)).find(({ name }) => name === table.replace(/^public\./, ''));
    const idCell = `alter table ${table} add ${idColumn} text;`;
    return found === undefined ? none : { ...none, headings: found.columns, idCell };
  }
  const { HubSpotApi } = await import('../targets/hubspot/hubspot-api.ts');
  const { HubSpotHttp } = await import('../targets/hubspot/hubspot-http.ts');
  const options = { ...target, apiUrl: draft.hubspotUrl, accessToken: target.token, fields: [] };
  await using http = new HubSpotHttp({ ...options, clock: systemClock });
  await new HubSpotApi(http, signal).properties();
  return none;
}

const widthOf = (row: readonly string[]): number => lastHeading(row) + 1;

/** A table from its first rows: its headings are in the row that has most of the known ones. */
async function tableOf({ rows, sheets: parts, freeCell }: FirstRows): Promise<FoundTable> {
  const known = rows.map((row) => (widthOf(row) === 0 ? -1 : countKnown(row)));
  const at = known.indexOf(Math.max(...known));
  const headings = rows[at] ?? [];
  if (widthOf(headings) === 0) return { ...none, parts };
  return { parts, headings, rows: rows.slice(at + 1), idCell: await freeCell(at, widthOf(headings)) };
}

/** Writes the heading of an id column into a file, beside another column. Throws what `Target.open` throws. */
export async function writeIdHeading(
  draft: Draft,
  part: string | undefined,
  names: { readonly heading: string; readonly beside: string },
  signal: AbortSignal,
): Promise<void> {
  const { target } = draft.connection;
  if (target.type !== 'workbook') throw new Error('only files get a heading');
  const sheet = part === undefined ? {} : { sheet: part };
  await inFolder(draft, (around) => writeHeading({ ...target, ...sheet, fields: [] }, around, names, signal));
}

type Around = Pick<Draft, 'msgraph' | 'msgraphUrl' | 'dataDir'>;

async function inFolder<T>({ msgraph, msgraphUrl }: Draft, work: (around: Around) => Promise<T>): Promise<T> {
  const dataDir = await mkdtemp(join(tmpdir(), 'leadsync-look-'));
  try {
    return await work({ dataDir, msgraph, msgraphUrl });
  } finally {
    await rm(dataDir, { recursive: true, force: true });
  }
}
