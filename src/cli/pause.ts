import type pg from 'pg';
import type { Config } from '../config/config.ts';
import { pauseConnections, unpause } from '../store/connections.ts';
import { endMove } from '../store/keeper.ts';
import { shownMoment } from '../core/lead/shown-date.ts';
import { liftWait } from '../store/services.ts';
import { print, printJson } from './output.ts';
import { type CommonOptions, withStore } from './with-store.ts';

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

/** Also ends a wait that the Leads service requested; of all connections, it takes back a state that has moved away. */
export function resume(options: CommonOptions): Promise<void> {
  const isOfAll = options.connection === undefined;
  const goOn = async (pool: pg.Pool, { connections }: Config): Promise<void> => {
    const isBack = isOfAll && (await endMove(pool));
    const resumed = [];
    for (const { name, leads, timeZone } of connections) {
      const wasPaused = (await unpause(pool, name)) || isBack;
      const waitedUntil = await liftWait(pool, leads.baseUrl, leads.apiKey.reveal());
      const until = waitedUntil === null ? null : waitedUntil.toISOString();
      resumed.push({ connection: name, wasPaused, waitedUntil: until });
      if (!options.json)
        print(`${name}: ${describeResumed(wasPaused, until && shownMoment(until, timeZone))}`);
    }
    if (options.json) return printJson({ resumed });
    if (isBack)
      print(
        'The state, which had moved away, goes on here. Delete the backup file: restored elsewhere, it would send the same mails.',
      );
  };
  return withStore(options, goOn, { evenMoved: isOfAll });
}

function describeResumed(wasPaused: boolean, until: string | null): string {
  const done = [
    ...(wasPaused ? ['goes on with its next sync'] : []),
    ...(until === null ? [] : [`the wait for the Leads service is over; it asked to wait until ${until}`]),
  ];
  return done.length === 0 ? 'was not paused, and the Leads service has not asked to wait' : done.join('; ');
}
