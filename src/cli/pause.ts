import { pauseConnections } from '../store/pauses.ts';
import type { CommonOptions } from './main.ts';
import { print, printJson } from './output.ts';
import { withStore } from './with-store.ts';

/** `leadsync pause`: no syncs of a connection until `leadsync resume`. */
export function pause(options: CommonOptions): Promise<void> {
  return withStore(options, async (pool, { connections }) => {
    const names = connections.map(({ name }) => name);
    await pauseConnections(pool, names);
    if (options.json) return printJson({ paused: names });
    for (const name of names)
      print(
        `${name}: paused. A run under way stops after its current part; leadsync resume --connection ${name} continues it.`,
      );
  });
}
