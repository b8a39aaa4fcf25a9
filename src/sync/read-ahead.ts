/**
 * Takes items before they are needed, at most `most` of them, and yields all that are there by then. A fault comes after
 * the items before it. Ending it early lets an item that is under way end, and drops it.
 */
export async function* readAhead<T>(
  items: AsyncIterable<T>,
  most: number,
): AsyncGenerator<readonly T[], void> {
  let ready: T[] = [];
  let fault: { readonly error: unknown } | null = null;
  let isDone = false;
  let changed = Promise.withResolvers<void>();
  const tell = (): void => {
    changed.resolve();
    changed = Promise.withResolvers();
  };
  const reading = (async () => {
    try {
      for await (const item of items) {
        ready.push(item);
        tell();
        while (ready.length >= most && !isDone) await changed.promise;
        if (isDone) return;
      }
    } catch (error) {
      fault = { error };
    } finally {
      isDone = true;
      tell();
    }
  })();
  try {
    for (;;) {
      while (ready.length === 0 && !isDone) await changed.promise;
      const taken = ready;
      ready = [];
      tell();
      if (taken.length > 0) yield taken;
      else break;
    }
    await reading;
    if (fault !== null) throw (fault as { readonly error: unknown }).error;
  } finally {
    isDone = true;
    tell();
    await reading;
  }
}
