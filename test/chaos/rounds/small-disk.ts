import { execFileSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync, rmSync, statfsSync, writeSync } from 'node:fs';
import { join } from 'node:path';

/** A disk of half a megabyte, mounted at a folder. */
export class SmallDisk implements Disposable {
  readonly folder: string;
  readonly #ballast: string;

  constructor(folder: string) {
    mkdirSync(folder);
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=512k', 'leadsync-chaos', folder]);
    this.folder = folder;
    this.#ballast = join(folder, 'ballast');
  }

  /** To the last byte. */
  fill(): void {
    const file = openSync(this.#ballast, 'a');
    try {
      const { bavail, bsize } = statfsSync(this.folder);
      writeSync(file, Buffer.alloc(bavail * bsize));
      writeSync(file, Buffer.alloc(bsize));
    } catch {
      // Full.
    } finally {
      closeSync(file);
    }
  }

  empty(): void {
    rmSync(this.#ballast, { force: true });
  }

  [Symbol.dispose](): void {
    execFileSync('umount', ['-l', this.folder]);
  }
}
