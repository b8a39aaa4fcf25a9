export interface Clock {
  /** Epoch ms, UTC. */
  now(): number;
  /** From 0 (inclusive) to 1 (exclusive). Not for secrets. */
  random(): number;
}

export const systemClock: Clock = { now: () => Date.now(), random: () => Math.random() };

/** For waits: starts at the machine's time and never jumps, not even while the process is suspended. */
export const steadyClock: Clock = {
  now: () => performance.timeOrigin + performance.now(),
  random: () => Math.random(),
};

/** What is made once for each clock and key: a process has one clock, tests have their own. */
export function perClock<T>(make: (clock: Clock) => T): (clock: Clock, key: string) => T {
  const made = new WeakMap<Clock, Map<string, T>>();
  return (clock, key) => {
    const ofClock = made.get(clock) ?? new Map<string, T>();
    made.set(clock, ofClock);
    const one = ofClock.get(key) ?? make(clock);
    ofClock.set(key, one);
    return one;
  };
}
