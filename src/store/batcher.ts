import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Combines calls that come within `lingerMs` of each other, or while others are under way, into one `run`, in their order. It
 * returns a result for each; when it throws, all its calls throw.
 */
export function createBatcher<In, Out>(
  run: (items: readonly In[]) => Promise<readonly Out[]>,
  lingerMs: number,
): (item: In) => Promise<Out> {
  interface Call {
    readonly item: In;
    readonly resolve: (result: Out) => void;
    readonly reject: (error: unknown) => void;
  }
  let waiting: Call[] = [];
  let isBusy = false;
  const runAll = async (): Promise<void> => {
    isBusy = true;
    while (waiting.length > 0) {
      await sleep(lingerMs);
      const calls = waiting;
      waiting = [];
      try {
        const results = await run(calls.map(({ item }) => item));
        for (const [index, { resolve }] of calls.entries()) resolve(results[index] as Out);
      } catch (error) {
        for (const { reject } of calls) reject(error);
      }
    }
    isBusy = false;
  };
  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject });
      if (!isBusy) void runAll();
    });
}
