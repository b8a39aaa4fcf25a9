/** Settles as `wait` does, or rejects with the reason of `signal` when that aborts first: then the outcome of `wait` is lost. */
export async function untilAborted<T>(wait: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const onAbort = (): void => reject(signal.reason);
  if (signal.aborted) onAbort();
  else signal.addEventListener('abort', onAbort, { once: true });
  try {
    return await Promise.race([aborted, wait]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

/** Of work that nothing ends early. */
export const never = new AbortController().signal;
