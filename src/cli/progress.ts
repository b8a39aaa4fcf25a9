import { visibleText } from '../visible-text.ts';
import type { OnDumpProgress } from '../store/dump.ts';

const intervalMs = 250;
/** Columns of the line that the spinner itself takes. */
const spinnerWidth = 8;

/** As much as fits: the spinner leaves all lines but the last of a longer text behind. */
const fitted = (text: string): string => visibleText(text, (process.stderr.columns || 80) - spinnerWidth);

/** Shows how far something is until it is disposed, on a terminal only. `look`: in a few words; null: nothing new. */
export async function showProgress(
  what: string,
  look: () => Promise<string | null>,
): Promise<AsyncDisposable> {
  if (!process.stderr.isTTY) return { async [Symbol.asyncDispose]() {} };
  const { spinner } = await import('@clack/prompts');
  const shown = spinner({ output: process.stderr });
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

/** Shows how far a dump is, until it is disposed: the table that is under way, and the share of the file, if there is one. */
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
