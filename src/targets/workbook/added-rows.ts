import { createHash } from 'node:crypto';
import { IdSet } from '../../lead/id-set.ts';
import type { RowOutcome } from '../target.ts';
import { digestOf, type SourceFile, versionOf } from './source-file.ts';

/** The rows that our writes have added to a file, one write after the other with nobody in between, and the file as the last left it. */
export class AddedRows {
  #isBegun = false;
  /** Null: not known. */
  #left: { readonly version: string; readonly digest: string } | null = null;
  /** Of the changes: one may be written again. */
  readonly #keys = new IdSet();
  #count = 0;

  /**
   * What is to be written in place of a file, and what is to be called with the version of the file that it has become, which calls
   * `also`. Until then nothing is known of the file.
   */
  see(
    file: SourceFile,
    content: AsyncIterable<Buffer>,
    also: ((version: string) => void) | undefined,
  ): { readonly content: AsyncIterable<Buffer>; readonly written: (version: string) => void } {
    const isOurs = !this.#isBegun || this.#left?.version === versionOf(file.stat);
    const hash = createHash('sha256');
    [this.#isBegun, this.#left] = [true, null];
    const hashed = async function* (): AsyncGenerator<Buffer> {
      for await (const chunk of content) {
        hash.update(chunk);
        yield chunk;
      }
    };
    const written = (version: string): void => {
      also?.(version);
      if (isOurs) this.#left = { version, digest: hash.digest('hex') };
    };
    return { content: hashed(), written };
  }

  /** Counts what became a row, each once. */
  count(outcomes: readonly RowOutcome[]): void {
    for (const outcome of outcomes) {
      if (outcome.status !== 'done' || outcome.row === undefined || this.#keys.mayHave(outcome.key)) continue;
      this.#keys.add(outcome.key);
      this.#count += 1;
    }
  }

  /** How many there are, when the file is byte for byte as the last write left it; else 0. */
  async stillThere(file: SourceFile, signal: AbortSignal): Promise<number> {
    if (this.#left === null || this.#count === 0) return 0;
    const isSame = (await digestOf(file, '', signal)) === this.#left.digest;
    return isSame && (await file.isCurrent()) ? this.#count : 0;
  }
}
