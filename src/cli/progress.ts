import { describeProgress } from '../ops/describe-progress.ts';
import { visibleText } from '../visible-text.ts';
import type { OpenRun } from '../store/run-list.ts';

const intervalMs = 250;
/** Columns of the line that the spinner itself takes. */
const spinnerWidth = 8;

/** As much as fits: the spinner leaves all lines but the last of a longer text behind. */
const fitted = (text: string): string => visibleText(text, (process.stderr.columns || 80) - spinnerWidth);

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
      (run) => run && shown.message(fitted(`${connection}: ${describeProgress(run)}`)),
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
