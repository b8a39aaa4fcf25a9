import { LeadsyncError } from '../../errors.ts';
import { shownStatus } from '../columns.ts';
import type { RowChange, RowOutcome, Target, TargetRow, TargetSnapshot } from '../target.ts';
import { ownedColumns } from '../columns.ts';
import { bisect, type Refused } from './bisect.ts';
import { inBatches, insertedRows, valueRanges } from './cell-writes.ts';
import type { GoogleSheetsOptions } from './google-sheets-options.ts';
import { changed, type Found, isRefused, type Look, lookAtTab, lookToWrite } from './look.ts';
import { presentRows } from './present-rows.ts';
import { protectedColumns } from './protected-cells.ts';
import { RefusedValues } from './refused-values.ts';
import { openSheetsApi, type SheetsApi } from './sheets-api.ts';
import { copiedFault, fullFault, renamedFault, trashedFault } from './tab-faults.ts';
import { isTab, readTabRecords, type TabDescription, tabsFields } from './tab-description.ts';
import { adoptedTab, misplacedRecords, missingRecords, newHeadings, newTab } from './tab-setup.ts';
import { UnsettledWrite } from './unsettled-write.ts';
import { outcomesOf } from './write-outcomes.ts';
import { type PlannedRow, planWrite, type WritePlan } from './write-plan.ts';

export type GoogleSheetsTarget = Target & Required<Pick<Target, 'address' | 'fix'>>;

/** A target that is one tab of a Google spreadsheet. Nothing is sent before the first call. */
export function createGoogleSheetsTarget(options: GoogleSheetsOptions): GoogleSheetsTarget {
  return new SheetsTarget(options);
}

/** Rows that are given at once. */
const rowsPerBatch = 1_000;

class SheetsTarget implements GoogleSheetsTarget {
  readonly name: string;
  readonly batchSize = 20_000;
  readonly #options: GoogleSheetsOptions;
  readonly #api: SheetsApi;
  readonly #refused = new RefusedValues();
  /** The most rows for one request; less after Google could not serve one. */
  #most = Number.POSITIVE_INFINITY;
  /** Of a write that failed before anybody has looked where it arrived. */
  #unsettled: UnsettledWrite | null = null;
  /** Whether records that were made showed afterwards; if not, making them again is in vain. */
  #recordsShow = true;

  constructor(options: GoogleSheetsOptions) {
    this.name = `google-sheets:${options.spreadsheetId}/${options.tab}`;
    this.#options = options;
    this.#api = openSheetsApi(options);
  }

  get requests(): number {
    return this.#api.requests;
  }

  address(): Promise<string | null> {
    return this.#api.address();
  }

