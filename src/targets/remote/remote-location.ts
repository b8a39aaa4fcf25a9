import {
  type FileLocation,
  type FileState,
  type FileWriter,
  type SourceFile,
  sourceFile,
} from '../file/file-place.ts';
import { createHash, randomBytes } from 'node:crypto';
import { type FileHandle, mkdir, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { LeadsyncError } from '../../lib/errors.ts';
import { writeFault } from '../file/file-fault.ts';

/** One file on a server, as each kind of server offers it. Faults are those of Target. */
export interface RemoteFile {
  /** For messages: its address, or a path that people know. */
  readonly name: string;
  /** Its identity, in one spelling; begins with the kind of place. Has no line end. */
  readonly id: string;
  /** Looks without reading; null: missing. */
  look(signal: AbortSignal): Promise<FileState | null>;
  /** Reads it once; returns the version of what was read, or null when missing. */
  read(
    into: (chunk: Buffer) => Promise<void>,
    signal: AbortSignal,
  ): Promise<Pick<FileState, 'version'> | null>;
  /**
   * As a whole, and only while it has the version `expected` (null: missing); null: it has not, nothing was stored. `version`: of what was
   * stored; null: the server does not tell. Throws `target.unavailable` when it may or may not be stored.
   */
  write(
    upload: Upload,
    expected: string | null,
    signal: AbortSignal,
  ): Promise<{ readonly version: string | null } | null>;
  /** @throws LeadsyncError `target.busy` when a person has it open; the message says who, if known. */
  assertNotOpen(signal: AbortSignal): Promise<void>;
  /** @throws LeadsyncError when it cannot be written; returns what to know about how it is written, or an empty text. */
  assertWritable(signal: AbortSignal): Promise<string>;
}

export interface Upload {
  /** In bytes. */
  readonly size: number;
  /** A new stream of the content at each call. */
  chunks(): AsyncIterable<Buffer>;
}

/** How long a local copy is kept for the next read or write (ms). */
const keptMs = 5 * 60_000;
const chunkBytes = 256 * 1024;

/** For formats and threads its content lies in a private file, fetched only when the server shows another version. */
export class RemoteLocation implements FileLocation {
  readonly id: string;
  readonly #file: RemoteFile;
  readonly #folder: string;
  #copy: Copy | null = null;

  constructor(file: RemoteFile, folder: string) {
    this.id = file.id;
    this.#file = file;
    this.#folder = folder;
  }

  look(signal: AbortSignal): ReturnType<FileLocation['look']> {
    return this.#file.look(signal);
  }

  async open(signal: AbortSignal): Promise<SourceFile | null> {
    const state = await this.#file.look(signal);
    if (state === null) return null;
    const kept = this.#copy?.version === state.version ? this.#copy : null;
    const copy = kept ?? (await this.#download(signal));
    if (copy === null) return null;
    if (kept === null) this.#keep(copy);
    return copy.open(async () => (await this.#file.look(signal))?.version === copy.version, signal);
  }

  assertNotOpen(signal: AbortSignal): Promise<void> {
    return this.#file.assertNotOpen(signal);
  }

  assertWritable(signal: AbortSignal): Promise<string> {
    return this.#file.assertWritable(signal);
  }

  /** The server's condition keeps others off, not a lock. */
  async startWriting(): Promise<FileWriter> {
    return {
      replace: (original, content, signal) => this.#replace(original, content, signal),
      [Symbol.asyncDispose]: async () => {},
    };
  }

  async #replace(
    original: SourceFile | null,
    content: AsyncIterable<Buffer>,
    signal: AbortSignal,
  ): ReturnType<FileWriter['replace']> {
    const expected = original?.version ?? null;
    const made = await fillPrivateFile(this.#folder, async (write) => {
      for await (const chunk of content) await write(chunk);
    });
    let isKept = false;
    try {
      signal.throwIfAborted();
      await this.#file.assertNotOpen(signal);
      const written = await this.#write(made, expected, signal);
      if (written === null) return null;
      const version = written.version ?? (await this.#versionOf(made, signal));
      if (version === null) return { left: null };
      this.#keep(new Copy(made.handle, version, made.size));
      isKept = true;
      return { left: { version, size: made.size } };
    } finally {
      if (!isKept) await made.handle.close();
    }
  }

  async #write(
    made: PrivateFile,
    expected: string | null,
    signal: AbortSignal,
  ): ReturnType<RemoteFile['write']> {
    const chunks = () => chunksOf(made);
    try {
      return await this.#file.write({ size: made.size, chunks }, expected, signal);
    } catch (error) {
      if (!(error instanceof LeadsyncError) || error.code !== 'target.unavailable') throw error;
      signal.throwIfAborted();
      // The reply was lost: the server's state decides; where it does not, nothing is overwritten.
      const now = await this.#file.look(signal).catch(() => null);
      if (now === null || now.version === expected || now.size !== made.size) throw error;
      const version = await this.#versionOf(made, signal);
      if (version === null) throw error;
      return { version };
    }
  }

  /** The version under which the server shows exactly this content; null: it shows another one. */
  async #versionOf(made: PrivateFile, signal: AbortSignal): Promise<string | null> {
    const hash = createHash('sha256');
    const state = await this.#file.read(async (chunk) => void hash.update(chunk), signal);
    return state !== null && hash.digest('hex') === made.sha256 ? state.version : null;
  }

  async #download(signal: AbortSignal): Promise<Copy | null> {
    const state: { version: string | null } = { version: null };
    const { handle, size } = await fillPrivateFile(this.#folder, async (write) => {
      state.version = (await this.#file.read(write, signal))?.version ?? null;
    });
    if (state.version !== null) return new Copy(handle, state.version, size);
    await handle.close();
    return null;
  }

  #keep(copy: Copy): void {
    this.#copy?.drop();
    this.#copy = copy;
    copy.idle = () => {
      if (this.#copy === copy) this.#copy = null;
    };
  }
}

