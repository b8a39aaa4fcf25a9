import { postgresUrl } from '../config/addresses.ts';
import type { Secret } from '../config/secret.ts';
import { LeadsyncError } from '../errors.ts';
import { openStoreAsIs } from '../open-store.ts';
import { transaction } from '../store/database.ts';
import { assertState, dumpState } from '../store/dump.ts';
import { pauseConnections } from '../store/connections.ts';
import { assertUnused, restoreState } from '../store/restore.ts';
import { version } from '../version.ts';
import type { CommonOptions } from './program.ts';
import { print, printJson } from './output.ts';
import { showDumpProgress } from './progress.ts';
import { stoppedWith, stopping } from './stop.ts';
import { withWholeState } from './with-store.ts';

interface ExportStateOptions extends CommonOptions {
  readonly to: string;
}

/** `leadsync export-state`: moves the state to another database, where the next sync simply continues. */
export async function exportState(options: ExportStateOptions): Promise<void> {
  const databaseUrl = readAddress(options.to);
  return withWholeState(options, async ({ pool }, config) => {
    await using other = await openStoreAsIs({ ...config, databaseUrl });
    await using progress = await showDumpProgress('export');
    const rows = await transaction(pool, async (client) => {
      await assertState(client);
      await assertUnused(client);
      // No run may begin here meanwhile.
      await client.query('lock table leadsync.leases in share mode');
      const moved = await restoreState(
        other.pool,
        dumpState(pool, version, () => stopping.throwIfAborted()),
        {
          replace: false,
          isMove: true,
          onProgress: progress.tell,
        },
      );
      // Two states for one table would undo each other's work.
      await pauseConnections(
        client,
        config.connections.map(({ name }) => name),
      );
      return moved.rows;
    }).catch((error: unknown) => {
      throw stopping.aborted ? stoppedWith('both states are as they were') : error;
    });
    await progress[Symbol.asyncDispose]();
    if (options.json) return printJson({ exported: { rows } });
    print(
      `The state is in the other database: ${rows['pairs'] ?? 0} leads. Set DATABASE_URL to it for every worker and command from now on; the next sync goes on there. The old state is paused.`,
    );
  });
}

/** Not shown: it may hold a password. */
function readAddress(written: string): Secret {
  const { data, error } = postgresUrl.safeParse(written, { jitless: true });
  if (data !== undefined) return data;
  throw new LeadsyncError('usage.bad-address', `--to ${error.issues[0]?.message}`, {
    help: 'Nothing was read or written.',
  });
}
