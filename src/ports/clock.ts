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
