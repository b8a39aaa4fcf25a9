import { describeProgress } from '../ops/describe-progress.ts';
import type { OpenRun } from '../store/run-list.ts';

const intervalMs = 250;

/**
 * Shows how far a run is until it is disposed, on a terminal only. It looks at the database, so that it does not matter
 * which process does the work.
 */
export async function showProgress(
  connection: string,
  look: () => Promise<OpenRun | undefined>,
): Promise<AsyncDisposable> {
  if (!process.stderr.isTTY) return { async [Symbol.asyncDispose]() {} };
  const { spinner } = await import('@clack/prompts');
  const shown = spinner({ output: process.stderr });
  shown.start(`${connection}: starting`);
  const timer = setInterval(() => {
    look().then(
      (run) => run && shown.message(`${connection}: ${describeProgress(run)}`),
      () => {},
    );
  }, intervalMs);
  return {
    async [Symbol.asyncDispose]() {
      clearInterval(timer);
      shown.clear();
    },
  };
}
