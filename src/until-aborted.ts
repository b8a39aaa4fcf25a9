/** What is waited for; throws `signal.reason` as soon as it is aborted before. What is waited for goes on then, unseen. */
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
