import { Hono } from 'hono';
import type { App } from '../app.ts';
import { endedSyncs, openSyncs } from '../store/run-list.ts';
import { describeProgress } from './describe-progress.ts';

/** An answer holds for so long (ms), for all browsers together: they ask every second. */
const freshMs = 900;

/** By connection: the syncs under way, and the one that ended last, since many a sync is over between two looks. */
interface Live {
  readonly running: Readonly<Record<string, { readonly run: number; readonly text: string }>>;
  readonly ended: Readonly<Record<string, number>>;
}

/** `/live`: the progress of all syncs, whichever process runs them, for the script of the pages. */
export function liveRuns({ pool, contexts, log }: App): Hono {
  let last: { readonly at: number; readonly live: Promise<Live> } | null = null;
  const query = async (): Promise<Live> => {
    const names = [...contexts.keys()];
    // In this order no sync is in neither.
    const runs = await openSyncs(pool, names);
    const ended = await endedSyncs(pool, names);
    return {
      running: Object.fromEntries(
        runs.map((run) => [run.connection, { run: run.id, text: describeProgress(run) }]),
      ),
      ended: Object.fromEntries(ended),
    };
  };
  return new Hono().get('/live', async (c) => {
    const now = performance.now();
    if (last === null || now - last.at >= freshMs) last = { at: now, live: query() };
    try {
      return c.json(await last.live);
    } catch (error) {
      // Every second: an outage has its own line.
      log.debug({ err: error }, 'the progress of syncs cannot be read');
      return c.text('not now\n', 503);
    }
  });
}
