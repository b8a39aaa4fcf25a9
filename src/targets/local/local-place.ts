import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { dirname } from 'node:path';
import { LeadsyncError } from '../../errors.ts';
import type { FileLocation, FilePlace, FileWriter } from '../file/file-place.ts';
import type { SourceFile } from '../file/source-file.ts';
import { assertNotOpenInEditor } from './editor-lock.ts';
import { conflictCopiesOf } from './conflict-copies.ts';
import { lockFile } from './file-lock.ts';
import { followLinks, openSource, statOf, versionOf } from './open-source.ts';
import { assertReplaceable, removeLeftovers, replaceFile, whyReadOnly } from './replace-file.ts';

/** A file on this machine, or on a share. @param path absolute; a symbolic link stays one */
export function localPlace(path: string): FilePlace {
  return {
    name: path,
    isUploaded: false,
    locate: async () => locationOf(await followLinks(path), path),
    formerly: (id) => (id.startsWith(kind) ? localPlace(id.slice(kind.length)) : null),
  };
}

const kind = 'file:';

/** `path`: without symbolic links; `name`: as configured. */
function locationOf(path: string, name: string): FileLocation {
  const assertNotOpen = async (): Promise<void> => {
    await assertNotOpenInEditor(name);
    if (path !== name) await assertNotOpenInEditor(path);
  };
  return {
    // One spelling for macOS and Linux.
    id: kind + path.normalize('NFC'),
    async look() {
      const stat = await statOf(path);
      return stat === null ? null : { version: versionOf(stat), size: Number(stat.size), contentTag: null };
    },
    conflictCopies: () => conflictCopiesOf(path),
    open: () => openSource(path),
    assertNotOpen,
    whyReadOnly: () => whyReadOnly(path),
    assertWritable: () => assertWritable(path),
    startWriting: () => startWriting(path, assertNotOpen),
  };
}

async function assertWritable(path: string): Promise<string> {
  await access(dirname(path), constants.W_OK).catch((cause: unknown) => {
    const message = `the folder of ${path} is missing or cannot be written`;
    throw new LeadsyncError('target.not-writable', message, { cause });
  });
  if ((await statOf(path)) !== null) await assertReplaceable(path);
  return '';
}

async function startWriting(path: string, assertNotOpen: () => Promise<void>): Promise<FileWriter> {
  const lock = await lockFile(path);
  try {
    await removeLeftovers(path);
  } catch (error) {
    await lock[Symbol.asyncDispose]();
    throw error;
  }
  const isStill = async (original: SourceFile | null): Promise<boolean> => {
    await assertNotOpen();
    await lock.assertHeld();
    return original === null ? (await statOf(path)) === null : original.isCurrent();
  };
  return {
    async replace(original, content, signal) {
      const mayReplace = (): Promise<boolean> => {
        signal.throwIfAborted();
        return isStill(original);
      };
      const replaced = await replaceFile({ path, original, content, mayReplace });
      if (replaced === null) return null;
      const { left } = replaced;
      return { left: left === null ? null : { version: versionOf(left), size: Number(left.size) } };
    },
    [Symbol.asyncDispose]: () => lock[Symbol.asyncDispose](),
  };
}
