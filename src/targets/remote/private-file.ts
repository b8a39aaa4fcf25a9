import { createHash, randomBytes } from 'node:crypto';
import { mkdir, open, rm, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { writeFault } from '../file/file-fault.ts';

/** Content in an unlinked file: no other process can open it, and it ends with this one. */
export interface PrivateFile {
  readonly handle: FileHandle;
  /** In bytes. */
  readonly size: number;
  /** In hex. */
  readonly sha256: string;
}

/** In `folder`, which is made. The caller closes its handle. Throws `target.disk-full`, `target.not-writable`. */
export async function fillPrivateFile(
  folder: string,
  fill: (write: (chunk: Buffer) => Promise<void>) => Promise<void>,
): Promise<PrivateFile> {
  const path = join(folder, `leadsync-${randomBytes(8).toString('hex')}`);
  const handle = await translated(path, async () => {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    return open(path, 'wx+', 0o600);
  });
  try {
    // It lives on while it is open: also kill -9 leaves nothing.
    await rm(path);
    const hash = createHash('sha256');
    let size = 0;
    await fill(async (chunk) => {
      hash.update(chunk);
      for (let at = 0; at < chunk.length; ) {
        const { bytesWritten } = await translated(path, () =>
          handle.write(chunk, at, chunk.length - at, size + at),
        );
        at += bytesWritten;
      }
      size += chunk.length;
    });
    return { handle, size, sha256: hash.digest('hex') };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

async function translated<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw writeFault(error, path);
  }
}
