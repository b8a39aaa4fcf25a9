import { createReadStream, createWriteStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { hostname } from 'node:os';
import { resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import { isDatabaseOutage } from '../postgres/database-outage.ts';
import { codeOf, LeadsyncError } from '../lib/errors.ts';
import { transaction } from '../store/database.ts';
import { assertState, broken, dumpState, instantOf } from '../store/dump.ts';
import { assertNotMoved, noteMove } from '../store/keeper.ts';
import { migrateLock, moveLock } from '../store/migrate.ts';
import { assertUnused, restoreState } from '../store/restore.ts';
import { version } from '../lib/version.ts';
import { assertCanWrite, own, replaceFileWith } from './out-file.ts';
import { print, printJson, seconds } from './output.ts';
import { megabytes, showDumpProgress } from './terminal.ts';
import { stoppedWith, stopping } from './stop.ts';
import { type CommonOptions, withWholeState } from './with-store.ts';

interface BackupOptions extends CommonOptions {
  readonly move?: boolean;
}

/** `leadsync backup FILE`: writes the whole state to one file while workers run; with `--move`, as the last thing that is done with it. */
export async function backup(file: string, { move = false, ...options }: BackupOptions): Promise<void> {
  assertCanWrite(file, ...kept);
  await withWholeState(options, async ({ pool }) => {
    const began = performance.now();
    {
      await using progress = await showDumpProgress('backup');
      const write = (movedAt: string | null): Promise<void> =>
        writeBackupFile(file, dumpState(pool, version, progress.tell, movedAt), stopping);
      if (!move) await write(null);
      else
        await transaction(pool, async (client) => {
          // Who starts now waits, and so does who would begin a run or a mail.
          for (const lock of [migrateLock, moveLock])
            await client.query('select pg_advisory_xact_lock($1, $2)', [...lock]);
          await assertState(client);
          await client.query('lock table leases, mails in share mode');
          await assertUnused(client);
          await assertNotMoved(client);
          const at = await instantOf(client);
          await write(at);
          // Two states for one table would undo each other's work, and send each mail twice.
          await noteMove(client, { at, file: resolve(file), machine: hostname() });
        });
    }
    const { size: bytes } = await stat(file);
    const durationMs = Math.round(performance.now() - began);
    if (options.json) return printJson({ backup: { file, bytes, durationMs } });
    print(
      `The state is in ${file} (${megabytes(bytes)}, ${seconds(durationMs)}). It contains leads and e-mail addresses: only you can read it. ${move ? 'leadsync restore puts it into another database, where the next sync goes on; here no worker and no command works with it any more (leadsync resume takes it back).' : 'Keep it on another disk.'}`,
    );
  });
}

const kept = ['the backup', 'leadsync backup FILE'] as const;

/** Atomically, and synced to disk. Throws as the dump does, and `plan.not-written`. */
export async function writeBackupFile(
  path: string,
  dump: AsyncIterable<Buffer>,
  signal: AbortSignal,
): Promise<void> {
  const write = async (temporary: string): Promise<void> => {
    const file = createWriteStream(temporary, { ...own, flags: own.flag, flush: true });
    await pipeline(dump, createGzip(), file, { signal }).catch((error: unknown) => {
      if (signal.aborted) throw stoppedWith('no backup was written');
      if (!isDatabaseOutage(error)) throw error;
      const message = 'The database connection failed: no backup was written';
      throw new LeadsyncError('database.unavailable', message, { retry: 'later', cause: error });
    });
  };
  await replaceFileWith(path, write, ...kept);
}

/**
 * Throws `usage.backup-missing`, or `usage.backup-broken` when it is none or not whole: its checksum is proven before the first byte is given,
 * since damaged rows may still fit a table. `onRead` gets the share of the file that was read.
 */
export async function* readBackupFile(
  path: string,
  onRead: (share: number) => void,
): AsyncGenerator<Buffer, void> {
  try {
    await pipeline(createReadStream(path), createGunzip(), async (chunks: AsyncIterable<Buffer>) => {
      for await (const _ of chunks) stopping.throwIfAborted();
    });
    const { size } = await stat(path);
    const file = createReadStream(path);
    const gunzip = createGunzip();
    const reading = pipeline(file, gunzip);
    // Told where it is read below.
    reading.catch(() => {});
    try {
      for await (const chunk of gunzip as AsyncIterable<Buffer>) {
        stopping.throwIfAborted();
        onRead(file.bytesRead / Math.max(1, size));
        yield chunk;
      }
      await reading;
    } finally {
      file.destroy();
    }
  } catch (cause) {
    const code = codeOf(cause) ?? '';
    if (code.startsWith('Z_'))
      throw broken(code === 'Z_BUF_ERROR' ? 'it ends too early' : 'it is damaged, or not a backup', cause);
    if (cause instanceof LeadsyncError || code === '') throw cause;
    throw new LeadsyncError('usage.backup-missing', `${path} cannot be read (${code}). Nothing was changed`, {
      help: 'Name a file that leadsync backup wrote.',
      cause,
    });
  }
}

interface RestoreCommandOptions extends CommonOptions {
  readonly replace?: boolean;
}

export function restore(file: string, options: RestoreCommandOptions): Promise<void> {
  return withWholeState(options, async ({ pool }) => {
    const began = performance.now();
    await using progress = await showDumpProgress('restore');
    const { header, rows, doubted } = await restoreState(pool, readBackupFile(file, progress.tellShare), {
      replace: options.replace === true,
      onProgress: progress.tell,
    }).catch((error: unknown) => {
      throw stopping.aborted ? stoppedWith('the state is as it was') : error;
    });
    await progress[Symbol.asyncDispose]();
    const durationMs = Math.round(performance.now() - began);
    if (options.json) return printJson({ restored: { at: header.at, rows, doubted, durationMs } });
    print(`The state is that of ${header.at}: ${rows['pairs'] ?? 0} leads (${seconds(durationMs)}).`);
    if (header.isMove && doubted.length === 0)
      print(
        'It has moved here: the next sync goes on with it. Set DATABASE_URL to this database for every worker and command.',
      );
    if (doubted.length > 0)
      print(
        [
          'The state lacks every baseline since, so the next sync of each connection writes nothing and stops (older-state).',
          '  leadsync plan                            shows what it finds',
          '  leadsync sync --allow older-state        compares everything without baselines: differences are held, nothing is overwritten or duplicated',
          'Mails that were due before now may have been sent, so they are not sent again: leadsync status --reminders lists them as missed.',
        ].join('\n'),
      );
  });
}
