import { ownedColumns } from '../columns.ts';
import { Alignment, type OwnColumns } from './alignment.ts';
import { bisect } from './bisect.ts';
import { inBatches, restoredCells } from './cell-writes.ts';
import type { GridCell } from './grid.ts';
import { isRefused, type Look, readAgain } from './look.ts';
import { cellsToPutBack, putBackAgain } from './repair.ts';
import type { SheetsApi } from './sheets-api.ts';
import { hasArrived, linkedIds, type SentRow } from './verify.ts';

/** How often cells are put back when people go on moving rows meanwhile. */
const rounds = 3;

/** A row that was sent, for a lead. */
type SentFor = SentRow & { readonly leadId: string };

/**
 * What was sent since a look, until somebody has looked at where it arrived. Kept when a request fails, because what
 * was sent may have been carried out all the same, on rows that people had moved.
 */
export class UnsettledWrite {
  readonly #api: SheetsApi;
  readonly #place: { readonly tab: string; readonly name: string };
  readonly #look: Look;
  readonly #sent = new Set<SentFor>();

  constructor(api: SheetsApi, place: { readonly tab: string; readonly name: string }, look: Look) {
    this.#api = api;
    this.#place = place;
    this.#look = look;
  }

  /** Sends rows; they count as sent unless they were refused. */
  async send(rows: readonly SentFor[], request: () => Promise<void>): Promise<void> {
    for (const row of rows) this.#sent.add(row);
    try {
      await request();
    } catch (error) {
      // A refused request has changed nothing; any other fault may have come after it was carried out.
      if (isRefused(error)) for (const row of rows) this.#sent.delete(row);
      throw error;
    }
  }

  /**
   * Looks where everything arrived and gives other people's cells that were hit back what they showed. Returns the
   * leads whose rows do not show what was sent.
   */
  async settle(signal: AbortSignal): Promise<ReadonlySet<string>> {
    let sent: readonly SentRow[] = mergedByRow([...this.#sent]);
    if (sent.length === 0) return new Set();
    let { grid } = this.#look;
    let own: OwnColumns = { id: this.#look.columns.id, owned: ownedColumns(this.#look.columns) };
    const astray = new Set<string>();
    for (let round = 0; round < rounds; round++) {
      const { tab, name } = this.#place;
      const after = await readAgain(this.#api, tab, grid, own, name, signal);
      const alignment = new Alignment(grid, after, own, linkedIds(sent, own.id));
      const all = sent;
      const missed = all.filter((row) => !hasArrived(row, alignment, all));
      if (round === 0) for (const row of missed) if ('leadId' in row) astray.add(String(row.leadId));
      const toPut = [
        ...cellsToPutBack(missed, alignment, all),
        ...(round > 0 ? putBackAgain(missed, alignment) : []),
      ];
      if (toPut.length === 0) break;
      await this.#putBack(toPut, signal);
      const owned = new Set([...own.owned].flatMap((column) => alignment.columnAfter(column) ?? []));
      [grid, sent, own] = [after, toPut, { id: alignment.idAfter ?? -1, owned }];
    }
    return astray;
  }

  /** What is refused stays as it is: nothing more can be done for it. */
  async #putBack(rows: readonly SentRow[], signal: AbortSignal): Promise<void> {
    const { sheetId } = this.#look.tab;
    for (const batch of inBatches(rows, Number.POSITIVE_INFINITY)) {
      await bisect(
        batch,
        (row) => [row],
        (some) => this.#api.update(restoredCells(sheetId, some), signal),
      );
    }
  }
}

/** Cells of one row that were sent one by one are one row again. */
function mergedByRow(sent: readonly SentFor[]): SentFor[] {
  const merged = new Map<string, SentFor>();
  for (const row of sent) {
    const key = `${row.isNew ? row.leadId : ''} ${row.row}`;
    const known = merged.get(key);
    const cells = new Map<number, GridCell>([...(known?.cells ?? []), ...row.cells]);
    merged.set(key, { ...row, cells });
  }
  return [...merged.values()];
}
