import type { Lease } from '../store/leases.ts';
import type { RunMode } from '../store/runs.ts';
import type { StepContext } from './context.ts';

/** The lease of the process that leads the run of a connection in this mode. Requested edits wait for a sync, and a sync for them. */
export function leaseName(connection: string, mode: RunMode): string {
  return `${connection}/${mode === 'edit' ? 'sync' : mode}`;
}

/** How long a request under way may take to end after `stop` (ms). */
const graceMs = 4_000;

/** When the holder of a lease has to stop, and when its requests are cut off; see `LeasedContext`. */
export function signalsOf(lease: Lease, stop: AbortSignal): Pick<StepContext, 'stop' | 'cut'> {
  const stopOrLost = AbortSignal.any([stop, lease.lost]);
  return { stop: stopOrLost, cut: AbortSignal.any([cutAfter(stopOrLost), lease.outlived]) };
}

function cutAfter(stop: AbortSignal): AbortSignal {
  const cut = new AbortController();
  const later = (): void => {
    setTimeout(() => cut.abort(stop.reason), graceMs).unref();
  };
  if (stop.aborted) later();
  else stop.addEventListener('abort', later, { once: true });
  return cut.signal;
}
