// Loaded before a worker (node --import): each SIGUSR2 puts `performance.now()`, by which outages are measured, six
// minutes ahead. Timers go on as they are.
process.on('SIGUSR2', () => {
  const { performance } = globalThis;
  const before = performance.now.bind(performance);
  performance.now = () => before() + 360_000;
});
