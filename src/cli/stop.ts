import { codeOf, LeadsyncError } from '../lib/errors.ts';
import { exitCodes } from './output.ts';

const controller = new AbortController();
let signalled: 'SIGINT' | 'SIGTERM' | null = null;
let isUsualEnd = false;

/** Aborts, with `process.stopped`, when the process is to end. */
export const stopping: AbortSignal = controller.signal;

/**
 * The same, for a command that works until it is stopped, which calls this before anything else: a stop is its success, whether it heeds the
 * signal or is ended by `unlessStopped`, as all of `withStore` is.
 */
export function untilStopped(): AbortSignal {
  isUsualEnd = true;
  return stopping;
}

/** Whether a command threw only because it was stopped, as it is meant to be: a timer of Node has the reason as its cause. */
export function isSuccess(thrown: unknown): boolean {
  const reason = thrown instanceof Error && thrown.name === 'AbortError' ? thrown.cause : thrown;
  return isUsualEnd && reason !== undefined && reason === stopping.reason;
}

/** One Ctrl-C may come several times: from the terminal, from npm, and from bin/leadsync.js (ms). */
const sameMs = 500;

/** After the end of a command that was stopped, and of work that does not heed it, its process lives no longer than this (ms). */
const longestMs = { ended: 1_000, unheeding: 9_000 };

/** At the first SIGINT or SIGTERM `stopping` aborts; at the next one the process ends at once. */
export function heedSignals(): void {
  let firstAt = 0;
  for (const name of ['SIGINT', 'SIGTERM'] as const) {
    process.on(name, () => {
      if (signalled !== null) {
        if (performance.now() - firstAt > sameMs) process.exit(stoppedCode());
        return;
      }
      signalled = name;
      firstAt = performance.now();
      // Over the line of the progress.
      if (process.stderr.isTTY) process.stderr.write('\r\u001B[KStopping. Another Ctrl-C ends it at once.\n');
      controller.abort(stoppedWith('what was done before stays'));
    });
  }
}

/** `then`: in which state that leaves things, and what goes on from there. */
export function stoppedWith(then: string): LeadsyncError {
  const by = signalled === 'SIGTERM' ? 'SIGTERM' : 'Ctrl-C';
  return new LeadsyncError('process.stopped', `stopped by ${by}: ${then}`);
}

export function stoppedCode(): number {
  return signalled === 'SIGTERM' ? exitCodes.failed : exitCodes.interrupted;
}

/** Throws `process.stopped` when that is wanted and `work` has not ended within `graceMs`. The database takes back what is not committed. */
export async function unlessStopped<T>(work: () => Promise<T>, graceMs = 0): Promise<T> {
  stopping.throwIfAborted();
  const { promise: stopped, reject } = Promise.withResolvers<never>();
  const working = work();
  // The loser of the race fails unheard.
  for (const one of [working, stopped]) one.catch(() => {});
  let grace: NodeJS.Timeout | undefined;
  const stop = (): void => {
    grace = setTimeout(() => reject(stopping.reason), graceMs);
    setTimeout(() => process.exit(stoppedCode()), graceMs + longestMs.unheeding).unref();
  };
  stopping.addEventListener('abort', stop, { once: true });
  try {
    return await Promise.race([working, stopped]);
  } finally {
    stopping.removeEventListener('abort', stop);
    clearTimeout(grace);
  }
}

/** What a fault is that came after the stop: most are of it, as when a Ctrl-C ends a program that we had started. */
export function asStopped(error: unknown): unknown {
  return stopping.aborted && codeOf(error) !== 'process.stopped' ? stopping.reason : error;
}

/** To be called when the command has ended. Work that was interrupted is no success, also when the rest of it was done before. */
export function endStopped(): void {
  if (signalled === null) return;
  if (signalled === 'SIGINT' && !isUsualEnd) process.exitCode = exitCodes.interrupted;
  setTimeout(() => process.exit(), longestMs.ended).unref();
}
