import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Carries out many calls as few: those that come within `lingerMs` of each other, or while others are under way, are
 * carried out together, in the order in which they came. `carryOut` returns a result for each; when it throws, all its calls throw.
 */
export function createBatcher<In, Out>(
  carryOut: (items: readonly In[]) => Promise<readonly Out[]>,
  lingerMs: number,
): (item: In) => Promise<Out> {
  interface Call {
    readonly item: In;
    readonly resolve: (result: Out) => void;
    readonly reject: (error: unknown) => void;
  }
  let waiting: Call[] = [];
  let isBusy = false;
  const carryOutAll = async (): Promise<void> => {
    isBusy = true;
    while (waiting.length > 0) {
      await sleep(lingerMs);
      const calls = waiting;
      waiting = [];
      try {
        const results = await carryOut(calls.map(({ item }) => item));
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
      if (!isBusy) void carryOutAll();
    });
}