/** A local copy of one version, open for as long as anybody reads it or may want it. */
class Copy {
  readonly version: string;
  readonly #handle: PrivateFile['handle'];
  readonly #size: number;
  #readers = 0;
  #isDropped = false;
  #timer: NodeJS.Timeout | undefined;
  /** Called after some time without use. */
  idle: () => void = () => {};

  constructor(handle: PrivateFile['handle'], version: string, size: number) {
    this.#handle = handle;
    this.version = version;
    this.#size = size;
    void this.#rest();
  }

  open(isCurrent: () => Promise<boolean>, signal: AbortSignal): SourceFile {
    this.#readers += 1;
    clearTimeout(this.#timer);
    let isOpen = true;
    const close = async (): Promise<void> => {
      if (!isOpen) return;
      isOpen = false;
      this.#readers -= 1;
      if (this.#readers === 0) await this.#rest();
    };
    const rest = { version: this.version, size: this.#size, isCurrent, [Symbol.asyncDispose]: close };
    return sourceFile(this.#handle, rest, signal);
  }

  drop(): void {
    this.#isDropped = true;
    if (this.#readers === 0) void this.#rest();
  }

  async #rest(): Promise<void> {
    clearTimeout(this.#timer);
    if (this.#isDropped) return this.#handle.close();
    this.#timer = setTimeout(() => {
      this.idle();
      this.drop();
    }, keptMs).unref();
  }
}

async function* chunksOf({ handle, size }: PrivateFile): AsyncGenerator<Buffer> {
  for (let position = 0; position < size; ) {
    const { buffer, bytesRead } = await handle.read(Buffer.allocUnsafe(chunkBytes), 0, chunkBytes, position);
    if (bytesRead === 0) return;
    position += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}

/** Content in an unlinked file: no other process can open it, and it ends with this one. */
interface PrivateFile {
  readonly handle: FileHandle;
  /** In bytes. */
  readonly size: number;
  /** In hex. */
  readonly sha256: string;
}

/** In `folder`, which is made. The caller closes its handle. Throws `target.disk-full`, `target.not-writable`. */
async function fillPrivateFile(
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
