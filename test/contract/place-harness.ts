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
import { webDavPlace } from '../../src/targets/webdav/webdav-file.ts';
import { davPassword, startApache } from '../support/apache.ts';
import { type DavProgram, startProgram } from '../support/dav-programs.ts';
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
    place: () => webDavPlace({ url, authorization: () => basic('anna'), folder: copies }),
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
    place: () => webDavPlace({ url, authorization: () => null, folder: copies }),
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      for (const one of [folder, copies]) rmSync(one, { recursive: true });
    },
  };
}

/** A file on a real server of another kind; people save by that server too, and what it cached is theirs. */
export async function programHarness(program: DavProgram, name: string): Promise<PlaceHarness> {
  const server = await startProgram(program);
  const copies = temporaryFolder();
  const addressOf = (one: string): string => `${server.origin}/${encodeURIComponent(one)}`;
  const ask = async (method: string, one: string, body?: string): Promise<string | null> => {
    const reply = await fetch(addressOf(one), { method, ...(body !== undefined && { body }) });
    if (reply.status === 404) return null;
    if (!reply.ok) throw new Error(`${program} answers ${method} with ${reply.status}`);
    return reply.text();
  };
  return {
    save: async (content) =>
      void (await (content === null ? ask('DELETE', name) : ask('PUT', name, content))),
    show: () => ask('GET', name),
    openInEditor: async () => void (await ask('PUT', `.~lock.${name}#`, ',anna,desk,,;')),
    names: () => readdirSync(server.folder).filter((one) => one !== '.DAV'),
    place: () => webDavPlace({ url: addressOf(name), authorization: () => null, folder: copies }),
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      rmSync(copies, { recursive: true });
    },
  };
}
