import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FilePlace } from '../../src/targets/file/file-place.ts';
import { localPlace } from '../../src/targets/local/local-place.ts';
import { webDavPlace } from '../../src/targets/webdav/webdav-place.ts';
import { davPassword, startApache } from '../support/apache.ts';
import { type DavHabits, startDavServer } from '../support/dav-server.ts';

/** One place where a file lies, and what people do to that file without leadsync. */
export interface PlaceHarness extends AsyncDisposable {
  /** A new object for the place, as another process would have it. */
  readonly place: () => FilePlace;
  /** Saves the file as a person does; null: deletes it. */
  readonly save: (content: string | null) => void | Promise<void>;
  /** What people see; null: no file. */
  readonly show: () => string | null | Promise<string | null>;
  /** Opens the file in LibreOffice, as anna. Absent: programs leave no lock file there. */
  readonly openInEditor?: () => void | Promise<void>;
  /** Whether a save within the moment of replacing may be lost. */
  readonly isUnguarded?: boolean;
  /** The names of all files there. */
  readonly names: () => readonly string[] | Promise<readonly string[]>;
}

/** What people do to a file in a folder of this machine. */
function inFolder(folder: string, name: string): Omit<PlaceHarness, 'place' | typeof Symbol.asyncDispose> {
  const path = join(folder, name);
  return {
    save(content) {
      if (content === null) return rmSync(path);
      // As editors do: a new file takes the old one's place.
      writeFileSync(`${path}.new`, content);
      // Of another user on Apache.
      chmodSync(`${path}.new`, 0o666);
      renameSync(`${path}.new`, path);
    },
    show: () => (existsSync(path) ? readFileSync(path, 'utf8') : null),
    openInEditor: () => writeFileSync(join(folder, `.~lock.${name}#`), ',anna,desk,,;'),
    names: () => readdirSync(folder).filter((one) => one !== '.DAV'),
  };
}

const temporaryFolder = (): string => mkdtempSync(join(tmpdir(), 'leadsync-place-'));

export async function localHarness(name: string): Promise<PlaceHarness> {
  const folder = temporaryFolder();
  return {
    ...inFolder(folder, name),
    place: () => localPlace(join(folder, name)),
    async [Symbol.asyncDispose]() {
      rmSync(folder, { recursive: true });
    },
  };
}

const basic = (user: string): string => `Basic ${btoa(`${user}:${davPassword}`)}`;

/** A file on a real Apache. */
export async function apacheHarness(name: string): Promise<PlaceHarness> {
  const apache = await startApache();
  const copies = temporaryFolder();
  const url = `${apache.origin}/dav/${encodeURIComponent(name)}`;
  return {
    ...inFolder(apache.folder, name),
    place: () => webDavPlace({ url, authorization: basic('anna'), folder: copies }),
    async [Symbol.asyncDispose]() {
      await apache[Symbol.asyncDispose]();
      rmSync(copies, { recursive: true });
    },
  };
}

/** A file on a server of the tests' own, with these habits. */
export async function davHarness(name: string, habits: DavHabits = {}) {
  const [folder, copies] = [temporaryFolder(), temporaryFolder()];
  const server = await startDavServer(folder, habits);
  const url = `${server.origin}/${encodeURIComponent(name)}`;
  return {
    ...inFolder(folder, name),
    server,
    isUnguarded: habits.isHeedless === true || habits.etags === 'none',
    folder,
    copies,
    place: () => webDavPlace({ url, authorization: null, folder: copies }),
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      for (const one of [folder, copies]) rmSync(one, { recursive: true });
    },
  };
}
