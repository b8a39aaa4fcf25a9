/** Replaces bytes; `start` inclusive, `end` exclusive. */
export interface Splice {
  readonly start: number;
  readonly end: number;
  readonly bytes: Buffer;
}

export function splice(start: number, end: number, text: string): Splice {
  return { start, end, bytes: Buffer.from(text, 'utf8') };
}

/** Splices may come in any order but must not overlap; those at the same byte keep their order. */
export async function* spliced(
  chunks: AsyncIterable<Buffer>,
  splices: readonly Splice[],
): AsyncGenerator<Buffer> {
  const ordered = splices.toSorted((a, b) => a.start - b.start);
  let next = 0;
  let chunkStart = 0;
  /** First byte that is neither passed on nor replaced. */
  let position = 0;
  for await (const chunk of chunks) {
    const chunkEnd = chunkStart + chunk.length;
    const pieces: Buffer[] = [];
    const passUntil = (end: number) => {
      if (end > position) pieces.push(chunk.subarray(position - chunkStart, end - chunkStart));
      position = Math.max(position, end);
    };
    for (
      let splice = ordered[next];
      splice !== undefined && splice.start < chunkEnd;
      splice = ordered[++next]
    ) {
      passUntil(splice.start);
      pieces.push(splice.bytes);
      position = splice.end;
    }
    passUntil(chunkEnd);
    chunkStart = chunkEnd;
    const [only] = pieces;
    yield pieces.length === 1 && only !== undefined ? only : Buffer.concat(pieces);
  }
  yield Buffer.concat(ordered.slice(next).map((splice) => splice.bytes));
}
