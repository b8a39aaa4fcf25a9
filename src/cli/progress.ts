import { visibleText } from '../visible-text.ts';
import type { OnDumpProgress } from '../store/dump.ts';

const intervalMs = 250;
const spinnerWidth = 8;

/** Longer texts would leave lines behind. */
const fitted = (text: string): string => visibleText(text, (process.stderr.columns || 80) - spinnerWidth);

/** Shows progress on a terminal until disposed. `look`: in a few words; null: no change. */
export async function showProgress(
  what: string,
  look: () => Promise<string | null>,
): Promise<AsyncDisposable> {
  if (!process.stderr.isTTY) return { async [Symbol.asyncDispose]() {} };
  const { spinner } = await import('@clack/prompts');
  const shown = spinner({ output: process.stderr, withGuide: false });
  shown.start(`${what}: starting`);
  const timer = setInterval(() => {
    look().then(
      (words) => words !== null && shown.message(fitted(`${what}: ${words}`)),
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

/** Shows the progress of a dump until disposed: the current table, and the share of the file, if any. */
export async function showDumpProgress(what: string): Promise<
  AsyncDisposable & {
    readonly tell: OnDumpProgress;
    readonly tellShare: (share: number) => void;
  }
> {
  let [words, read]: [string | null, string] = [null, ''];
  const shown = await showProgress(what, async () => words);
  return {
    tell: (table, bytes) => (words = `${table}, ${megabytes(bytes)}${read}`),
    tellShare: (share) => (read = ` (${Math.floor(share * 100)} % of the file)`),
    [Symbol.asyncDispose]: () => shown[Symbol.asyncDispose](),
  };
}

/** `12.3 MB`. */
export function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}
