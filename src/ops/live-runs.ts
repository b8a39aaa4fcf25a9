import { setTimeout as sleep } from 'node:timers/promises';
import type { Context } from 'hono';
import { streamSSE } from 'hono/streaming';
import type { App } from '../app.ts';
import { openSyncs } from '../store/run-list.ts';
import { describeProgress } from './describe-progress.ts';

/** Browsers that listen at once; a page of one more tells what was so when it was made. */
const maxListeners = 50;
/** How often is looked (ms), for all listeners together. */
const intervalMs = 1_000;
/** A listener that hears nothing for so long (ms) is sent an empty line, so that one who has gone is noticed. */
const heartbeatMs = 15_000;

/** What one event says: the syncs that are under way, by connection. */
type Live = Readonly<Record<string, { readonly run: number; readonly text: string }>>;

/** Tells browsers how far the syncs are, whichever process does them, by server-sent events. */
export class LiveRuns {
  readonly #app: App;
  readonly #closing = new AbortController();
  #listeners = 0;
  #looked: { readonly at: number; readonly live: Promise<Live> } | null = null;

  constructor(app: App) {
    this.#app = app;
  }

  /** Answers with a stream that lasts until the browser goes or the worker stops. */
  listen(c: Context): Response {
    if (this.#listeners >= maxListeners || this.#closing.signal.aborted) {
      c.header('Retry-After', '60');
      return c.text('too many browsers are listening\n', 503);
    }
    // Nobody would read the stream, and so nobody end it.
    if (c.req.method === 'HEAD') return c.body(null, 200, { 'content-type': 'text/event-stream' });
    this.#listeners++;
    const gone = new AbortController();
    const stop = AbortSignal.any([this.#closing.signal, gone.signal]);
    return streamSSE(c, async (stream) => {
      stream.onAbort(() => gone.abort());
      let told = '';
      let toldAt = Date.now();
      try {
        while (!stop.aborted) {
          const data = JSON.stringify(await this.#look());
          const isSilent = Date.now() - toldAt >= heartbeatMs;
          if (data !== told) await stream.writeSSE({ data });
          else if (isSilent) await stream.write(':\n\n');
          if (data !== told || isSilent) toldAt = Date.now();
          told = data;
          await sleep(intervalMs, undefined, { signal: stop }).catch(() => {});
        }
      } catch (error) {
        this.#app.log.debug({ err: error }, 'a browser is not told any more how far the syncs are');
      } finally {
        this.#listeners--;
      }
    });
  }

  /** Ends every stream. */
  close(): void {
    this.#closing.abort();
  }

  /** Listeners that look at about the same time share one question to the database. */
  #look(): Promise<Live> {
    const now = Date.now();
    if (this.#looked === null || now - this.#looked.at >= intervalMs * 0.9)
      this.#looked = { at: now, live: this.#ask() };
    return this.#looked.live;
  }

  async #ask(): Promise<Live> {
    const runs = await openSyncs(this.#app.pool, [...this.#app.contexts.keys()]);
    return Object.fromEntries(
      runs.map((run) => [run.connection, { run: run.id, text: describeProgress(run) }]),
    );
  }
}
