import { stat } from 'node:fs/promises';
import { dumpState } from '../store/dump.ts';
import { version } from '../version.ts';
import { assertCanKeepBackup, writeBackupFile } from './backup-file.ts';
import type { CommonOptions } from './main.ts';
import { print, printJson } from './output.ts';
import { megabytes, showDumpProgress } from './progress.ts';
import { stopSignal } from './with-app.ts';
import { withWholeState } from './with-store.ts';

/** `leadsync backup FILE`: writes the whole state to one file while workers run. */
export async function backup(file: string, options: CommonOptions): Promise<void> {
  assertCanKeepBackup(file);
  const stop = stopSignal();
  await withWholeState(options, async ({ pool }) => {
    const began = performance.now();
    {
      await using progress = await showDumpProgress('backup');
      await writeBackupFile(file, dumpState(pool, version, progress.tell), stop);
    }
    const { size: bytes } = await stat(file);
    const durationMs = Math.round(performance.now() - began);
    if (options.json) return printJson({ backup: { file, bytes, durationMs } });
    print(
      `The state is in ${file} (${megabytes(bytes)}, ${(durationMs / 1000).toFixed(1)} s). It contains leads and e-mail addresses: only you can read it. Keep it on another disk.`,
    );
  });
}
