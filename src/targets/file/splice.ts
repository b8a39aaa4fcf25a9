/** Replaces the bytes from `start` (included) to `end` (not included) of a file. */
export interface Splice {
  readonly start: number;
  readonly end: number;
  readonly bytes: Buffer;
}

/**
 * The bytes of a file with some of them replaced; all others pass through as they are. Splices may come in any
 * order, must not overlap, and keep their order where they start at the same byte.
 */
export async function* spliced(
  chunks: AsyncIterable<Buffer>,
  splices: readonly Splice[],
): AsyncGenerator<Buffer> {
  const ordered = splices.toSorted((a, b) => a.start - b.start);
  let next = 0;
  let chunkStart = 0;
  /** First byte of the file that is neither passed on nor replaced. */
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
