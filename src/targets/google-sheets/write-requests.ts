import type { sheets_v4 } from '@googleapis/sheets';
import { counted } from '../../core/lead/wording.ts';
import { LeadsyncError } from '../../lib/errors.ts';
import type { MarkToWrite } from '../../ports/target.ts';
import { isAround } from '../shared/table-range.ts';
import { bisect, type Refused } from './write-outcomes.ts';
import {
  inBatches,
  insertedRows,
  type PlannedRow,
  valueRanges,
  type WritePlan,
  writtenCells,
} from './write-plan.ts';
import { headerRow, type TabSnapshot } from './tab-snapshot.ts';
import { assertRoom, changed, isRefused, roomForRows } from './tab-faults.ts';
import type { GoogleSheetsOptions, SheetsTab } from './sheets-api.ts';
import {
  areasFields,
  idOf,
  isTab,
  readTabAreas,
  type TabDescription,
  tabsFields,
} from './tab-description.ts';
import type { UnsettledWrite } from './unsettled-write.ts';
import { idText } from './cell-values.ts';
import { markedTab, ownRecord } from './tab-setup.ts';

/** Maximum of refused values identified per write: each costs up to twenty requests of quota. */
const mostAlone = 8;

export interface Job {
  readonly plan: WritePlan;
  readonly snapshot: TabSnapshot;
  readonly unsettled: UnsettledWrite;
  readonly marking: Marking | null;
  readonly onRefused: (refused: Refused<PlannedRow>) => void;
}

export class WriteRequests {
  readonly #at: SheetsTab;
  /** Maximum rows per request; lowered after Google could not serve one. */
  #most = Number.POSITIVE_INFINITY;
  #alone = 0;

  constructor(at: SheetsTab) {
    this.#at = at;
  }

  /** Returns refused groups that were not split, once enough were found. */
  async send(job: Job, signal: AbortSignal): Promise<readonly Refused<PlannedRow>[]> {
    // New rows first: without room for them nothing is written. They are below all updates.
    const inserts = await this.#insert(job, signal);
    const updates = await this.#update(job, signal);
    this.#alone = 0;
    return [...updates, ...inserts];
  }

