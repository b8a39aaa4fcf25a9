import { spinner } from '@clack/prompts';
import { describeProgress } from '../ops/describe-progress.ts';
import type { Run } from '../store/runs.ts';

const intervalMs = 250;

/**
 * Shows how far a run is, on a terminal only. It looks at the database, so that it does not matter which process does
 * the work.
 */
export class Progress implements AsyncDisposable {
  readonly #spinner = process.stderr.isTTY ? spinner({ output: process.stderr }) : null;
  readonly #timer: NodeJS.Timeout | undefined;

  constructor(connection: string, look: () => Promise<Run | null>) {
    if (this.#spinner === null) return;
    this.#spinner.start(`${connection}: starting`);
    this.#timer = setInterval(() => {
      look().then(
        (run) => run && this.#spinner?.message(`${connection}: ${describeProgress(run)}`),
        () => {},
      );
    }, intervalMs);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer);
    this.#spinner?.clear();
  }
}
