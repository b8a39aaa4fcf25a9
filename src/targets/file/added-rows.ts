import { createHash } from 'node:crypto';
import { IdSet } from '../../core/lead/id-set.ts';
import type { RowOutcome } from '../../ports/target.ts';
import { digestOf, type SourceFile, versionOf } from './source-file.ts';

/** The rows that our writes have added to a file since it was read, with nobody in between, and the file as the last left it. */
export class AddedRows {
  /** Of the file as it was read, or as the last write left it; null: not known. */
  #version: string | null;
  /** Of what the last write left; null: none did. */
  #digest: string | null = null;
  /** Of the changes: one may be written again. */
  readonly #keys = new IdSet();
  #count = 0;

  /** @param version of the file whose rows were read; null: none was, and nothing is ever certain */
  constructor(version: string | null) {
    this.#version = version;
  }

  /**
   * What is to be written in place of a file, and what is to be called with the version of the file that it has become, which calls
   * `also`. Until then nothing is known of the file.
   */
  see(
    file: SourceFile,
    content: AsyncIterable<Buffer>,
    also: ((version: string) => void) | undefined,
  ): { readonly content: AsyncIterable<Buffer>; readonly written: (version: string) => void } {
    const isOurs = this.#version === versionOf(file.stat);
    const hash = createHash('sha256');
    [this.#version, this.#digest] = [null, null];
    const hashed = async function* (): AsyncGenerator<Buffer> {
      for await (const chunk of content) {
        hash.update(chunk);
        yield chunk;
      }
    };
    const written = (version: string): void => {
      also?.(version);
      if (isOurs) [this.#version, this.#digest] = [version, hash.digest('hex')];
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
    if (this.#digest === null || this.#count === 0) return 0;
    const isSame = (await digestOf(file, '', signal)) === this.#digest;
    return isSame && (await file.isCurrent()) ? this.#count : 0;
  }
}
