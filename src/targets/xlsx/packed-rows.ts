import { buffer } from 'node:stream/consumers';
import { idKey } from '../../core/lead/lead.ts';
import type { RowChange } from '../../ports/target.ts';
import { IdSet } from '../../core/lead/id-set.ts';
import { copied, type RandomAccess } from './zip-directory.ts';
import { joined, type NewContent, once, pack, type Packed } from './zip-write.ts';

/** Where a sheet's new part is cut: after the headings, and before its last row. */
export type Cuts = readonly [from: number, to: number];

export interface KnownSheet {
  /** The part without the rows between the headings and the last one. */
  readonly around: Buffer;
  /** Those rows as packed in the file, and where. */
  readonly rows: Omit<Packed, 'chunks'> & { readonly start: number };
  /** Of all its rows. */
  readonly ids: IdSet;
  /** Cell formats by column, from above the last row. */
  readonly styles: ReadonlyMap<number, number | null>;
}

/** The facts about a sheet besides its bytes, as plain data. */
export interface SheetEnd extends Pick<KnownSheet, 'styles'> {
  readonly cuts: Cuts;
  /** The `IdSet` slots of the existing rows. */
  readonly ids: Float64Array<ArrayBuffer>;
}

/** Whether all changes add rows for leads that have none, so that existing rows need not be read. */
export function addsOnly(changes: readonly RowChange[], { ids }: KnownSheet): boolean {
  return changes.every(
    (change) => change.kind === 'append' && change.isRepeated !== true && !ids.mayHave(idKey(change.leadId)),
  );
}

/** In three pieces, so that rows can stay packed when more are added; the middle one begins with those of `known`, copied from `file`. */
export function packRows(
  content: AsyncIterable<Buffer>,
  { cuts: [from, to], ids, styles }: SheetEnd,
  known: KnownSheet | null,
  file: RandomAccess,
  left: (known: KnownSheet) => void,
): NewContent {
  return async () => {
    const take = pieces(content);
    const head = await buffer(take(from));
    const first = await pack(once(head), 8, true);
    const added = await pack(take(to - from), 8, true);
    const tail = await buffer(take(Number.POSITIVE_INFINITY));
    const rows = known === null ? added : joined([await packedRows(file, known), added]);
    const at = (start: number): void => {
      const { chunks: _, ...size } = rows;
      const place = { ...size, start: start + first.compressedSize };
      left({ around: Buffer.concat([head, tail]), rows: place, ids: new IdSet(ids), styles });
    };
    return { ...joined([first, rows, await pack(once(tail), 8)]), at };
  };
}

async function packedRows(file: RandomAccess, { rows }: KnownSheet): Promise<Packed> {
  return { ...rows, chunks: [await buffer(copied(file, rows.start, rows.start + rows.compressedSize))] };
}

function pieces(content: AsyncIterable<Buffer>): (length: number) => AsyncGenerator<Buffer> {
  const source = content[Symbol.asyncIterator]();
  let rest: Buffer = Buffer.alloc(0);
  return async function* take(length) {
    for (let left = length; left > 0; ) {
      const piece = rest.subarray(0, left);
      rest = rest.subarray(piece.length);
      left -= piece.length;
      if (piece.length > 0) yield piece;
      else {
        const next = await source.next();
        if (next.done === true) return;
        rest = next.value;
      }
    }
  };
}
