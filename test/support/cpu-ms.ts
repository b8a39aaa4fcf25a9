/** Processor time of this process so far (ms): unlike a clock, it does not go on while other processes have the processor. */
export function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}
