import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import type { OwnColumns } from './alignment.ts';
import type { Grid, GridCell } from './grid.ts';
import type { SentRow } from './verify.ts';

/** Notes that outlive the process. */
export interface WriteJournal {
  /** Durable when it resolves; the note's id. */
  keep(note: Uint8Array): Promise<number>;
  /** The oldest first. */
  kept(): Promise<readonly { readonly id: number; readonly note: Uint8Array }[]>;
  over(id: number): Promise<void>;
}

/** A row that was sent, for a lead. */
export type SentFor = SentRow & { readonly leadId: string };

/** The basis of a write. */
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

interface Stored {
  readonly target: string;
  readonly sheetId: number;
  readonly grid: Grid;
  readonly id: number;
  readonly owned: readonly number[];
  readonly rows: readonly {
    readonly row: number;
    readonly isNew: boolean;
    readonly leadId: string;
    readonly cells: readonly (readonly [number, GridCell])[];
  }[];
}

export async function packNote({ target, ground, rows }: WriteNote): Promise<Uint8Array> {
  const { sheetId, grid, own } = ground;
  const stored: Stored = {
    target,
    sheetId,
    grid,
    id: own.id,
    owned: [...own.owned],
    rows: rows.map(({ row, isNew, leadId, cells }) => ({ row, isNew, leadId, cells: [...cells] })),
  };
  return promisify(gzip)(JSON.stringify(stored));
}

export async function unpackNote(note: Uint8Array): Promise<WriteNote> {
  const text = (await promisify(gunzip)(note)).toString();
  const { target, sheetId, grid, id, owned, rows } = JSON.parse(text) as Stored;
  return {
    target,
    ground: { sheetId, grid, own: { id, owned: new Set(owned) } },
    rows: rows.map(({ cells, ...row }) => ({ ...row, cells: new Map(cells) })),
  };
}
