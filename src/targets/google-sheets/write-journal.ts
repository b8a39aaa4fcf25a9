import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import type { OwnColumns } from './alignment.ts';
import type { Grid } from './grid.ts';
import type { SentRow } from './verify.ts';

export interface WriteJournal {
  /** Durable when it resolves; the note's id. */
  keep(note: Uint8Array): Promise<number>;
  /** The oldest first. */
  kept(): Promise<readonly { readonly id: number; readonly note: Uint8Array }[]>;
  over(id: number): Promise<void>;
}

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
