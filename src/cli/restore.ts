import { restoreState } from '../store/restore.ts';
import { readBackupFile } from './backup.ts';
import type { CommonOptions } from './program.ts';
import { print, printJson, seconds } from './output.ts';
import { showDumpProgress } from './progress.ts';
import { stoppedWith, stopping } from './stop.ts';
import { withWholeState } from './with-store.ts';

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
          'Mails that were due before now may have been sent, so they are not sent again: leadsync reminders lists them as missed.',
        ].join('\n'),
      );
  });
}