  async open({ create }: { readonly create: boolean }, signal: AbortSignal): Promise<TargetSnapshot> {
    if ((await this.#api.trashed(signal)) === true) throw trashedFault(this.name);
    const found = await this.#look(signal);
    if (found.kind === 'missing') await this.#assertNotRenamed(signal);
    if (found.kind !== 'table' && !create) return { missing: [], created: false, rows: inRows([]) };
    const created = found.kind !== 'table' && (await this.#create(found, signal));
    const table = found.kind === 'table' ? found : await this.#look(signal);
    if (table.kind !== 'table') throw changed(this.name);
    this.#assertNotCopied(table.tab);
    const look = create ? await this.#recorded(table, signal) : table;
    const { columns, tab } = look;
    return {
      missing: columns.missing,
      created,
      timeZone: tab.timeZone,
      closed: protectedColumns(tab, ownedColumns(columns)).map((column) => tab.headings[column] ?? ''),
      rows: inRows(rowsOf(look)),
    };
  }

  async write(changes: readonly RowChange[], signal: AbortSignal): Promise<readonly RowOutcome[]> {
    if (changes.length === 0) return [];
    await this.#settle(signal);
    const look = await lookToWrite(this.#api, this.#options, this.name, signal);
    if (look === null) throw changed(this.name);
    this.#assertNotCopied(look.tab);
    const plan = planWrite(look, changes, this.#refused);
    const { rowCount, columnCount } = look.tab;
    const full = fullFault(this.name, rowCount * columnCount, plan.inserts.length, columnCount);
    if (full !== null) throw full;
    const unsettled = new UnsettledWrite(this.#api, { tab: this.#options.tab, name: this.name }, look);
    this.#unsettled = unsettled;
    const refused = [
      ...(await this.#update(plan, look, unsettled, signal)),
      ...(await this.#insert(plan, look, unsettled, signal)),
    ];
    const astray = await this.#settle(signal);
    return outcomesOf(changes, plan.outcomes, refused, astray, look.columns, this.#refused);
  }

  async fix(signal: AbortSignal): Promise<boolean> {
    const found = await this.#look(signal);
    if (found.kind === 'missing' || !this.#isCopied(found.tab)) return false;
    await this.#api.update(adoptedTab(this.#options, found.tab), signal);
    return true;
  }

  #look(signal: AbortSignal): Promise<Found> {
    return lookAtTab(this.#api, this.#options, this.name, signal);
  }

  /** Finishes the last write: looks where it arrived. Returns the leads whose rows do not show it. */
  async #settle(signal: AbortSignal): Promise<ReadonlySet<string>> {
    const astray = (await this.#unsettled?.settle(signal)) ?? new Set<string>();
    this.#unsettled = null;
    return astray;
  }

  #update({ updates }: WritePlan, { tab, columns }: Look, unsettled: UnsettledWrite, signal: AbortSignal) {
    const send = (rows: readonly PlannedRow[]): Promise<void> =>
      unsettled.send(rows, () => this.#api.write(valueRanges(this.#options.tab, rows), signal));
    const parts = (row: PlannedRow): readonly PlannedRow[] => inParts(row, columns.status);
    return this.#inBatches(updates, parts, send, () => this.#assertNotTheTabs(tab, 0, signal));
  }

  #insert({ inserts }: WritePlan, { tab, columns }: Look, unsettled: UnsettledWrite, signal: AbortSignal) {
    const start = inserts[0]?.row ?? 0;
    let done = 0;
    const send = async (rows: readonly PlannedRow[]): Promise<void> => {
      const at = start + done;
      const placed = rows.map((row, index) => ({ ...row, row: at + index }));
      const cells = rows.map((row) => row.cells);
      const requests = insertedRows(tab.sheetId, at, cells, at === 1 && tab.rowCount > 1);
      await unsettled.send(placed, () => this.#api.update(requests, signal));
      done += rows.length;
    };
    // A row that is there can be told of later.
    const parts = (row: PlannedRow): readonly PlannedRow[] => inParts(row, columns.status).slice(0, 1);
    return this.#inBatches(inserts, parts, send, () =>
      this.#assertNotTheTabs(tab, inserts.length - done, signal),
    );
  }

  /** Sends rows in as few requests as their size allows, and finds those that are refused. */
  async #inBatches(
    rows: readonly PlannedRow[],
    parts: (row: PlannedRow) => readonly PlannedRow[],
    send: (rows: readonly PlannedRow[]) => Promise<void>,
    onFirstRefusal: () => Promise<void>,
  ): Promise<readonly Refused<PlannedRow>[]> {
    const refused: Refused<PlannedRow>[] = [];
    let isFirst = true;
    const watched = async (some: readonly PlannedRow[]): Promise<void> => {
      try {
        await this.#paced(some.length, () => send(some));
      } catch (error) {
        if (isRefused(error) && isFirst) await onFirstRefusal();
        isFirst &&= !isRefused(error);
        throw error;
      }
    };
    for (const batch of inBatches(rows, this.#most)) refused.push(...(await bisect(batch, parts, watched)));
    return refused;
  }

  /** Half as much at once after Google could not serve a request (it says so of too complex ones too, 503). */
  async #paced(count: number, request: () => Promise<void>): Promise<void> {
    try {
      await request();
      this.#most *= 2;
    } catch (error) {
      if (error instanceof LeadsyncError && error.code === 'target.unavailable') {
        this.#most = Math.max(1, Math.floor(count / 2));
      }
      throw error;
    }
  }

  /** False when somebody else made it first. */
  async #create(found: Exclude<Found, { kind: 'table' }>, signal: AbortSignal): Promise<boolean> {
    const sheetId = 1 + Math.floor(this.#options.clock.random() * 0x7f_ff_ff_fe);
    const requests =
      found.kind === 'missing' ? newTab(this.#options, sheetId) : newHeadings(this.#options, found.tab);
    try {
      await this.#api.update(requests, signal);
      return true;
    } catch (error) {
      if (!isRefused(error) || (await this.#look(signal)).kind !== 'table') throw error;
      return false;
    }
  }

  /** Adds what is missing of our records; a tab on which that is refused is found by its headings alone. */
  async #recorded(look: Look, signal: AbortSignal): Promise<Look> {
    const requests = missingRecords(this.#options, look.tab, look.columns);
    if (requests.length === 0 || !this.#recordsShow) return look;
    try {
      await this.#api.update(requests, signal);
    } catch (error) {
      if (isRefused(error)) return look;
      throw error;
    }
    const now = await this.#look(signal);
    if (now.kind !== 'table') throw changed(this.name);
    const misplaced = misplacedRecords(look.tab, now.tab);
    this.#recordsShow = missingRecords(this.#options, now.tab, now.columns).length < requests.length;
    if (misplaced.length === 0) return now;
    await this.#api.update(misplaced, signal);
    throw changed(this.name);
  }

  async #assertNotRenamed(signal: AbortSignal): Promise<void> {
    const { sheets = [] } = await this.#api.describe([], tabsFields, signal);
    const { spreadsheetId, connection, tab } = this.#options;
    const renamed = sheets.filter((sheet) =>
      readTabRecords(sheet).some(
        (record) => record.spreadsheetId === spreadsheetId && record.connection === connection,
      ),
    );
    const [title = null] = renamed.map(({ properties }) => properties?.title ?? null);
    if (title !== null) throw renamedFault(this.name, tab, title);
  }

  #isCopied({ tabRecords }: TabDescription): boolean {
    const { spreadsheetId } = this.#options;
    return tabRecords.length > 0 && !tabRecords.some((record) => record.spreadsheetId === spreadsheetId);
  }

  #assertNotCopied(tab: TabDescription): void {
    if (this.#isCopied(tab)) throw copiedFault(this.name, tab.tabRecords[0]?.spreadsheetId ?? '');
  }

  /**
   * Looks once why something was refused before it is taken apart: throws `target.changed` when the tab is not there
   * any more or smaller than it was, `target.full` when the spreadsheet has no room for `newRows`.
   */
  async #assertNotTheTabs(
    { sheetId, ...tab }: TabDescription,
    newRows: number,
    signal: AbortSignal,
  ): Promise<void> {
    const { sheets = [] } = await this.#api.describe([], tabsFields, signal);
    const sizes = sheets.map((sheet) => ({
      isSame: sheet.properties?.sheetId === sheetId && isTab(sheet, this.#options.tab),
      rows: sheet.properties?.gridProperties?.rowCount ?? 0,
      columns: sheet.properties?.gridProperties?.columnCount ?? 0,
    }));
    const own = sizes.find(({ isSame }) => isSame);
    if (own === undefined || own.rows < tab.rowCount || own.columns < tab.columnCount)
      throw changed(this.name);
    const cells = sizes.reduce((sum, { rows, columns }) => sum + rows * columns, 0);
    const full = fullFault(this.name, cells, newRows, own.columns);
    if (full !== null) throw full;
  }
}

/** The cells of a row one by one, unless they belong together: the status never does. */
function inParts(row: PlannedRow, statusColumn: number | null): readonly PlannedRow[] {
  const cells = [...row.cells];
  const part = (some: typeof cells): PlannedRow => ({ ...row, cells: new Map(some) });
  if (cells.length < 2) return [row];
  if (!row.isWhole) return cells.map((cell) => part([cell]));
  const status = cells.filter(([column]) => column === statusColumn);
  if (status.length === 0) return [row];
  return [part(cells.filter(([column]) => column !== statusColumn)), { ...part(status), isWhole: false }];
}

function rowsOf(look: Look): TargetRow[] {
  return Array.from(presentRows(look), ({ leadId, cells, status, place }) => ({
    row: place + 1,
    leadId,
    cells,
    status: shownStatus(look.columns, status),
  }));
}

async function* inRows(rows: readonly TargetRow[]): AsyncGenerator<readonly TargetRow[]> {
  for (let at = 0; at < rows.length; at += rowsPerBatch) yield rows.slice(at, at + rowsPerBatch);
}