  #update({ plan, snapshot, unsettled, marking, onRefused }: Job, signal: AbortSignal) {
    const { tab, columns } = snapshot;
    const { api } = this.#at;
    const send = (rows: readonly PlannedRow[]): Promise<void> =>
      unsettled.send(rows, () => {
        if (marking?.isDue !== true) return api.write(valueRanges(this.#at.tab, rows), signal);
        return marking.send(writtenCells(tab.sheetId, rows), (all) => api.update(all, signal));
      });
    const parts = (row: PlannedRow): readonly PlannedRow[] => inParts(row, columns.status);
    return this.#inBatches(plan.updates, parts, send, onRefused, () => this.#assertSameTab(tab, signal));
  }

  async #insert({ plan, snapshot, unsettled, marking, onRefused }: Job, signal: AbortSignal) {
    const { tab, columns } = snapshot;
    const start = plan.inserts[0]?.row ?? 0;
    let done = 0;
    const send = async (rows: readonly PlannedRow[]): Promise<void> => {
      const at = start + done;
      const placed = rows.map((row, index) => ({ ...row, row: at + index }));
      const cells = rows.map((row) => row.cells);
      const requests = insertedRows(tab.sheetId, at, cells, at === 1 && tab.rowCount > 1);
      const update = (all: typeof requests): Promise<void> => this.#at.api.update(all, signal);
      await unsettled.send(placed, () => marking?.send(requests, update) ?? update(requests));
      done += rows.length;
    };
    // Existing rows can get their status later.
    const parts = (row: PlannedRow): readonly PlannedRow[] => inParts(row, columns.status).slice(0, 1);
    const rest = await this.#inBatches(plan.inserts, parts, send, onRefused, async (count) => {
      await this.#assertSameTab(tab, signal);
      const [at, what] = [start + done, counted(plan.inserts.length - done, 'more row')];
      const room = roomForRows(tab.sheetId, at, count, at === 1 && tab.rowCount > 1);
      await assertRoom(this.#at, what, room, signal);
    });
    if (done > 0) await this.#growRange(snapshot, start, done, signal);
    return rest;
  }

  /** A refusal is ignored: rows with ids belong to the table wherever they are. */
  async #growRange(snapshot: TabSnapshot, start: number, count: number, signal: AbortSignal): Promise<void> {
    const { api } = this.#at;
    const { sheetId } = snapshot.tab;
    if (grownRange(snapshot, start, count) === null) return;
    const now = readTabAreas(await api.describe([], areasFields, signal), sheetId);
    const request =
      now === null ? null : grownRange({ ...snapshot, tab: { ...snapshot.tab, ...now } }, start, count);
    if (request === null) return;
    try {
      await api.update([request], signal);
    } catch (error) {
      if (!isRefused(error)) throw error;
    }
  }

  async #inBatches(
    rows: readonly PlannedRow[],
    parts: (row: PlannedRow) => readonly PlannedRow[],
    send: (rows: readonly PlannedRow[]) => Promise<void>,
    onRefused: Job['onRefused'],
    onFirstRefusal: (count: number) => Promise<void>,
  ): Promise<readonly Refused<PlannedRow>[]> {
    const rest: Refused<PlannedRow>[] = [];
    let isFirst = true;
    const watched = async (some: readonly PlannedRow[]): Promise<void> => {
      try {
        await this.#paced(some.length, () => send(some));
      } catch (error) {
        if (isRefused(error) && isFirst) await onFirstRefusal(some.length);
        isFirst &&= !isRefused(error);
        throw error;
      }
    };
    const alone = (refused: Refused<PlannedRow>): void => {
      this.#alone++;
      onRefused(refused);
    };
    const isEnough = (): boolean => this.#alone >= mostAlone;
    for (const batch of inBatches(rows, this.#most))
      rest.push(...(await bisect(batch, parts, watched, { alone, isEnough })));
    return rest.flatMap(({ item, error }) => parts(item).map((part) => ({ item: part, error })));
  }

  /** Halves the size after Google could not serve a request (503 also means too complex). */
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

  /** Before splitting: throws `target.changed` when the tab is gone or smaller than it was. */
  async #assertSameTab({ sheetId, ...tab }: TabDescription, signal: AbortSignal): Promise<void> {
    const { sheets = [] } = await this.#at.api.describe([], tabsFields, signal);
    const own = sheets.find((sheet) => idOf(sheet) === sheetId && isTab(sheet, this.#at.tab));
    const { rowCount, columnCount } = own?.properties?.gridProperties ?? {};
    if ((rowCount ?? 0) < tab.rowCount || (columnCount ?? 0) < tab.columnCount) throw changed(this.#at.name);
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

/**
 * Extends the table or filter with our headings by rows inserted at `start` (0-based): Google does so only for what is inserted
 * within. Null: nothing to extend. The filter's order is left out: set again, it would sort the rows.
 */
function grownRange(
  { tab, columns, grid }: Pick<TabSnapshot, 'tab' | 'columns' | 'grid'>,
  start: number,
  count: number,
): sheets_v4.Schema$Request | null {
  const place = { headerRow, columns };
  const table = tab.tables.find(({ range }) => isAround(range, place));
  const filter = tab.filter !== null && isAround(tab.filter.range, place) ? tab.filter : null;
  const old = (table ?? filter)?.range;
  if (old === undefined || old.bottom > start || table?.hasTotals === true) return null;
  for (let row = old.bottom; row < start; row++) if (idText(grid, row, columns.id) === '') return null;
  const range = {
    sheetId: tab.sheetId,
    startRowIndex: old.top - 1,
    endRowIndex: start + count,
    startColumnIndex: old.left,
    endColumnIndex: old.right + 1,
  };
  if (table !== undefined)
    return { updateTable: { table: { tableId: table.tableId, range }, fields: 'range' } };
  return { setBasicFilter: { filter: { range, filterSpecs: filter?.filterSpecs ?? [] } } };
}

type Request = sheets_v4.Schema$Request;

/** Sends a mark with the first request that writes rows: atomic with it. */
class Marking {
  readonly #arrived: () => void;
  #request: Request | null;

  constructor(request: Request, arrived: () => void) {
    this.#request = request;
    this.#arrived = arrived;
  }

  get isDue(): boolean {
    return this.#request !== null;
  }

  /** With the mark while it is due. If Google refuses, without it: rows matter more than a mark. */
  async send(requests: readonly Request[], update: (all: Request[]) => Promise<void>): Promise<void> {
    const request = this.#request;
    if (request === null) return update([...requests]);
    try {
      await update([...requests, request]);
      this.#arrived();
    } catch (error) {
      if (!isRefused(error)) throw error;
      this.#request = null;
      return update([...requests]);
    }
    this.#request = null;
  }
}

/** The marking for a run's first write; null: already marked, or not wanted. */
export function markingOf(
  options: GoogleSheetsOptions,
  tab: TabDescription,
  mark: MarkToWrite | undefined,
): Marking | null {
  if (mark === undefined || ownRecord(options, tab)?.mark === mark.text) return null;
  const request = markedTab(options, tab, mark.text);
  return request && new Marking(request, mark.arrived);
}
