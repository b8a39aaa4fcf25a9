import type { Target } from '../../src/ports/target.ts';

/** A table that opens and writes as the real one does, or as the test wants. */
export function otherTarget(
  real: Target,
  instead: Partial<Pick<Target, 'batchSize' | 'open' | 'write'>>,
): Target {
  return {
    name: real.name,
    batchSize: real.batchSize,
    get requests() {
      return real.requests;
    },
    open: (...args) => real.open(...args),
    write: (...args) => real.write(...args),
    ...instead,
  };
}
