import { counted } from '../../core/lead/counted.ts';
import { LeadsyncError } from '../../errors.ts';
import { bisect, type Refused } from './bisect.ts';
import { inBatches, insertedRows, valueRanges, writtenCells } from './cell-writes.ts';
import { grownRange } from './grown-range.ts';
import type { TabSnapshot } from './tab-snapshot.ts';
import type { Marking } from './marking.ts';
import { assertRoom, roomForRows } from './room.ts';
import type { SheetsTab } from './sheets-api.ts';
import { changed, isRefused } from './tab-faults.ts';
import {
  areasFields,
  idOf,
  isTab,
  readTabAreas,
  type TabDescription,
  tabsFields,
} from './tab-description.ts';
import type { UnsettledWrite } from './unsettled-write.ts';
import type { PlannedRow, WritePlan } from './write-plan.ts';

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
