import { LeadsyncError } from '../src/lib/errors.ts';
import { Differs, Skipped } from './check.ts';

const twiceMs = 2_000;

/** Aborted by Ctrl+C. Through npm one Ctrl+C comes twice, so only a later one ends the process before all is cleaned up. */
export function stopSignal(cleaning: string): AbortSignal {
  const stop = new AbortController();
  let at = 0;
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      if (stop.signal.aborted) {
        if (Date.now() - at > twiceMs) process.exit(1);
        return;
      }
      at = Date.now();
      print(`Stopped: ${cleaning}. Once more Ctrl+C would leave it.`);
      stop.abort();
    });
  }
  return stop.signal;
}

/** What went wrong, for people. */
export function describe(error: unknown): string {
  if (error instanceof Differs || error instanceof Skipped) return error.message;
  if (error instanceof LeadsyncError) {
    return `${error.message} [${error.code}]${error.help === undefined ? '' : ` ${error.help}`}`;
  }
  return error instanceof Error ? error.message : String(error);
}

export function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
