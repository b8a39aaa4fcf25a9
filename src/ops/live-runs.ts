import { setTimeout as sleep } from 'node:timers/promises';
import type { Context } from 'hono';
import { streamSSE } from 'hono/streaming';
import type { App } from '../app.ts';
import { openSyncs } from '../store/run-list.ts';
import { describeProgress } from './describe-progress.ts';

/** Maximum of listening browsers; further pages are not updated. */
const maxListeners = 50;
/** Ms between two queries, for all listeners together. */
const intervalMs = 1_000;
/** Ms of silence after which a listener gets an empty line: so the server notices a closed connection. */
const heartbeatMs = 15_000;

/** The data of an event: the syncs under way, by connection. */
type Live = Readonly<Record<string, { readonly run: number; readonly text: string }>>;

/** Shows browsers the progress of all syncs, whichever process runs them, by server-sent events. */
export class LiveRuns {
  readonly #app: App;
  readonly #closing = new AbortController();
  #listeners = 0;
  #last: { readonly at: number; readonly live: Promise<Live> } | null = null;

  constructor(app: App) {
    this.#app = app;
  }

  /** Answers with a stream that lasts until the browser goes or the worker stops. */
  listen(c: Context): Response {
    if (this.#listeners >= maxListeners || this.#closing.signal.aborted) {
      c.header('Retry-After', '60');
      return c.text('too many browsers are listening\n', 503);
    }
    // A HEAD request has no body whose end could be noticed.
    if (c.req.method === 'HEAD') return c.body(null, 200, { 'content-type': 'text/event-stream' });
    this.#listeners++;
    const gone = new AbortController();
    const stop = AbortSignal.any([this.#closing.signal, gone.signal]);
    return streamSSE(c, async (stream) => {
      stream.onAbort(() => gone.abort());
      let sent = '';
      let sentAt = Date.now();
      try {
        while (!stop.aborted) {
          const data = JSON.stringify(await this.#progress());
          const isSilent = Date.now() - sentAt >= heartbeatMs;
          if (data !== sent) await stream.writeSSE({ data });
          else if (isSilent) await stream.write(':\n\n');
          if (data !== sent || isSilent) sentAt = Date.now();
          sent = data;
          await sleep(intervalMs, undefined, { signal: stop }).catch(() => {});
        }
      } catch (error) {
        this.#app.log.debug({ err: error }, 'the live stream of a browser broke');
      } finally {
        this.#listeners--;
      }
    });
  }

  /** Ends every stream. */
  close(): void {
    this.#closing.abort();
  }

  /** Listeners share one query of the database in each interval. */
  #progress(): Promise<Live> {
    const now = Date.now();
    if (this.#last === null || now - this.#last.at >= intervalMs * 0.9)
      this.#last = { at: now, live: this.#query() };
    return this.#last.live;
  }

  async #query(): Promise<Live> {
    const runs = await openSyncs(this.#app.pool, [...this.#app.contexts.keys()]);
    return Object.fromEntries(
      runs.map((run) => [run.connection, { run: run.id, text: describeProgress(run) }]),
    );
  }
}
