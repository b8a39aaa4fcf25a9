import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import { Alignment, type OwnColumns } from './alignment.ts';
import { cellAt, type Grid, type GridCell, gridCell, isFormula, quotedTab, sameGridCell } from './grid.ts';
import { hasArrived, linkedIds, type SentRow, cellsToPutBack, type PutBack, putBackAgain } from './repair.ts';
import { idKey } from '../../core/lead/lead-id.ts';
import { cellName } from '../shared/cell-name.ts';
import { bisect, type Settled } from './write-outcomes.ts';
import { inBatches, writtenCells } from './write-plan.ts';
import { readAgain } from './tab-snapshot.ts';
import type { SheetsTab } from './sheets-api.ts';
import { isRefused } from './tab-faults.ts';

export type SentFor = SentRow & { readonly leadId: string };

export interface Ground {
  readonly sheetId: number;
  readonly grid: Grid;
  readonly own: OwnColumns;
}

/** A write about to be sent to a tab, and the content it replaces. */
export interface WriteNote {
  readonly target: string;
  readonly ground: Ground;
  readonly rows: readonly SentFor[];
}

const stored = ({ target, ground: { sheetId, grid, own }, rows }: WriteNote) => ({
  target,
  sheetId,
  grid,
  id: own.id,
  owned: [...own.owned],
  rows: rows.map(({ row, isNew, leadId, cells }) => ({ row, isNew, leadId, cells: [...cells] })),
});

export async function packNote(note: WriteNote): Promise<Uint8Array> {
  return promisify(gzip)(JSON.stringify(stored(note)));
}

export async function unpackNote(note: Uint8Array): Promise<WriteNote> {
  const text = (await promisify(gunzip)(note)).toString();
  const { target, sheetId, grid, id, owned, rows } = JSON.parse(text) as ReturnType<typeof stored>;
  return {
    target,
    ground: { sheetId, grid, own: { id, owned: new Set(owned) } },
    rows: rows.map(({ cells, ...row }) => ({ ...row, cells: new Map(cells) })),
  };
}

/** Attempts to restore cells while people keep moving rows. */
const rounds = 3;

/** Maximum of refused cells identified during a restoration. */
const mostAlone = 8;

export const nothingSettled: Settled = { astray: new Set(), putBack: new Map(), notPutBack: new Map() };

/** Kept after a failed request: it may still have been carried out, on rows that people had moved. */
export class UnsettledWrite {
  readonly #at: SheetsTab;
  readonly #ground: Ground;
  readonly #sent: Map<SentFor, { readonly isDoubtful: boolean }>;

  /** `doubtful`: rows that a process sent, or was about to send, when it died. */
  constructor(at: SheetsTab, ground: Ground, doubtful: readonly SentFor[] = []) {
    this.#at = at;
    this.#ground = ground;
    this.#sent = new Map(doubtful.map((row) => [row, { isDoubtful: true }]));
  }

  /** Sends rows; they count as sent unless refused. */
  async send(rows: readonly SentFor[], request: () => Promise<void>): Promise<void> {
    for (const row of rows) this.#sent.set(row, { isDoubtful: true });
    try {
      await request();
      for (const row of rows) this.#sent.set(row, { isDoubtful: false });
    } catch (error) {
      // A refused request changed nothing; other faults may come after it was carried out.
      if (isRefused(error)) for (const row of rows) this.#sent.delete(row);
      throw error;
    }
  }

