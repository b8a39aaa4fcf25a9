/** Starts a task for each item in order, at most `most()` at a time. After an error none starts; it is thrown when those under way have ended. */
export async function inLanes<T>(
  items: Iterable<T>,
  most: () => number,
  task: (item: T) => Promise<void>,
): Promise<void> {
  const underWay = new Set<Promise<void>>();
  const faults: unknown[] = [];
  for (const item of items) {
    while (underWay.size >= most()) await Promise.race(underWay);
    if (faults.length > 0) break;
    const one = task(item)
      .catch((error: unknown) => void faults.push(error))
      .finally(() => underWay.delete(one));
    underWay.add(one);
  }
  await Promise.all(underWay);
  if (faults.length > 0) throw faults[0];
}
