/** The time and the chance that a process goes by. Handed in, so that a test can be the master of both. */
export interface Clock {
  /** Epoch ms, UTC. */
  now(): number;
  /** From 0 (included) to 1 (not included). Not for secrets. */
  random(): number;
}

/** The machine's own. */
export const systemClock: Clock = { now: () => Date.now(), random: () => Math.random() };

/** For waits: begins with the machine's time and never jumps, also while the process is paused. */
export const steadyClock: Clock = {
  now: () => performance.timeOrigin + performance.now(),
  random: () => Math.random(),
};