  async settle(signal: AbortSignal): Promise<Settled> {
    if (await this.#isWhereMeant(signal)) return nothingSettled;
    const sent = mergedByRow([...this.#sent].map(([row, { isDoubtful }]) => ({ ...row, isDoubtful })));
    if (sent.length === 0) return nothingSettled;
    let { grid, own } = this.#ground;
    let all: readonly SentRow[] = sent;
    const leads = new Map<SentRow, readonly string[]>(sent.map((row) => [row, [idKey(row.leadId)]]));
    const astray = new Set<string>();
    const [putBack, notPutBack] = [
      new Map<string, readonly string[]>(),
      new Map<string, readonly string[]>(),
    ];
    for (let round = 0; ; round++) {
      const after = await readAgain(this.#at, grid, own, signal);
      const alignment = new Alignment(grid, after, own, linkedIds(all, own.id));
      const missed = all.filter((row) => !hasArrived(row, alignment, all));
      if (round === 0) for (const row of missed) for (const lead of leads.get(row) ?? []) astray.add(lead);
      const again = round === 0 ? [] : putBackAgain(missed, alignment);
      const toPut: readonly PutBack[] = [...cellsToPutBack(missed, alignment, all), ...again];
      for (const row of toPut)
        leads.set(row, [...new Set(row.because.flatMap((each) => leads.get(each) ?? []))]);
      if (round === rounds) addNames(notPutBack, toPut, leads, true);
      if (round === rounds || toPut.length === 0) {
        for (const lead of this.#setRight(sent, astray, after)) astray.delete(lead);
        return { astray, putBack, notPutBack };
      }
      const refused = await this.#putBack(toPut, signal);
      all = toPut.filter((row) => !refused.has(row));
      addNames(putBack, all, leads);
      addNames(notPutBack, refused, leads, true);
      const owned = new Set([...own.owned].flatMap((column) => alignment.columnAfter(column) ?? []));
      [grid, own] = [after, { id: alignment.idAfter ?? -1, owned }];
    }
  }

  /** Fast path: only new rows were sent, all confirmed, and they are where they were put: the rest of the tab need not be read. */
  async #isWhereMeant(signal: AbortSignal): Promise<boolean> {
    const { grid } = this.#ground;
    const sent = [...this.#sent];
    const from = sent[0]?.[0].row ?? 0;
    const isUsual = sent.every(
      ([{ row, isNew }, { isDoubtful }], index) => isNew && !isDoubtful && row === from + index,
    );
    if (!isUsual || sent.length === 0) return false;
    const tab = quotedTab(this.#at.tab);
    try {
      const ranges = [`${tab}!1:1`, `${tab}!${from + 1}:${from + sent.length}`];
      const [[headings = []] = [], rows = []] = await this.#at.api.read(ranges, 'FORMULA', signal);
      const width = Math.max(headings.length, grid[0]?.length ?? 0);
      const isSameHeading = (_: unknown, column: number): boolean =>
        sameGridCell(cellAt(grid, 0, column), gridCell(headings[column] ?? null, undefined));
      return (
        Array.from({ length: width }).every(isSameHeading) &&
        // A text that begins with `=` is compared as it is.
        sent.every(([{ cells }], index) =>
          [...cells].every(([column, cell]) => sameGridCell(cellAt(rows, index, column), cell)),
        )
      );
    } catch (error) {
      // Fewer rows now, or no such tab.
      if (isRefused(error)) return false;
      throw error;
    }
  }

  /** Leads whose new rows are below the right headings now. */
  #setRight(sent: readonly SentFor[], astray: ReadonlySet<string>, after: Grid): string[] {
    const rows = sent.filter(({ isNew, leadId }) => isNew && astray.has(idKey(leadId)));
    if (rows.length === 0) return [];
    const { grid, own } = this.#ground;
    const alignment = new Alignment(grid, after, own, linkedIds(sent, own.id));
    return rows.flatMap((row) => (hasArrived(row, alignment, sent) ? [idKey(row.leadId)] : []));
  }

  /** Returns what is refused: it cannot be restored. */
  async #putBack(rows: readonly PutBack[], signal: AbortSignal): Promise<ReadonlySet<SentRow>> {
    const { sheetId } = this.#ground;
    const refused = new Set<SentRow>();
    for (const batch of inBatches(rows, Number.POSITIVE_INFINITY)) {
      const rest = await bisect(
        batch,
        (row) => [row],
        (some) => this.#at.api.update(writtenCells(sheetId, some), signal),
        { alone: ({ item }) => refused.add(item), isEnough: () => refused.size >= mostAlone },
      );
      for (const { item } of rest) refused.add(item);
    }
    return refused;
  }
}

function addNames(
  names: Map<string, readonly string[]>,
  rows: Iterable<SentRow>,
  leads: ReadonlyMap<SentRow, readonly string[]>,
  isWithContent = false,
): void {
  for (const row of rows) {
    const cells = [...row.cells].map(([column, cell]) => {
      const name = cellName(row.row, column);
      return isWithContent ? `${name} (${contentOf(cell)})` : name;
    });
    for (const lead of leads.get(row) ?? [])
      names.set(lead, [...new Set([...(names.get(lead) ?? []), ...cells])]);
  }
}

function contentOf(cell: GridCell): string {
  if (cell === null) return 'empty';
  return isFormula(cell) ? cell.formula : JSON.stringify(cell);
}

function mergedByRow(sent: readonly SentFor[]): SentFor[] {
  const merged = new Map<string, SentFor>();
  for (const row of sent) {
    const key = `${row.isNew ? row.leadId : ''} ${row.row}`;
    const known = merged.get(key);
    const cells = new Map<number, GridCell>([...(known?.cells ?? []), ...row.cells]);
    merged.set(key, { ...row, cells, isDoubtful: known?.isDoubtful === true || row.isDoubtful === true });
  }
  return [...merged.values()];
}
