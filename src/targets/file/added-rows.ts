import { createHash } from 'node:crypto';
import { IdSet } from '../../core/lead/id-set.ts';
import type { RowOutcome } from '../../ports/target.ts';
import { digestOf, type SourceFile } from './source-file.ts';

export class AddedRows {
  /** As read, or as the last write left it; null: unknown. */
  #version: string | null;
  /** As the last write left it; null: no write. */
  #digest: string | null = null;
  /** Keys of the changes: one may be repeated. */
  readonly #keys = new IdSet();
  #count = 0;

  /** @param version of the file whose rows were read; null: not read, nothing is certain */
  constructor(version: string | null) {
    this.#version = version;
  }

  /** Wraps new content and its `written` callback, which records the file's version; until then nothing is known of the file. */
  see(
    file: SourceFile,
    content: AsyncIterable<Buffer>,
    also: ((version: string) => void) | undefined,
  ): { readonly content: AsyncIterable<Buffer>; readonly written: (version: string) => void } {
    const isOurs = this.#version === file.version;
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

  /** Counts each change that became a row once. */
  count(outcomes: readonly RowOutcome[]): void {
    for (const outcome of outcomes) {
      if (outcome.status !== 'done' || outcome.row === undefined || this.#keys.mayHave(outcome.key)) continue;
      this.#keys.add(outcome.key);
      this.#count += 1;
    }
  }

  /** The count, if the file is byte for byte as the last write left it; else 0. */
  async stillThere(file: SourceFile, signal: AbortSignal): Promise<number> {
    if (this.#digest === null || this.#count === 0) return 0;
    const isSame = (await digestOf(file, '', signal)) === this.#digest;
    return isSame && (await file.isCurrent()) ? this.#count : 0;
  }
}
